//! The report of a drain.

use std::fmt;
use std::time::Duration;

use windlass_runtime::Straggler;

/// The outcome of a [`Drain`](crate::Drain).
///
/// It implements `Display`, for logs. It lists the connections that were aborted. The runtime's `ShutdownReport` does
/// not: it names what is left when the runtime ends, such as the task of an aborted connection that is stuck in a poll.
///
/// # Examples
///
/// ```
/// use windlass::net::TcpListener;
/// use windlass::serve::Drain;
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let drain = Drain::new();
/// drain.switch().flip();
/// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
/// assert!(report.is_clean());
/// assert_eq!((report.accepted(), report.panicked(), report.aborted().len()), (0, 0, 0));
/// println!("drained in {:?}: {report}", report.elapsed());
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct DrainReport {
    pub(crate) accepted: u64,
    pub(crate) panicked: u64,
    pub(crate) failed: u64,
    pub(crate) accept_errors: u64,
    pub(crate) elapsed: Duration,
    pub(crate) aborted: Vec<Straggler>,
}

impl DrainReport {
    /// Returns the number of connections that were accepted since the start of the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert_eq!(report.accepted(), 0, "nobody has connected");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Returns the number of connections that ended in a panic.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert_eq!(report.panicked(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn panicked(&self) -> u64 {
        self.panicked
    }

    /// Returns the number of connections that have failed, as far as the server was
    /// [told](crate::Switch::count_failed): by `windlass::axum`, those that ended with an error, of their peers for the
    /// most part.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert_eq!(report.failed(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Returns the number of times that `accept` failed with an error of the OS; see
    /// [`Drain::on_accept_error`](crate::Drain::on_accept_error).
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert_eq!(report.accept_errors(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn accept_errors(&self) -> u64 {
        self.accept_errors
    }

    /// Returns the time from the beginning of the drain to its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// println!("drained in {:?}", report.elapsed());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the connections that did not end in time, and were aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// report.aborted().iter().for_each(|straggler| eprintln!("aborted: {straggler}"));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn aborted(&self) -> &[Straggler] {
        &self.aborted
    }

    /// Returns true if all connections ended by themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert!(report.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn is_clean(&self) -> bool {
        self.aborted.is_empty()
    }
}

impl fmt::Display for DrainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections in all", self.accepted)?;
        if self.panicked > 0 {
            write!(f, ", {} of them panicked", self.panicked)?;
        }
        if self.failed > 0 {
            write!(f, ", {} of them failed", self.failed)?;
        }
        if self.accept_errors > 0 {
            write!(f, ", {} errors of accept", self.accept_errors)?;
        }
        if self.is_clean() {
            return write!(f, "; the last ended within {:?}", self.elapsed);
        }
        write!(f, "; {} aborted after {:?}: ", self.aborted.len(), self.elapsed)?;
        for (index, straggler) in self.aborted.iter().enumerate() {
            write!(f, "{}{straggler}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
