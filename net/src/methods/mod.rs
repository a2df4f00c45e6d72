//! The methods and traits that several public types share, written once.

mod read;
mod write;

/// Defines conversions, waiting for readiness and `Debug`, for a public type around `io: Async<$std>`. `$is_foreign` is
/// an optional second field: true if the descriptor comes from elsewhere.
macro_rules! wrapper {
    ($type:ident, $std:ty) => {
        wrapper!($type, $std, $crate::Async::new);
    };
    ($type:ident, $std:ty, $register:expr $(, $is_foreign:ident)?) => {
        impl $type {
            /// Registers a value of std's type with the current runtime, or with the global runtime if there is none.
            ///
            /// This **puts the descriptor into non-blocking mode**, also for everyone who shares it through a
            /// duplicate.
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
                $register(source).map(|io| Self { io $(, $is_foreign: true)? })
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
                Self { io $(, $is_foreign: false)? }
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
        /// Takes the error that is pending on the socket, if any. Otherwise the next operation would return it.
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
        /// Returns an error if the OS reports one.
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
        /// Returns an error if the OS reports one.
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

/// Defines the options of internet sockets that determine how packets travel, for a type with a descriptor. `$example`
/// makes a value of the type, for the examples.
macro_rules! packet_methods {
    ($example:literal) => {
        /// Returns the type of service of IPv4 packets.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one, or `Unsupported` on Windows.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpSocket, UdpSocket};
        /// # windlass::block_on(async {
        #[doc = $example]
        /// println!("{:?}", socket.tos_v4());
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn tos_v4(&self) -> io::Result<u32> {
            let option = sys::option::TOS_V4.ok_or(io::ErrorKind::Unsupported)?;
            Ok(sys::get_option(sys::descriptor(self), option)?.try_into().unwrap_or(0))
        }

        /// Sets the type of service of IPv4 packets, by which routers may prioritise them.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses, or `Unsupported` on Windows.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpSocket, UdpSocket};
        /// # windlass::block_on(async {
        #[doc = $example]
        /// let _ = socket.set_tos_v4(0x10);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
            let option = sys::option::TOS_V4.ok_or(io::ErrorKind::Unsupported)?;
            let tos = i32::try_from(tos).map_err(|_| io::ErrorKind::InvalidInput)?;
            sys::set_option(sys::descriptor(self), option, tos)
        }

        /// Returns the name of the interface that the socket is bound to, if any. Linux only.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one, or `Unsupported` on other systems.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpSocket, UdpSocket};
        /// # windlass::block_on(async {
        #[doc = $example]
        /// println!("{:?}", socket.device());
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
            sys::device(sys::descriptor(self))
        }

        /// Binds the socket to the interface of this name: only packets of that interface reach it. `None` removes the
        /// binding. Linux only.
        ///
        /// # Errors
        ///
        /// Returns an error if there is no such interface or the process is not permitted to do this, or `Unsupported`
        /// on other systems.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpSocket, UdpSocket};
        /// # windlass::block_on(async {
        #[doc = $example]
        /// if let Err(error) = socket.bind_device(Some(b"eth0")) {
        ///     println!("no such interface, or not allowed: {error}");
        /// }
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
            sys::bind_device(sys::descriptor(self), interface)
        }
    };
}

pub(crate) use read::{impl_async_read, read_methods};
pub(crate) use write::{impl_async_write, write_methods};
pub(crate) use {buffer_methods, packet_methods, socket_methods, wrapper};
