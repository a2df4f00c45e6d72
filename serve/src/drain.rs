//! A server that accepts connections, and drains them before it ends.

mod ending;

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::pin::pin;
use std::time::Duration;

use windlass_os::process::descriptor_limit;
use windlass_sync::CancellationToken;

use crate::accept_errors::{self, AcceptErrors};
use crate::open::Open;
use crate::policy::{DEADLINE, GRACE, default_limit};
use crate::server::{Limits, Server};
use crate::triggers::Triggers;
use crate::{DrainReport, Listener, Switch};

/// Serves connections, and ends without losing one.
///
/// [`serve`](Self::serve) accepts connections and spawns a task for each, until something asks it to end: a signal
/// ([`on_signals`](Self::on_signals)), another future ([`on`](Self::on)), or a [`switch`](Self::switch). Then it
/// *drains*. It
///
/// 1. cancels a [token](Self::token) that every connection has; the protocol turns that into its own message
///    (`Connection: close`, GOAWAY, a closing message);
/// 2. closes the listener's queue to new connections, accepts those that are in it, and for a [`grace`](Self::grace)
///    period also those whose handshake had begun;
/// 3. closes the listener;
/// 4. waits until all connections have ended, or until a [`deadline`](Self::deadline);
/// 5. aborts the remaining ones, and names them in its report.
///
/// Told to end a second time in the same way, by a second signal for example, it continues with the last step at once.
///
/// On Linux, no connection that the OS has accepted is lost. On other systems, a connection may be lost that is
/// established between the last look at the queue and the end of the listener. The queue of a listener that came from
/// elsewhere, such as a socket of systemd's, [may be shared](windlass_net::TcpListener::is_shared). It is not closed on
/// any system: others accept later connections. Whether a *request* is lost depends on the protocol; `windlass::hyper`
/// and `windlass::axum` lose none.
///
/// # What a peer can do
///
/// A peer cannot keep a server from ending: the deadline bounds the drain, whatever the connections do. Until it
/// drains, a server accepts connections up to a [`limit`](Self::limit), by default three quarters of the descriptors
/// that the process may have. If descriptors run out nevertheless, it pauses until a connection ends. How long a single
/// connection may stay idle is up to `connection`: put a time-out around its reads.
///
/// # Examples
///
/// An echo server that is shut down through a switch:
///
/// ```
/// use std::time::Duration;
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass::serve::Drain;
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// let drain = Drain::new().deadline(Duration::from_secs(10));
/// let switch = drain.switch();
///
/// let server = windlass::spawn(drain.serve(listener, |stream, _peer, told| async move {
///     let mut message = Vec::with_capacity(1024);
///     // Reads until the peer ends, or until the server is to end.
///     while let Some(Ok(1..)) = told.run_until_cancelled(stream.read_buf(&mut message)).await {
///         if stream.write_all(&message).await.is_err() {
///             break;
///         }
///         message.clear();
///     }
/// }));
///
/// let client = TcpStream::connect(address).await?;
/// client.write_all(b"hello").await?;
/// client.read_exact(&mut [0; 5]).await?;
///
/// switch.flip();
/// let report = server.await.unwrap()?;
/// assert!(report.is_clean() && report.accepted() == 1);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct Drain {
    /// These are `None` until they are set.
    deadline: Option<Duration>,
    grace: Option<Duration>,
    limit: Option<usize>,
    on_accept_error: Option<accept_errors::Hook>,
    switch: Switch,
    triggers: Triggers,
}

