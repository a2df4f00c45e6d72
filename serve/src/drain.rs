//! A server that accepts connections, and drains them before it ends.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::Context;
use std::time::Duration;

use windlass_os::process::descriptor_limit;
use windlass_os::signal::termination;
use windlass_runtime::timer::now;
use windlass_sync::CancellationToken;

use crate::open::Open;
use crate::policy::{DEADLINE, GRACE, SAME_REQUEST, default_limit};
use crate::server::{Limits, Server};
use crate::{DrainReport, Listener, Switch};

type Trigger = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves connections, and ends without losing one.
///
/// [`serve`](Self::serve) accepts connections and spawns a task for each, until it is told to end: by a signal
/// ([`on_signals`](Self::on_signals)), by another future ([`on`](Self::on)), or by a [`switch`](Self::switch). Then it
/// *drains*. It
///
/// 1. cancels a [token](Self::token) that every connection has, which the protocol turns into its own message
///    (`Connection: close`, GOAWAY, a closing message);
/// 2. closes the listener's queue to new connections, accepts those that are in it, and for a [`grace`](Self::grace)
///    period those whose handshake had begun;
/// 3. closes the listener;
/// 4. waits until all connections have ended, or until a [`deadline`](Self::deadline);
/// 5. aborts the rest, and names them in its report.
///
/// Told to end a second time, it continues with the last step at once.
///
/// On Linux, no connection is lost that the OS has accepted. On other systems one may be lost that is established
/// between the last look at the queue and the end of the listener. The queue of a listener that came from elsewhere,
/// such as a socket of systemd's, [may be shared](windlass_net::TcpListener::is_shared) and is not closed on any system:
/// others accept what comes later. Whether a *request* is lost depends on the protocol; `windlass::hyper` and
/// `windlass::axum` lose none.
///
/// # What a peer can do
///
/// A peer cannot keep a server from ending: the deadline bounds the drain, whatever the connections do. Before that, a
/// server accepts connections up to a [`limit`](Self::limit), by default three quarters of the descriptors that the
/// process may have. If descriptors run out nevertheless, it pauses until a connection has ended. How long a single
/// connection may stay idle is up to `connection`: put a time-out around its reads.
///
/// # Examples
///
/// An echo server that is told to end through a switch:
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
    deadline: Duration,
    grace: Duration,
    /// `None` until it is set: the default is computed when the server starts.
    limit: Option<usize>,
    switch: Switch,
    triggers: Vec<Trigger>,
}

impl Drain {
    /// Creates a server with a deadline of 30 seconds, a grace period of 50 milliseconds, and a [`limit`](Self::limit)
    /// on connections that leaves a quarter of the descriptors to other uses.
    ///
    /// So far, nothing makes it end.
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
            deadline: DEADLINE,
            grace: GRACE,
            limit: None,
            switch: Switch::default(),
            triggers: Vec::new(),
        }
    }

    /// Sets how long connections may take to end when they are told to. After that they are aborted.
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
        self.deadline = deadline;
        self
    }

    /// Sets how long the server continues to accept when it is told to end.
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
        self.grace = grace;
        self
    }

    /// Sets the number of connections that may be open at the same time.
    ///
    /// Further connections wait in the listener's queue. A server that is told to end accepts them as well.
    ///
    /// Unless it is set, the limit is three quarters of the [`descriptor_limit`] at the time of [`serve`](Self::serve):
    /// 768 if `ulimit -n` is 1,024. The rest is for what the connections open. If each of them needs a descriptor or
    /// more of its own, as in a proxy, set a lower limit. `usize::MAX` is no limit.
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

    /// Tells the server to end when `trigger` completes, which may wait for a message or a time-out.
    ///
    /// It can be called several times: the second trigger that completes ends the drain at once. Triggers
    /// are polled by [`serve`](Self::serve). For something that happens repeatedly, pass a loop that
    /// flips a [`switch`](Self::switch) and never ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::serve::Drain;
    /// use windlass::timer::sleep;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new().on(async { sleep(Duration::from_millis(5)).await });
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert!(report.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on(mut self, trigger: impl Future<Output = ()> + Send + 'static) -> Self {
        let switch = self.switch();
        self.triggers.push(Box::pin(async move {
            trigger.await;
            switch.flip();
        }));
        self
    }

    /// Starts the drain at the first request to end the process, and ends it at once at the second.
    ///
    /// The requests are those of [`termination`]: Ctrl-C and `SIGTERM` on Unix; Ctrl-C, Ctrl-Break, the console being
    /// closed and the system shutting down on Windows. From this call on they no longer end the process by themselves,
    /// and after [`serve`](Self::serve) has returned nothing receives them: the program should come to its end then.
    ///
    /// Requests within half a second of each other count as one, because a shell or a supervisor may pass on a signal
    /// that the process has received already.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, if the OS refuses a handler, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:7000").await?;
    /// let server = Drain::new().on_signals()?.serve(listener, |stream, _peer, _told| async move {
    ///     let _ = stream.write_all(b"hello").await;
    /// });
    /// println!("{}", server.await?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_signals(mut self) -> io::Result<Self> {
        let switch = self.switch();
        let mut requests = termination()?;
        self.triggers.push(Box::pin(async move {
            let mut last = None;
            while requests.recv().await.is_some() {
                let repeated = |last| now().saturating_duration_since(last) < SAME_REQUEST;
                if !last.is_some_and(repeated) {
                    last = Some(now());
                    switch.flip();
                }
            }
        }));
        Ok(self)
    }

    /// Returns a switch that tells the server to end.
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
    /// let server = windlass::spawn(drain.serve(listener, |_stream, _peer, _told| async {}));
    /// switch.flip();
    /// assert!(server.await.unwrap()?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn switch(&self) -> Switch {
        self.switch.clone()
    }

    /// Returns the token that is cancelled when the drain begins.
    ///
    /// Each connection gets it with its stream. This method is for other tasks that should end with the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let drain = Drain::new();
    /// let told = drain.token().clone();
    /// let housekeeping = windlass::spawn(async move { told.cancelled().await });
    /// drain.switch().flip();
    /// housekeeping.await.unwrap();
    /// # });
    /// ```
    pub fn token(&self) -> &CancellationToken {
        self.switch.token()
    }

    /// Serves the listener's connections until the server is told to end, and returns a report.
    ///
    /// For each connection, `connection` is called with the stream, the address of its peer, and the token that tells
    /// it to end. It returns a future, which runs in a task of its own.
    ///
    /// When `accept` fails, for example because descriptors have run out, the server pauses and tries again, or tries
    /// again as soon as a connection has ended.
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
        let Self { deadline, grace, limit, switch, triggers } = self;
        let connections = limit.unwrap_or_else(|| default_limit(descriptor_limit()));
        let limits = Limits { deadline, grace, connections };
        let open = Open::new(switch.open().clone());
        let server = Server::new(connection, switch, open);
        async move {
            let mut run = pin!(server.run(listener, limits, location));
            let mut triggers = triggers;
            poll_fn(|cx| {
                triggers.retain_mut(|trigger| poll_trigger(trigger, cx));
                run.as_mut().poll(cx)
            })
            .await
        }
    }
}

/// Polls a trigger. Returns true if it is pending.
fn poll_trigger(trigger: &mut Trigger, cx: &mut Context<'_>) -> bool {
    trigger.as_mut().poll(cx).is_pending()
}

impl Default for Drain {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("deadline", &self.deadline)
            .field("grace", &self.grace)
            .field("limit", &self.limit)
            .field("switch", &self.switch)
            .finish_non_exhaustive()
    }
}
