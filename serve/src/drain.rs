//! A server, from its first connection to its last.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::task::Context;
use std::time::Duration;

use windlass_os::signal::termination;
use windlass_runtime::timer::{now, timeout, timeout_at};
use windlass_sync::CancellationToken;

use crate::open::Open;
use crate::{DrainReport, Listener, Switch};

/// The pauses after an error of `accept`: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));
/// How long tasks that were aborted may take to let go of what they have.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Requests to end the process that arrive within this time are one: a shell or a supervisor may pass on a signal that the
/// process has received already.
const SAME_REQUEST: Duration = Duration::from_millis(500);

type Trigger = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves connections, and comes to an end without losing one.
///
/// [`serve`](Self::serve) accepts connections and spawns a task for each, until it is told to end: by a future
/// given to [`on`](Self::on), or by a [`switch`](Self::switch). Then, one after the other, it
///
/// 1. tells every connection through a [token](Self::token), which the protocol turns into its own words (`Connection: close`,
///    GOAWAY, a closing message);
/// 2. lets no new connection into the listener's queue, accepts all that are in it, and goes on for a while for those whose
///    handshake was under way, [`grace`](Self::grace);
/// 3. closes the listener;
/// 4. waits for the connections to end, until a [`deadline`](Self::deadline);
/// 5. aborts the rest, and names them in its report.
///
/// Being told a second time ends it at once: it goes to the last step.
///
/// So no connection is lost that the OS has taken, on Linux. Elsewhere one may be that is made in the moment between the last
/// look at the queue and the end of the listener. Whether a *request* is lost is up to the protocol; `windlass::hyper` and
/// `windlass::axum` see to it for HTTP.
///
/// # Examples
///
/// A server that echoes, and that a client tells to end:
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
    limit: usize,
    switch: Switch,
    triggers: Vec<Trigger>,
}

impl Drain {
    /// A server that gives its connections 30 seconds to end, goes on accepting for 50 milliseconds, and has no limit on
    /// connections. Nothing tells it to end yet.
    pub fn new() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            grace: Duration::from_millis(50),
            limit: usize::MAX,
            switch: Switch::default(),
            triggers: Vec::new(),
        }
    }

    /// Sets how long connections may take to end once they are told to. Then they are aborted.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how long the server goes on accepting once it is told to end: long enough for handshakes that have begun,
    /// a round trip.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how many connections may be open at a time. Those beyond wait in the listener's queue. A server that is told to end
    /// accepts those as well.
    ///
    /// # Panics
    ///
    /// If the limit is zero.
    pub fn limit(mut self, connections: usize) -> Self {
        assert!(connections > 0, "a server without connections serves nobody");
        self.limit = connections;
        self
    }

    /// Tells the server to end when `trigger` is ready: a signal, a message, a time-out. May be called several times: the second
    /// trigger that is ready ends the drain at once.
    ///
    /// It is polled by [`serve`](Self::serve). For what comes again and again, give it a loop that flips a
    /// [`switch`](Self::switch) and never ends.
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
    /// closed and the system shutting down on Windows. From this call on they no longer end the process by themselves, and
    /// after [`serve`](Self::serve) has returned nothing receives them: the program should come to its end then.
    ///
    /// Requests within half a second of each other count as one, because a shell or a supervisor may pass on a signal that
    /// the process has received already.
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

    /// What tells the server to end from elsewhere.
    pub fn switch(&self) -> Switch {
        self.switch.clone()
    }

    /// Cancelled when connections are to come to an end. Each gets it with its stream; this is for other tasks that
    /// should end, too.
    pub fn token(&self) -> &CancellationToken {
        self.switch.token()
    }

    /// Serves the listener's connections, each with a task that runs what `connection` returns for it: a future made of the
    /// stream, the address it comes from, and the token that tells it to end.
    ///
    /// When `accept` fails, for want of descriptors for instance, it pauses and tries again, or as soon as a
    /// connection has ended.
    ///
    /// Dropping the future closes the listener and aborts all connections.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
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
        let limits = Limits { deadline, grace, connections: limit };
        let open = Open::new(switch.open().clone());
        let server = Server { connection, switch, open };
        async move {
            let mut run = pin!(server.run(listener, limits, location));
            let mut triggers = triggers;
            poll_fn(|cx| {
                triggers.retain_mut(|trigger| is_pending(trigger, cx));
                run.as_mut().poll(cx)
            })
            .await
        }
    }
}

