//! The methods and traits that several of the public types have, written once.
//!
//! Each macro expects a method `io()` that gives the `Async` inside.

/// For a public type around `io: Async<$std>`: conversions, waiting for readiness, `Debug`.
macro_rules! wrapper {
    ($type:ident, $std:ty) => {
        impl $type {
            /// Takes over what std (or anything else) has made, registers it with the current
            /// runtime, or with the global one outside of any, and **puts it into non-blocking
            /// mode**. Whoever shares it by a duplicate sees it non-blocking too.
            ///
            /// # Errors
            ///
            /// If the OS refuses either, or if the runtime is shutting down.
            pub fn from_std(source: $std) -> std::io::Result<Self> {
                $crate::Async::new(source).map(|io| Self { io })
            }

            /// Ends the registration and gives back std's type. It **stays in non-blocking mode**;
            /// call `set_nonblocking(false)` on it if it is to block.
            ///
            /// # Errors
            ///
            /// None today; the result leaves room for platforms where taking it back can fail.
            pub fn into_std(self) -> std::io::Result<$std> {
                Ok(self.into_inner())
            }

            /// Waits until reading (or accepting) is worth trying; then use a `try_` method. Any
            /// number of tasks may wait, and all wake.
            ///
            /// Dropping the future loses nothing.
            ///
            /// # Errors
            ///
            /// If the runtime shuts down.
            pub async fn readable(&self) -> std::io::Result<()> {
                self.io.readable().await
            }

            /// Waits until writing is worth trying; then use a `try_` method. Any number of tasks may
            /// wait, and all wake.
            ///
            /// Dropping the future loses nothing.
            ///
            /// # Errors
            ///
            /// If the runtime shuts down.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.io.writable().await
            }

            /// As [`readable`](Self::readable), but for no longer than `timeout`. For a deadline on any
            /// other operation, use `timer::timeout`. Dropping the future loses nothing. With a time of zero
            /// it tells what has been reported before, and does not ask the OS.
            ///
            /// # Errors
            ///
            /// `TimedOut` when the time is over; another if the runtime shuts down.
            pub async fn readable_timeout(
                &self,
                timeout: std::time::Duration,
            ) -> std::io::Result<()> {
                self.io.readable_timeout(timeout).await
            }

            /// As [`writable`](Self::writable), but for no longer than `timeout`. Dropping the future loses
            /// nothing.
            ///
            /// # Errors
            ///
            /// `TimedOut` when the time is over; another if the runtime shuts down.
            pub async fn writable_timeout(
                &self,
                timeout: std::time::Duration,
            ) -> std::io::Result<()> {
                self.io.writable_timeout(timeout).await
            }

            #[allow(dead_code, reason = "not every type's traits go through it")]
            fn from_async(io: $crate::Async<$std>) -> Self {
                Self { io }
            }

            fn io(&self) -> &$crate::Async<$std> {
                &self.io
            }

            fn into_inner(self) -> $std {
                self.io.into_inner()
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.io.get_ref().fmt(f)
            }
        }

        $crate::sys::descriptor_traits!($type, $std);
    };
}

/// What all sockets have.
macro_rules! socket_methods {
    () => {
        /// Takes the error that is pending on the socket, if any. An operation would report it, too.
        ///
        /// # Errors
        ///
        /// If the OS cannot tell.
        pub fn take_error(&self) -> io::Result<Option<io::Error>> {
            self.io.get_ref().take_error()
        }
    };
}

