//! The settings of TCP keep-alive, and the options that TCP streams and sockets share.

use std::io;
use std::time::Duration;

use crate::sys::{self, Descriptor, option};

/// The settings by which TCP detects that a silent peer is gone. For those that are not set, the OS's values apply.
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
    /// Creates settings that leave everything to the OS.
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

/// Rounds up to whole seconds. Only zero stays zero.
pub(crate) fn rounded_up(duration: Duration) -> Duration {
    let seconds = duration.as_secs().saturating_add((duration.subsec_nanos() > 0).into());
    Duration::from_secs(seconds)
}

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