impl Drain {
    /// Creates a server with a deadline of 25 seconds, a grace period of 50 milliseconds, and a [`limit`](Self::limit)
    /// on connections that leaves a quarter of the descriptors to other uses.
    ///
    /// Nothing makes it end yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new();
    /// assert!(!drain.token().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self {
            deadline: None,
            grace: None,
            limit: None,
            on_accept_error: None,
            switch: Switch::default(),
            triggers: Triggers::default(),
        }
    }

    /// Sets how long connections may take to end when the server drains. After that they are aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new().deadline(Duration::from_secs(10));
    /// # drop(drain);
    /// ```
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how long the server continues to accept connections when it drains.
    ///
    /// It should be long enough for handshakes that have begun: a round trip.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new().grace(Duration::from_millis(200));
    /// # drop(drain);
    /// ```
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = Some(grace);
        self
    }

    /// Sets the number of connections that may be open at the same time.
    ///
    /// Further connections wait in the listener's queue. A server that drains accepts them as well.
    ///
    /// Unless it is set, the limit is three quarters of the [`descriptor_limit`] at the time of [`serve`](Self::serve):
    /// 768 if `ulimit -n` is 1,024. The remaining descriptors are for whatever the connections open. If each of them
    /// needs one or more descriptors of its own, as in a proxy, set a lower limit. `usize::MAX` means no limit.
    ///
    /// # Panics
    ///
    /// Panics if the limit is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new().limit(10_000);
    /// # drop(drain);
    /// ```
    pub fn limit(mut self, connections: usize) -> Self {
        assert!(connections > 0, "a server without connections serves nobody");
        self.limit = Some(connections);
        self
    }

    /// Calls `f` for each error of `accept`, instead of reporting it.
    ///
    /// The server goes on after such errors, and most of them pass: descriptors have run out, for instance. Unless this
    /// is set, they are reported at most once a second: to `tracing` and `log` with the features of these names, as
    /// warnings of the target `windlass::serve`, otherwise on standard error. The report of the drain
    /// [counts](DrainReport::accept_errors) them in any case.
    ///
    /// `f` is called by the server's task, which accepts nothing meanwhile, so it should not take long. A panic of it ends
    /// the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new().on_accept_error(|error| eprintln!("no connection: {error}"));
    /// # drop(drain);
    /// ```
    pub fn on_accept_error(mut self, f: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        self.on_accept_error = Some(Box::new(f));
        self
    }

    /// Adds the triggers of `other`, and takes over the settings that were set there. For servers that are built on this
    /// one, and have such settings themselves. The switch of `other` leads nowhere afterwards.
    #[doc(hidden)]
    pub fn overridden_by(mut self, other: Self) -> Self {
        self.deadline = other.deadline.or(self.deadline);
        self.grace = other.grace.or(self.grace);
        self.limit = other.limit.or(self.limit);
        self.on_accept_error = other.on_accept_error.or(self.on_accept_error);
        self.triggers.append(other.triggers);
        self
    }

    /// Serves the listener's connections, drains when something tells the server to end, and returns a report.
    ///
    /// For each connection, `connection` is called with the stream, the peer's address, and the token that tells it to
    /// end. The future that it returns runs in a task of its own.
    ///
    /// When `accept` fails, for example because descriptors have run out, the server pauses and tries again, or tries
    /// again as soon as a connection has ended. Such errors are reported; see [`on_accept_error`](Self::on_accept_error).
    ///
    /// Dropping the future closes the listener and aborts all connections.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// let switch = drain.switch();
    /// let address = listener.local_addr()?;
    /// let server = windlass::spawn(drain.serve(listener, |stream, _peer, _told| async move {
    ///     let _ = stream.write_all(b"welcome").await;
    /// }));
    ///
    /// TcpStream::connect(address).await?.read_exact(&mut [0; 7]).await?;
    /// switch.flip();
    /// assert_eq!(server.await.unwrap()?.accepted(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn serve<L, C, F>(
        self,
        listener: L,
        connection: C,
    ) -> impl Future<Output = io::Result<DrainReport>> + Send + use<L, C, F>
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        let location = Location::caller();
        let Self { deadline, grace, limit, on_accept_error, switch, triggers } = self;
        let limits = Limits {
            deadline: deadline.unwrap_or(DEADLINE),
            grace: grace.unwrap_or(GRACE),
            connections: limit.unwrap_or_else(|| default_limit(descriptor_limit())),
        };
        let errors = AcceptErrors::new(on_accept_error, location);
        let open = Open::new(switch.open().clone());
        let server = Server::new(connection, switch.clone(), open, errors);
        async move {
            let mut run = pin!(server.run(listener, limits, location));
            let mut triggers = triggers.armed(switch);
            poll_fn(|cx| {
                triggers.poll(cx);
                run.as_mut().poll(cx)
            })
            .await
        }
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("deadline", &self.deadline.unwrap_or(DEADLINE))
            .field("grace", &self.grace.unwrap_or(GRACE))
            .field("limit", &self.limit)
            .field("switch", &self.switch)
            .finish_non_exhaustive()
    }
}
