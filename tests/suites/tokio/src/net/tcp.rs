//! TCP listeners and streams.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::{ToSocketAddrs, halves, operations, readiness, socket, try_reads, try_writes};
use crate::io::{ReadBuf, impl_read, impl_write};

socket!(TcpListener, windlass::net::TcpListener, std::net::TcpListener);
socket!(TcpStream, windlass::net::TcpStream, std::net::TcpStream);

impl TcpListener {
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        windlass::net::TcpListener::bind(addrs).await.map(Self)
    }

    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((TcpStream(stream), peer))
    }

    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let (stream, peer) = ready!(self.0.poll_accept(cx))?;
        Poll::Ready(Ok((TcpStream(stream), peer)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn ttl(&self) -> io::Result<u32> {
        self.0.ttl()
    }

    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.0.set_ttl(ttl)
    }
}

impl TcpStream {
    pub async fn connect<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        windlass::net::TcpStream::connect(addrs).await.map(Self)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }

    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buf).await
    }

    #[track_caller]
    pub fn poll_peek(
        &self,
        _cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        crate::missing("`TcpStream::poll_peek`")
    }

    pub fn nodelay(&self) -> io::Result<bool> {
        self.0.nodelay()
    }

    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.0.set_nodelay(nodelay)
    }

    pub fn ttl(&self) -> io::Result<u32> {
        self.0.ttl()
    }

    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.0.set_ttl(ttl)
    }

    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.0.linger()
    }

    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.0.set_linger(linger)
    }

    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.0.set_linger(Some(Duration::ZERO))
    }

    #[track_caller]
    pub fn quickack(&self) -> io::Result<bool> {
        crate::missing("`TcpStream::quickack`")
    }

    #[track_caller]
    pub fn set_quickack(&self, _on: bool) -> io::Result<()> {
        crate::missing("`TcpStream::set_quickack`")
    }

    readiness!();
    operations!();
    try_reads!();
    try_writes!();
}

impl_read!([] TcpStream, |this| &this.0);
impl_write!([] TcpStream, |this| &this.0);
halves!(TcpStream, windlass::net::TcpStream, SocketAddr);

impl ReadHalf<'_> {
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.as_ref().peek(buf).await
    }
}

impl OwnedReadHalf {
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.as_ref().peek(buf).await
    }

    pub async fn readable(&self) -> io::Result<()> {
        self.0.as_ref().readable().await
    }

    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.as_ref().try_read(buf)
    }
}

impl OwnedWriteHalf {
    pub async fn writable(&self) -> io::Result<()> {
        self.0.as_ref().writable().await
    }

    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.as_ref().try_write(buf)
    }
}