fn is_pending(trigger: &mut Trigger, cx: &mut Context<'_>) -> bool {
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

/// A server that runs.
struct Server<C> {
    connection: C,
    switch: Switch,
    open: Open,
}

impl<C> Server<C> {
    async fn run<L, F>(
        mut self,
        listener: L,
        limits: Limits,
        location: &'static Location<'static>,
    ) -> io::Result<DrainReport>
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        self.accept_until_told(&listener, limits.connections).await?;
        let begun = now();
        let end = self.switch.end().clone();
        let draining = end.run_until_cancelled(async {
            self.empty_the_queue(&listener, limits.grace).await;
            drop(listener);
            self.open.all_ended().await;
        });
        match begun.checked_add(limits.deadline) {
            Some(deadline) => drop(timeout_at(deadline, draining).await),
            None => drop(draining.await),
        }
        let aborted = self.open.abort_all(location);
        // A task that does not let go is stuck in a poll. The report of the runtime's shutdown names it.
        let _ = timeout(LETTING_GO, self.open.all_ended()).await;
        Ok(DrainReport {
            accepted: self.open.accepted(),
            panicked: self.open.panicked(),
            elapsed: now().saturating_duration_since(begun),
            aborted,
        })
    }

    async fn accept_until_told<L, F>(&mut self, listener: &L, limit: usize) -> io::Result<()>
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        let told = self.switch.token().clone();
        let (first_pause, longest_pause) = PAUSES;
        let mut pause = first_pause;
        while !told.is_cancelled() {
            if self.open.len() >= limit {
                told.run_until_cancelled(self.open.one_ended()).await;
                continue;
            }
            match told.run_until_cancelled(listener.accept()).await {
                None => break,
                Some(Ok((stream, peer))) => {
                    self.start(stream, peer);
                    pause = first_pause;
                }
                Some(Err(error)) if error.raw_os_error().is_none() => return Err(error),
                Some(Err(_)) => {
                    let waiting = timeout(pause, self.open.one_ended());
                    let _ = told.run_until_cancelled(waiting).await;
                    pause = longest_pause.min(2 * pause);
                }
            }
        }
        Ok(())
    }

    /// Accepts for as long as connections can be on their way, and then what is left.
    async fn empty_the_queue<L, F>(&mut self, listener: &L, grace: Duration)
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        // If it can't, the window is as small as the rest makes it.
        let _ = listener.refuse_new();
        let _ = timeout(grace, async {
            loop {
                match listener.accept().await {
                    Ok((stream, peer)) => self.start(stream, peer),
                    Err(_) => drop(timeout(PAUSES.0, self.open.one_ended()).await),
                }
            }
        })
        .await;
        loop {
            match listener.try_accept() {
                Ok((stream, peer)) => self.start(stream, peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.raw_os_error().is_none() => return,
                Err(_) => drop(timeout(PAUSES.0, self.open.one_ended()).await),
            }
        }
    }

    fn start<S, A, F>(&mut self, stream: S, peer: A)
    where
        A: fmt::Debug,
        C: FnMut(S, A, CancellationToken) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let name = format!("connection of {peer:?}");
        let connection = (self.connection)(stream, peer, self.switch.token().clone());
        self.open.spawn(name, connection);
    }
}

/// What a server keeps to.
#[derive(Clone, Copy, Debug)]
struct Limits {
    deadline: Duration,
    grace: Duration,
    connections: usize,
}
