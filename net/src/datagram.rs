//! Datagram sockets: what UDP and local ones have in common.

use std::io;

/// A non-blocking datagram socket.
pub(crate) trait Datagrams {
    /// Where datagrams come from.
    type Address;

    fn send(&self, buf: &[u8]) -> io::Result<usize>;
    fn recv(&self, buf: &mut [u8]) -> io::Result<usize>;
    fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, Self::Address)>;
}

/// Sending to the peer the socket is connected to, and receiving, for a wrapper of a type that is
/// [`Datagrams`]; `$address` is the type of addresses.
macro_rules! datagram_methods {
    ($address:ty) => {
        /// Sends a datagram to the peer that the socket is connected to. An empty one is one, too.
        ///
        /// Dropping the future loses nothing: unless it returned, nothing was sent.
        ///
        /// # Errors
        ///
        /// What the OS says, of earlier datagrams too (`ConnectionRefused`); or if the runtime shuts
        /// down.
        pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.write_with(|socket| Datagrams::send(socket, buf)).await
        }

        /// As [`send`](Self::send), for poll functions. One task at a time: the last that polled.
        ///
        /// # Errors
        ///
        /// As for [`send`](Self::send).
        pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.io.poll_write_with(cx, |socket| Datagrams::send(socket, buf))
        }

        /// As [`send`](Self::send), without waiting.
        ///
        /// # Errors
        ///
        /// `WouldBlock` if there is no room now; [`writable`](Self::writable) waits then. Otherwise as
        /// for [`send`](Self::send).
        pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_write_with(|socket| Datagrams::send(socket, buf))
        }

        /// Receives a datagram. What does not fit into `buf` is thrown away.
        ///
        /// Dropping the future loses nothing: a datagram that was not returned is still in the queue.
        ///
        /// # Errors
        ///
        /// What the OS says, of datagrams sent before too (`ConnectionRefused`); or if the runtime
        /// shuts down.
        pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.read_with(|socket| Datagrams::recv(socket, buf)).await
        }

        /// As [`recv`](Self::recv), for poll functions. One task at a time: the last that polled.
        ///
        /// # Errors
        ///
        /// As for [`recv`](Self::recv).
        pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
            self.io.poll_read_with(cx, |socket| Datagrams::recv(socket, buf))
        }

        /// As [`recv`](Self::recv), without waiting.
        ///
        /// # Errors
        ///
        /// `WouldBlock` if there is none; [`readable`](Self::readable) waits then. Otherwise as for
        /// [`recv`](Self::recv).
        pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_read_with(|socket| Datagrams::recv(socket, buf))
        }

        /// As [`recv`](Self::recv), and says where the datagram came from.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// As for [`recv`](Self::recv).
        pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)> {
            self.io.read_with(|socket| Datagrams::recv_from(socket, buf)).await
        }

        /// As [`recv_from`](Self::recv_from), for poll functions. One task at a time: the last that
        /// polled.
        ///
        /// # Errors
        ///
        /// As for [`recv`](Self::recv).
        pub fn poll_recv_from(
            &self,
            cx: &mut Context<'_>,
            buf: &mut [u8],
        ) -> Poll<io::Result<(usize, $address)>> {
            self.io.poll_read_with(cx, |socket| Datagrams::recv_from(socket, buf))
        }

        /// As [`recv_from`](Self::recv_from), without waiting.
        ///
        /// # Errors
        ///
        /// As for [`try_recv`](Self::try_recv).
        pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)> {
            self.io.try_read_with(|socket| Datagrams::recv_from(socket, buf))
        }
    };
}

pub(crate) use datagram_methods;
