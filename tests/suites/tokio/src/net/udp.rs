//! UDP sockets.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use socket2::SockRef;

use super::{ToSocketAddrs, operations, readiness, socket};
use crate::io::ReadBuf;

socket!(UdpSocket, windlass::net::UdpSocket, std::net::UdpSocket);

/// Receiving, as tokio's datagram sockets have it.
macro_rules! receives {
    ($address:ty, |$raw:ident| $map:expr) => {
        pub async fn send(&self, buf: &[u8]) -> std::io::Result<usize> {
            self.0.send(buf).await
        }

        pub fn try_send(&self, buf: &[u8]) -> std::io::Result<usize> {
            self.0.try_send(buf)
        }

        pub fn poll_send(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.0.poll_send(cx, buf)
        }

        pub fn poll_send_ready(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.0.poll_writable(cx)
        }

        pub async fn recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.0.recv(buf).await
        }

        pub fn try_recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.0.try_recv(buf)
        }

        pub fn poll_recv(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut genuine::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            let count = std::task::ready!(self.0.poll_recv(cx, buf.initialize_unfilled()))?;
            buf.advance(count);
            std::task::Poll::Ready(Ok(()))
        }

        pub fn poll_recv_ready(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.0.poll_readable(cx)
        }

        pub async fn recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
            let (count, $raw) = self.0.recv_from(buf).await?;
            Ok((count, $map))
        }

        pub fn try_recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
            let (count, $raw) = self.0.try_recv_from(buf)?;
            Ok((count, $map))
        }

        pub fn poll_recv_from(
            &self,
            cx: &mut std::task::Context<'_>,
            buf: &mut genuine::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<$address>> {
            let (count, $raw) =
                std::task::ready!(self.0.poll_recv_from(cx, buf.initialize_unfilled()))?;
            buf.advance(count);
            std::task::Poll::Ready(Ok($map))
        }

        // windlass receives into slices only.

        #[track_caller]
        pub fn try_recv_buf(&self, _buf: &mut Vec<u8>) -> std::io::Result<usize> {
            $crate::missing("`try_recv_buf` of datagrams")
        }

        pub async fn recv_buf(&self, _buf: &mut Vec<u8>) -> std::io::Result<usize> {
            $crate::missing("`recv_buf` of datagrams")
        }

        #[track_caller]
        pub fn try_recv_buf_from(&self, _buf: &mut Vec<u8>) -> std::io::Result<(usize, $address)> {
            $crate::missing("`try_recv_buf_from`")
        }

        pub async fn recv_buf_from(
            &self,
            _buf: &mut Vec<u8>,
        ) -> std::io::Result<(usize, $address)> {
            $crate::missing("`recv_buf_from`")
        }
    };
}

pub(super) use receives;

/// Options that windlass has, too.
macro_rules! options {
    ($($get:ident, $set:ident: $type:ty;)*) => {
        $(
            pub fn $get(&self) -> io::Result<$type> {
                self.0.$get()
            }

            pub fn $set(&self, value: $type) -> io::Result<()> {
                self.0.$set(value)
            }
        )*
    };
}

impl UdpSocket {
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        windlass::net::UdpSocket::bind(addrs).await.map(Self)
    }

    pub async fn connect<A: ToSocketAddrs>(&self, addrs: A) -> io::Result<()> {
        self.0.connect(addrs).await
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }

    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize> {
        self.0.send_to(buf, target).await
    }

    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.0.try_send_to(buf, target)
    }

    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.0.poll_send_to(cx, buf, target)
    }

    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buf).await
    }

    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_peek(buf)
    }

    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.peek_from(buf).await
    }

    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.try_peek_from(buf)
    }

    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let (count, peer) = ready!(self.0.poll_peek_from(cx, buf.initialize_unfilled()))?;
        buf.advance(count);
        Poll::Ready(Ok(peer))
    }

    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.0.peek_from(&mut []).await.map(|(_, peer)| peer)
    }

    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.0.try_peek_from(&mut []).map(|(_, peer)| peer)
    }

    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.0.poll_peek_from(cx, &mut []).map_ok(|(_, peer)| peer)
    }

    pub fn ttl(&self) -> io::Result<u32> {
        self.0.ttl()
    }

    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.0.set_ttl(ttl)
    }

    options! {
        broadcast, set_broadcast: bool;
        multicast_loop_v4, set_multicast_loop_v4: bool;
        multicast_loop_v6, set_multicast_loop_v6: bool;
        multicast_ttl_v4, set_multicast_ttl_v4: u32;
    }

    pub fn tclass_v6(&self) -> io::Result<u32> {
        SockRef::from(self).tclass_v6()
    }

    pub fn set_tclass_v6(&self, class: u32) -> io::Result<()> {
        SockRef::from(self).set_tclass_v6(class)
    }

    pub fn tos_v4(&self) -> io::Result<u32> {
        SockRef::from(self).tos_v4()
    }

    pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
        SockRef::from(self).set_tos_v4(tos)
    }

    readiness!();
    operations!();
    receives!(SocketAddr, |peer| peer);
}
