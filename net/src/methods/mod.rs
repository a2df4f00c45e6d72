//! The methods and traits that several of the public types share, written once.

mod read;
mod write;

/// Defines conversions, waiting for readiness and `Debug`, for a public type around `io: Async<$std>`.
macro_rules! wrapper {
    ($type:ident, $std:ty) => {
        wrapper!($type, $std, $crate::Async::new);
    };
    ($type:ident, $std:ty, $register:expr) => {
        impl $type {
            /// Registers a value of std's type with the current runtime, or with the global runtime if there is none.
            ///
            /// This **puts the descriptor into non-blocking mode**, also for those that share it through a duplicate.
            ///
            /// # Errors
            ///
            /// Returns an error if the OS refuses either, or if the runtime is shutting down.
            ///
            /// # Examples
            ///
            /// ```
            /// use windlass::net::TcpListener;
            ///
            /// let listener = TcpListener::from_std(std::net::TcpListener::bind("127.0.0.1:0")?)?;
            /// # Ok::<(), std::io::Error>(())
            /// ```
            pub fn from_std(source: $std) -> std::io::Result<Self> {
                $register(source).map(|io| Self { io })
            }

            /// Ends the registration, and returns the value of std's type.
            ///
            /// The descriptor **stays in non-blocking mode**. To make it block, call `set_nonblocking(false)`.
            ///
            /// # Errors
            ///
            /// Does not fail today. The result leaves room for platforms on which it can.
            ///
            /// # Examples
            ///
            /// ```
            /// # use windlass::net::{TcpListener, TcpStream};
            /// # windlass::block_on(async {
            /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
            /// let stream = TcpStream::connect(listener.local_addr()?).await?;
            /// let stream: std::net::TcpStream = stream.into_std()?;
            /// stream.set_nonblocking(false)?;
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub fn into_std(self) -> std::io::Result<$std> {
                Ok(self.into_inner())
            }

            $crate::readiness::readiness_methods!();

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

        /// Does the same as `from_std`.
        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            fn try_from(source: $std) -> std::io::Result<Self> {
                Self::from_std(source)
            }
        }

        $crate::sys::descriptor_traits!($type);
    };
}

/// Defines what all sockets have.
macro_rules! socket_methods {
    () => {
        /// Takes the error that is pending on the socket, if any. The next operation would return it, too.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS cannot tell.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// assert!(stream.take_error()?.is_none());
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn take_error(&self) -> io::Result<Option<io::Error>> {
            self.io.get_ref().take_error()
        }
    };
}

/// Defines access to the sizes of the kernel's buffers, for a type with a descriptor.
macro_rules! buffer_methods {
    () => {
        /// Returns the size of the kernel's send buffer, as the kernel counts it: Linux doubles what was set.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS cannot tell.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// assert!(stream.send_buffer_size()? > 0);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn send_buffer_size(&self) -> io::Result<usize> {
            let size = sys::get_option(sys::descriptor(self), sys::option::SEND_BUFFER)?;
            Ok(usize::try_from(size).unwrap_or(0))
        }

        /// Requests a size for the kernel's send buffer. The OS has limits of its own.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// stream.set_send_buffer_size(64 * 1024)?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn set_send_buffer_size(&self, size: usize) -> io::Result<()> {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            sys::set_option(sys::descriptor(self), sys::option::SEND_BUFFER, size)
        }

        /// Returns the size of the kernel's receive buffer, as the kernel counts it: Linux doubles what was set.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS cannot tell.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// assert!(stream.recv_buffer_size()? > 0);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn recv_buffer_size(&self) -> io::Result<usize> {
            let size = sys::get_option(sys::descriptor(self), sys::option::RECV_BUFFER)?;
            Ok(usize::try_from(size).unwrap_or(0))
        }

        /// Requests a size for the kernel's receive buffer. The OS has limits of its own.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// stream.set_recv_buffer_size(64 * 1024)?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn set_recv_buffer_size(&self, size: usize) -> io::Result<()> {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            sys::set_option(sys::descriptor(self), sys::option::RECV_BUFFER, size)
        }
    };
}

pub(crate) use read::{impl_async_read, read_methods};
pub(crate) use write::{impl_async_write, write_methods};
pub(crate) use {buffer_methods, socket_methods, wrapper};
