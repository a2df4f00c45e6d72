//! The shared part of all streams with two directions: shutting down, splitting, addresses, and the traits of
//! futures-io.

/// Defines shutting down, splitting and addresses, for a wrapper of a stream of std.
macro_rules! duplex_methods {
    ($address:ty) => {
        /// Shuts down one direction or both, and wakes the tasks that wait for it.
        ///
        /// After `Shutdown::Write` the peer sees the end of the stream, and can still send.
        ///
        /// # Errors
        ///
        /// Returns the OS's error, such as `NotConnected` if the peer has reset the connection.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::net::Shutdown;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// stream.write_all(b"the last").await?;
        /// stream.shutdown(Shutdown::Write)?;
        /// let mut received = Vec::new();
        /// peer.read_to_end(&mut received).await?;
        /// assert_eq!(received, b"the last");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
            self.io.shutdown(how)
        }

        /// Splits the stream into a reading and a writing half that borrow it.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// # let mut stream = stream;
        /// let (reader, writer) = stream.split();
        /// writer.write_all(b"ping").await?;
        /// # peer.write_all(b"pong").await?;
        /// reader.read_exact(&mut [0; 4]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn split(&mut self) -> (ReadHalf<'_, Self>, WriteHalf<'_, Self>) {
            halves::split(self)
        }

        /// Splits the stream into a reading and a writing half that own it, so that different tasks can have them.
        ///
        /// Dropping the writing half shuts its direction down. The socket is closed when both halves are dropped.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let (reader, writer) = stream.into_split();
        /// let writing = windlass::spawn(async move { writer.write_all(b"ping").await });
        /// # peer.write_all(b"pong").await?;
        /// reader.read_exact(&mut [0; 4]).await?;
        /// writing.await.unwrap()?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn into_split(self) -> (OwnedReadHalf<Self>, OwnedWriteHalf<Self>) {
            halves::into_split(self)
        }

        /// Returns the address of this end.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// assert_eq!(stream.local_addr()?, peer.peer_addr()?);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn local_addr(&self) -> io::Result<$address> {
            self.io.get_ref().local_addr()
        }

        /// Returns the address of the other end.
        ///
        /// # Errors
        ///
        /// Returns `NotConnected` if the connection is gone.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// assert_eq!(stream.peer_addr()?, peer.local_addr()?);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn peer_addr(&self) -> io::Result<$address> {
            self.io.get_ref().peer_addr()
        }
    };
}

/// Implements [`Duplex`] and the traits of futures-io, for a wrapper of a stream of std.
macro_rules! impl_duplex {
    ($type:ty, $std:ty, SHORT_READ_DRAINS = $drains:literal) => {
        impl $crate::bytes::ByteIo for $std {
            const SHORT_READ_DRAINS: bool = $drains;
            const SHORT_WRITE_FILLS: bool = sys::SHORT_WRITE_FILLS;

            fn reader(&self) -> impl io::Read + '_ {
                self
            }

            fn read_uninit(&self, buf: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
                sys::recv_uninit(sys::descriptor(self), buf)
            }

            fn write(&self, buf: &[u8]) -> io::Result<usize> {
                sys::send(sys::descriptor(self), buf)
            }

            fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                sys::send_vectored(sys::descriptor(self), bufs)
            }

            fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                self.shutdown(how)
            }
        }

        impl halves::private::Stream for $type {
            type Io = $std;

            fn stream_io(&self) -> &Async<$std> {
                &self.io
            }
        }

        impl halves::Duplex for $type {}

        $crate::methods::impl_async_read!([] $type);
        $crate::methods::impl_async_read!([] &$type);
        $crate::methods::impl_async_write!([] $type);
        $crate::methods::impl_async_write!([] &$type);
    };
}

pub(crate) use {duplex_methods, impl_duplex};
