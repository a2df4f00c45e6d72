//! The settings of TCP keep-alive, and the options that TCP streams and sockets share.

use std::io;
use std::time::Duration;

use crate::sys::{self, Descriptor, option};

/// The settings by which TCP detects that a silent peer is gone. Unset ones are those of the OS.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::net::{Keepalive, TcpSocket};
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_keepalive(Some(Keepalive::new().idle(Duration::from_secs(60)).retries(4)))?;
/// assert_eq!(socket.keepalive()?.unwrap().idle_time(), Some(Duration::from_secs(60)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Keepalive {
    idle: Option<Duration>,
    interval: Option<Duration>,
    retries: Option<u32>,
}

impl Keepalive {
    /// Creates settings that are all left to the OS.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::Keepalive;
    ///
    /// assert_eq!(Keepalive::new().idle_time(), None);
    /// ```
    pub const fn new() -> Self {
        Self { idle: None, interval: None, retries: None }
    }

    /// Sets how long a connection is silent before the first probe, in whole seconds (rounded up, at least one).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::net::Keepalive;
    ///
    /// let settings = Keepalive::new().idle(Duration::from_secs(60));
    /// assert_eq!(settings.idle_time(), Some(Duration::from_secs(60)));
    /// ```
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets the time between probes, in whole seconds (rounded up, at least one).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::net::Keepalive;
    ///
    /// let settings = Keepalive::new().interval(Duration::from_secs(60));
    /// assert_eq!(settings.interval_time(), Some(Duration::from_secs(60)));
    /// ```
    pub const fn interval(mut self, interval: Duration) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Sets the number of unanswered probes after which the connection is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::Keepalive;
    ///
    /// assert_eq!(Keepalive::new().retries(4).retry_count(), Some(4));
    /// ```
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Returns the time set with [`idle`](Self::idle).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::net::Keepalive;
    ///
    /// let settings = Keepalive::new().idle(Duration::from_secs(60));
    /// assert_eq!(settings.idle_time(), Some(Duration::from_secs(60)));
    /// ```
    #[must_use]
    pub const fn idle_time(&self) -> Option<Duration> {
        self.idle
    }

    /// Returns the time set with [`interval`](Self::interval).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::net::Keepalive;
    ///
    /// let settings = Keepalive::new().interval(Duration::from_secs(60));
    /// assert_eq!(settings.interval_time(), Some(Duration::from_secs(60)));
    /// ```
    #[must_use]
    pub const fn interval_time(&self) -> Option<Duration> {
        self.interval
    }

    /// Returns the number set with [`retries`](Self::retries).
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::Keepalive;
    ///
    /// assert_eq!(Keepalive::new().retries(4).retry_count(), Some(4));
    /// ```
    #[must_use]
    pub const fn retry_count(&self) -> Option<u32> {
        self.retries
    }

    pub(super) fn get(socket: Descriptor<'_>) -> io::Result<Option<Self>> {
        if sys::get_option(socket, option::KEEPALIVE)? == 0 {
            return Ok(None);
        }
        let number = |option: Option<sys::SocketOption>| {
            let value = option.map(|option| sys::get_option(socket, option)).transpose()?;
            Ok::<_, io::Error>(value.map(|n| u32::try_from(n).unwrap_or(0)))
        };
        let seconds = |n: Option<u32>| n.map(|n| Duration::from_secs(n.into()));
        Ok(Some(Self {
            idle: seconds(number(option::KEEPALIVE_IDLE)?),
            interval: seconds(number(option::KEEPALIVE_INTERVAL)?),
            retries: number(option::KEEPALIVE_RETRIES)?,
        }))
    }

    pub(super) fn set(socket: Descriptor<'_>, keepalive: Option<Self>) -> io::Result<()> {
        let settings = keepalive.unwrap_or_default();
        let retries = settings.retries.map(|n| i32::try_from(n).unwrap_or(i32::MAX));
        for (option, value) in [
            (option::KEEPALIVE_IDLE, settings.idle.map(whole_seconds)),
            (option::KEEPALIVE_INTERVAL, settings.interval.map(whole_seconds)),
            (option::KEEPALIVE_RETRIES, retries),
        ] {
            match (option, value) {
                (_, None) => {}
                (Some(option), Some(value)) => sys::set_option(socket, option, value)?,
                (None, Some(_)) => return Err(unsupported()),
            }
        }
        sys::set_option(socket, option::KEEPALIVE, keepalive.is_some().into())
    }
}

fn unsupported() -> io::Error {
    let message = "this OS has no keep-alive settings of a socket's own: leave them open";
    io::Error::new(io::ErrorKind::Unsupported, message)
}

/// The longest time that Linux accepts.
const MAX_SECONDS: u64 = 32767;

fn whole_seconds(duration: Duration) -> i32 {
    rounded_up(duration).as_secs().clamp(1, MAX_SECONDS) as i32
}

/// Rounds up to whole seconds: zero only if it was zero.
pub(crate) fn rounded_up(duration: Duration) -> Duration {
    let seconds = duration.as_secs().saturating_add((duration.subsec_nanos() > 0).into());
    Duration::from_secs(seconds)
}

/// Defines the options of TCP connections, for a type with a descriptor and a method `std()` that returns std's stream.
macro_rules! tcp_options {
    () => {
        /// Returns true if small segments are sent at once, without Nagle's algorithm.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS cannot tell.
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
        /// Returns an error if the OS cannot tell.
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
        /// Returns an error if the OS cannot tell.
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

        /// Returns the settings of keep-alive, or `None` if it is off.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS cannot tell.
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

        /// Turns keep-alive on with these settings, or off.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_kept_in_range() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1500)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(7)), 7);
        assert_eq!(whole_seconds(Duration::MAX), 32767);
    }
}
