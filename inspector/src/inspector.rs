//! A running inspector: accepts connections until it is stopped.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use windlass_net::TcpListener;
use windlass_runtime::timer::sleep;
use windlass_runtime::{Handle, is_shutdown_error, task};
use windlass_sync::CancellationToken;

use crate::connection::{Connection, Place};
use crate::feed::Feed;
use crate::guard::Guard;
use crate::policy::{ACCEPT_PAUSE, CLIENT_TIMEOUT, CONNECTIONS, REFRESH, SILENCE};

/// The time limits for a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) refresh: Duration,
    pub(crate) header: Duration,
    pub(crate) write: Duration,
    /// How long a stream of frames may be silent.
    pub(crate) silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { refresh: REFRESH, header: CLIENT_TIMEOUT, write: CLIENT_TIMEOUT, silence: SILENCE }
    }
}

/// The state that all connections of an inspector share.
pub(crate) struct Site {
    pub(crate) guard: Guard,
    pub(crate) feed: Arc<Feed>,
    pub(crate) limits: Limits,
    pub(crate) open: AtomicUsize,
    pub(crate) downloads: AtomicUsize,
    pub(crate) end: CancellationToken,
}

/// A running inspector.
///
/// Dropping it leaves the inspector running, as dropping a `JoinHandle` leaves its task running. It
/// ends with the runtime that serves it, or with [`stop`](Self::stop).
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let inspector = windlass::inspector::serve("127.0.0.1:0").await?;
/// println!("look inside: {}", inspector.url());
/// inspector.stop().await;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "its URL, with the token, is the only way in"]
pub struct Inspector {
    site: Arc<Site>,
    accepting: task::JoinHandle<()>,
}

impl Inspector {
    pub(crate) fn start(
        listener: TcpListener,
        guard: Guard,
        runtime: Handle,
        limits: Limits,
    ) -> Self {
        let feed = Feed::new(runtime, limits.refresh);
        let site = Arc::new(Site {
            guard,
            feed,
            limits,
            open: AtomicUsize::new(0),
            downloads: AtomicUsize::new(0),
            end: CancellationToken::new(),
        });
        let accepting =
            task::Builder::new().name("inspector").spawn(accept(listener, site.clone()));
        Self { site, accepting }
    }

    /// Returns the address at which the inspector listens.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::serve("127.0.0.1:0").await?;
    /// assert!(inspector.local_addr().ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn local_addr(&self) -> SocketAddr {
        self.site.guard.bound
    }

    /// Returns the URL to open, which includes the token. Whoever has it can look inside.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let inspector = windlass::inspector::serve("127.0.0.1:0").await?;
    /// assert!(inspector.url().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn url(&self) -> String {
        let bound = self.site.guard.bound;
        let token = self.site.guard.token.as_str();
        if bound.ip().is_unspecified() {
            // The unspecified address can't be opened.
            return format!("http://localhost:{}/?token={token}", bound.port());
        }
        format!("http://{bound}/?token={token}")
    }

    /// Returns the number of clients that are looking at the moment: eight at most.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::serve("127.0.0.1:0").await?;
    /// assert_eq!(inspector.clients(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn clients(&self) -> usize {
        self.site.feed.clients()
    }

    /// Returns the number of snapshots of the runtime that were taken. It does not change while nobody looks.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::serve("127.0.0.1:0").await?;
    /// assert_eq!(inspector.snapshots(), 0, "nobody looks");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn snapshots(&self) -> u64 {
        self.site.feed.snapshots()
    }

    /// Ends the inspector: closes the listener and all connections.
    ///
    /// Dropping the future after its first poll also ends the inspector, without waiting for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::serve("127.0.0.1:0").await?;
    /// let address = inspector.local_addr();
    /// inspector.stop().await;
    /// assert!(windlass::net::TcpStream::connect(address).await.is_err());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn stop(self) {
        self.site.end.cancel();
        let _ = self.accepting.await;
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspector").field("local_addr", &self.local_addr()).finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, site: Arc<Site>) {
    while let Some(accepted) = site.end.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _peer)) => {
                // A connection beyond the limit is closed at once.
                if let Some(place) = Place::take(&site, CONNECTIONS) {
                    let connection = Connection::new(stream, place);
                    drop(task::Builder::new().name("inspector: client").spawn(connection.run()));
                }
            }
            Err(error) if is_shutdown_error(&error) => return,
            Err(_) => {
                let _ = site.end.run_until_cancelled(sleep(ACCEPT_PAUSE)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use super::*;
    use crate::token::Token;

    /// `top` gave up after half a minute without a frame.
    #[test]
    fn a_stream_whose_frames_are_rare_is_not_silent() {
        let runtime = windlass_runtime::Builder::new().workers(1).build().unwrap();
        let limits = Limits {
            refresh: Duration::MAX,
            silence: Duration::from_millis(5),
            ..Limits::default()
        };
        let inspector = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let bound = listener.local_addr().unwrap();
            let guard = Guard { token: Token::random().unwrap(), bound };
            Inspector::start(listener, guard, Handle::current(), limits)
        });
        let mut client = std::net::TcpStream::connect(inspector.local_addr()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let (token, host) = (inspector.site.guard.token.as_str(), inspector.local_addr());
        write!(client, "GET /events?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let lines = BufReader::new(client).lines().map(Result::unwrap);
        let after_the_frame = lines.skip_while(|line| !line.starts_with("data: ")).skip(1);
        let comments = after_the_frame.filter(|line| line == ":").take(3);
        assert_eq!(comments.count(), 3);
    }

    #[test]
    fn an_inspector_may_go_to_any_thread() {
        fn shared<T: Send + Sync + 'static>() {}
        shared::<Inspector>();
        shared::<crate::Builder>();
    }
}