/// Sizes of the kernel's buffers, for anything with a descriptor.
macro_rules! buffer_methods {
    () => {
        /// The size of the kernel's buffer for sending, as it counts it (Linux doubles what was set).
        ///
        /// # Errors
        ///
        /// If the OS cannot tell.
        pub fn send_buffer_size(&self) -> io::Result<usize> {
            let size = sys::get_option(sys::descriptor(self), sys::option::SEND_BUFFER)?;
            Ok(usize::try_from(size).unwrap_or(0))
        }

        /// Asks for a size of the kernel's buffer for sending. The OS has limits of its own.
        ///
        /// # Errors
        ///
        /// If the OS refuses.
        pub fn set_send_buffer_size(&self, size: usize) -> io::Result<()> {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            sys::set_option(sys::descriptor(self), sys::option::SEND_BUFFER, size)
        }

        /// The size of the kernel's buffer for receiving, as it counts it (Linux doubles what was
        /// set).
        ///
        /// # Errors
        ///
        /// If the OS cannot tell.
        pub fn recv_buffer_size(&self) -> io::Result<usize> {
            let size = sys::get_option(sys::descriptor(self), sys::option::RECV_BUFFER)?;
            Ok(usize::try_from(size).unwrap_or(0))
        }

        /// Asks for a size of the kernel's buffer for receiving. The OS has limits of its own.
        ///
        /// # Errors
        ///
        /// If the OS refuses.
        pub fn set_recv_buffer_size(&self, size: usize) -> io::Result<()> {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            sys::set_option(sys::descriptor(self), sys::option::RECV_BUFFER, size)
        }
    };
}

/// Reading from a byte stream.
macro_rules! read_methods {
    () => {
        /// Reads some bytes: at least one, as many as there are and fit. Zero means that the peer
        /// will send no more, or that `buf` is empty (which touches nothing and never waits).
        ///
        /// Dropping the future loses nothing: bytes leave the stream only when they are returned.
        ///
        /// # Errors
        ///
        /// What the OS says, `ConnectionReset` for instance, or if the runtime shuts down.
        pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io().read(buf).await
        }

        /// As [`read`](Self::read), into memory that need not be initialised. Returns the bytes that were
        /// read, which are the first of `buf`.
        ///
        /// A buffer that is used again and again is initialised once, and [`read`](Self::read) does as well.
        /// This is for a buffer that is new each time, which costs no zeroes then. [`read_buf`](Self::read_buf)
        /// appends to a vector.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// As for [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::mem::MaybeUninit;
        /// use windlass::net::{TcpListener, TcpStream};
        ///
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// # peer.write_all(b"hello").await?;
        /// # peer.shutdown(std::net::Shutdown::Write)?;
        /// let mut room = [MaybeUninit::uninit(); 4096];
        /// loop {
        ///     let bytes = stream.read_uninit(&mut room).await?;
        ///     if bytes.is_empty() {
        ///         break; // the peer sends no more
        ///     }
        ///     println!("{}", String::from_utf8_lossy(bytes));
        /// }
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_uninit<'b>(
            &self,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> io::Result<&'b mut [u8]> {
            self.io().read_uninit(buf).await
        }

        /// Appends some bytes to `buf`: at least one, as many as there are and fit into its spare capacity,
        /// which is not zeroed. A vector that is full grows. Returns the number of bytes; zero means that the
        /// peer will send no more.
        ///
        /// Dropping the future loses nothing: bytes leave the stream only when they are in `buf`.
        ///
        /// # Errors
        ///
        /// As for [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::{TcpListener, TcpStream};
        ///
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// # peer.write_all(b"GET key\r\n").await?;
        /// let mut line = Vec::with_capacity(4096);
        /// while !line.ends_with(b"\n") && stream.read_buf(&mut line).await? > 0 {}
        /// assert_eq!(line, b"GET key\r\n");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().read_buf(buf).await
        }

        /// As [`read`](Self::read), into several buffers, one after the other.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// As for [`read`](Self::read).
        pub async fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
            self.io().read_vectored(bufs).await
        }

        /// Fills `buf`.
        ///
        /// Dropping the future half-way leaves the bytes read so far at the start of `buf`, but not
        /// how many they are: to be able to go on, call [`read`](Self::read) in a loop.
        ///
        /// # Errors
        ///
        /// `UnexpectedEof` if the stream ends before, or as for [`read`](Self::read).
        pub async fn read_exact(&self, buf: &mut [u8]) -> io::Result<()> {
            self.io().read_exact(buf).await
        }

        /// Appends everything up to the end of the stream to `buf`, and says how much that was.
        ///
        /// Dropping the future loses nothing: what was read is in `buf`, and calling it again goes
        /// on. The same holds if it ends with an error.
        ///
        /// # Errors
        ///
        /// As for [`read`](Self::read).
        pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().read_to_end(buf).await
        }

        /// Reads without waiting.
        ///
        /// # Errors
        ///
        /// `WouldBlock` if there is nothing to read now; `readable` waits then.
        pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io().try_read(buf)
        }

        /// As [`read_uninit`](Self::read_uninit), without waiting.
        ///
        /// # Errors
        ///
        /// As for [`try_read`](Self::try_read).
        pub fn try_read_uninit<'b>(
            &self,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> io::Result<&'b mut [u8]> {
            self.io().try_read_uninit(buf)
        }

        /// As [`read_buf`](Self::read_buf), without waiting.
        ///
        /// # Errors
        ///
        /// As for [`try_read`](Self::try_read).
        pub fn try_read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().try_read_buf(buf)
        }

        /// As [`read_uninit`](Self::read_uninit), for poll functions: what adapters to other libraries' traits
        /// are made of. One task at a time can wait by way of it: the last that polled.
        ///
        /// # Errors
        ///
        /// As for [`read`](Self::read).
        pub fn poll_read_uninit<'b>(
            &self,
            cx: &mut Context<'_>,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> Poll<io::Result<&'b mut [u8]>> {
            self.io().poll_read_uninit(cx, buf)
        }

        /// Reads into several buffers without waiting.
        ///
        /// # Errors
        ///
        /// As for [`try_read`](Self::try_read).
        pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
            self.io().try_read_vectored(bufs)
        }
    };
}

