//! The options that are common to [`TcpSocket`](super::TcpSocket) and [`TcpStream`](super::TcpStream).

/// Defines the options of TCP connections, for a type with a descriptor and a method `std()` that returns std's stream.
macro_rules! tcp_options {
    () => {
        /// Returns true if small segments are sent at once, without Nagle's algorithm.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// assert!(!socket.nodelay()?);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn nodelay(&self) -> io::Result<bool> {
            self.std().nodelay()
        }

        /// Sets whether small segments are sent at once; see [`nodelay`](Self::nodelay).
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// socket.set_nodelay(true)?;
        /// assert!(socket.nodelay()?);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
            self.std().set_nodelay(nodelay)
        }

        /// Returns the number of hops that packets may take.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// assert!(socket.ttl()? > 0);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn ttl(&self) -> io::Result<u32> {
            self.std().ttl()
        }

        /// Sets the number of hops that packets may take.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// socket.set_ttl(16)?;
        /// assert_eq!(socket.ttl()?, 16);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
            self.std().set_ttl(ttl)
        }

        /// Returns how long closing waits for unsent data. `None` means that it does not wait: the data is sent in the
        /// background.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// assert_eq!(socket.linger()?, None);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn linger(&self) -> io::Result<Option<std::time::Duration>> {
            sys::linger(sys::descriptor(self))
        }

        /// Sets how long closing waits for unsent data, rounded up to whole seconds.
        ///
        /// With zero, closing discards the data and resets the connection. With more, **dropping the last handle blocks
        /// its thread** for up to that time: prefer `shutdown`, and reading to the end.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// socket.set_linger(Some(Duration::ZERO))?; // dropping resets the connection
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_linger(&self, linger: Option<std::time::Duration>) -> io::Result<()> {
            sys::set_linger(sys::descriptor(self), linger.map($crate::tcp::keepalive::rounded_up))
        }

        /// Makes closing discard unsent data and reset the connection: [`set_linger`](Self::set_linger) with zero.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// windlass::net::TcpSocket::new_v4()?.set_zero_linger()?;
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_zero_linger(&self) -> io::Result<()> {
            self.set_linger(Some(std::time::Duration::ZERO))
        }

        /// Returns the settings of keep-alive, or `None` if it is off.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::TcpSocket;
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// assert_eq!(socket.keepalive()?, None);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn keepalive(&self) -> io::Result<Option<Keepalive>> {
            Keepalive::get(sys::descriptor(self))
        }

        /// Turns keep-alive on with these settings, or off with `None`.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::{Keepalive, TcpSocket};
        ///
        /// let socket = TcpSocket::new_v4()?;
        /// socket.set_keepalive(Some(Keepalive::new()))?;
        /// assert!(socket.keepalive()?.is_some());
        /// # Ok::<(), std::io::Error>(())
        /// ```
        pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
            Keepalive::set(sys::descriptor(self), keepalive)
        }

        buffer_methods!();
    };
}

pub(super) use tcp_options;