/// Writing to a byte stream.
macro_rules! write_methods {
    () => {
        /// Writes some bytes: at least one, as many as there is room for. If `buf` is empty, touches
        /// nothing and never waits.
        ///
        /// Dropping the future loses nothing: unless it returned, nothing was written.
        ///
        /// # Errors
        ///
        /// `BrokenPipe` if the peer has gone, and whatever else the OS says; or if the runtime shuts
        /// down.
        pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io().write(buf).await
        }

        /// As [`write`](Self::write), from several buffers, one after the other.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// As for [`write`](Self::write).
        pub async fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            self.io().write_vectored(bufs).await
        }

        /// Writes all of `buf`.
        ///
        /// Dropping the future half-way leaves the first part written, and does not say how much: to
        /// be able to go on, call [`write`](Self::write) in a loop. With two tasks in `write_all` at a
        /// time their bytes may interleave.
        ///
        /// # Errors
        ///
        /// As for [`write`](Self::write).
        pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
            self.io().write_all(buf).await
        }

        /// Writes without waiting.
        ///
        /// # Errors
        ///
        /// `WouldBlock` if there is no room now; `writable` waits then.
        pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io().try_write(buf)
        }

        /// Writes from several buffers without waiting.
        ///
        /// # Errors
        ///
        /// As for [`try_write`](Self::try_write).
        pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            self.io().try_write_vectored(bufs)
        }
    };
}

/// `AsyncRead` for a byte stream. One task at a time can wait by way of it: the last that polled.
macro_rules! impl_async_read {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> futures_io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_read(cx, buf)
            }

            fn poll_read_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &mut [std::io::IoSliceMut<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_read_vectored(cx, bufs)
            }
        }
    };
}

/// `AsyncWrite` for a byte stream. One task at a time can wait by way of it: the last that polled.
macro_rules! impl_async_write {
    ([$($generics:tt)*] $type:ty) => {
        /// Closing ends the direction: the peer sees the end of the stream. A pipe has no such thing: its end is
        /// seen when the sender is dropped.
        impl<$($generics)*> futures_io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_write_vectored(cx, bufs)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(self.io().close())
            }
        }
    };
}

pub(crate) use {
    buffer_methods, impl_async_read, impl_async_write, read_methods, socket_methods, wrapper,
    write_methods,
};
