//! The feed: takes a snapshot at each tick while somebody looks, and hands each client its newest frame.
//!
//! # Who does what
//!
//! Snapshots are taken on the feed's own thread, so that a listing of 100,000 tasks holds up no worker. The feed needs
//! no worker either: it continues while all workers are stuck and the blocking pool is full. The first client starts
//! the thread, and the thread ends when the last client has left, so a feed that nobody looks at costs nothing.
//!
//! A client has room for one frame. The thread replaces a frame that was not fetched in time, so a slow client misses
//! frames, costs no more memory than others, and delays nobody.
//!
//! If the thread panics, which would be a bug of ours or of a waker, it releases its clients, and their streams end. A
//! page then reconnects by itself, which starts another thread.
//!
//! The list of clients and the flag that the thread runs change together, under one lock. The thread ends only if it
//! finds the list empty, and whoever adds a client to a list without a thread starts one.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use windlass_runtime::Handle;

use crate::aside::aside;
use crate::client::Client;
use crate::collect::Collector;
use crate::frame::Frame;
use crate::http::Refusal;
use crate::model::Snapshot;
use crate::policy::{CLIENTS, WINDOW};
use crate::view::View;

const TOO_MANY: Refusal = Refusal::new(503, "eight clients are looking already: close one of them");
const NO_THREAD: Refusal = Refusal::new(503, "the OS has refused a thread for the inspector");

/// Takes snapshots while somebody looks.
pub(crate) struct Feed {
    collector: Collector,
    refresh: Duration,
    shared: Mutex<Shared>,
    /// Signalled when a client has come or gone.
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    clients: Vec<Arc<Client>>,
    runs: bool,
    snapshots: u64,
    /// The oldest and the latest snapshot of a thread that has ended. A page that asks for another order leaves and
    /// comes back, and rates continue from these.
    past: VecDeque<Snapshot>,
}

impl Feed {
    pub(crate) fn new(runtime: Handle, refresh: Duration) -> Arc<Self> {
        Arc::new(Self {
            collector: Collector::new(runtime),
            refresh,
            shared: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Returns how many clients are looking.
    pub(crate) fn clients(&self) -> usize {
        self.lock().clients.len()
    }

    /// Returns how many snapshots have been taken.
    pub(crate) fn snapshots(&self) -> u64 {
        self.lock().snapshots
    }

    /// Adds a client, which gets a frame at once and then at each tick.
    pub(crate) fn subscribe(self: &Arc<Self>, view: View) -> Result<Subscription, Refusal> {
        let client = Arc::new(Client::new(view));
        let mut shared = self.lock();
        if shared.clients.len() >= CLIENTS {
            return Err(TOO_MANY);
        }
        if !shared.runs {
            let feed = self.clone();
            let thread = thread::Builder::new().name("windlass-inspector".to_owned());
            thread.spawn(move || feed.run()).map_err(|_| NO_THREAD)?;
            shared.runs = true;
        }
        shared.clients.push(client.clone());
        drop(shared);
        self.changed.notify_all();
        Ok(Subscription { feed: self.clone(), client })
    }

    /// Returns the flight record. It is written on a thread of its own, for the same reasons as snapshots.
    pub(crate) async fn flight_record(self: &Arc<Self>) -> io::Result<Vec<u8>> {
        let feed = self.clone();
        aside(move || feed.collector.flight_record()).await?
    }

    /// Returns the metrics, which are added up and written on a thread of its own, too.
    pub(crate) async fn openmetrics(self: &Arc<Self>) -> Result<String, Refusal> {
        let feed = self.clone();
        aside(move || feed.collector.openmetrics()).await.map_err(|_| NO_THREAD)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes snapshots until the last client has left.
    fn run(&self) {
        let _end = End(self);
        let mut past = std::mem::take(&mut self.lock().past);
        let mut begun = Instant::now();
        loop {
            let now = self.collector.snapshot();
            while past.front().is_some_and(|old| now.at.saturating_sub(old.at) > WINDOW) {
                past.pop_front();
            }
            // A rate over a very short time says nothing.
            while past.back().is_some_and(|old| now.at.saturating_sub(old.at) < self.refresh / 4) {
                past.pop_back();
            }
            let frame = Frame::new(&now, past.back(), past.front());
            let mut next = None;
            self.lock().snapshots += 1;
            let mut served: Vec<Arc<Client>> = Vec::new();
            loop {
                let new: Vec<_> = {
                    let shared = self.lock();
                    let new =
                        |client: &&Arc<Client>| !served.iter().any(|old| Arc::ptr_eq(old, client));
                    shared.clients.iter().filter(new).cloned().collect()
                };
                deliver(&frame, &now, &new);
                served.extend(new);
                // What takes long, the listing or the frames, is done less often: half of a core at most.
                // `None` is a time that never comes.
                let next = *next.get_or_insert_with(|| {
                    begun.checked_add(self.refresh.max(2 * begun.elapsed()))
                });
                let mut shared = self.lock();
                if shared.clients.is_empty() {
                    past.truncate(1);
                    past.push_back(without_tasks(now));
                    shared.past = past;
                    shared.runs = false;
                    return;
                }
                if shared
                    .clients
                    .iter()
                    .any(|client| !served.iter().any(|old| Arc::ptr_eq(old, client)))
                {
                    continue;
                }
                match next.map(|next| next.saturating_duration_since(Instant::now())) {
                    Some(Duration::ZERO) => break,
                    Some(left) => drop(self.changed.wait_timeout(shared, left)),
                    None => drop(self.changed.wait(shared)),
                }
            }
            begun = Instant::now();
            past.push_back(without_tasks(now));
        }
    }
}

/// Returns the part of a snapshot from which rates and histograms are computed.
fn without_tasks(snapshot: Snapshot) -> Snapshot {
    Snapshot { tasks: Vec::new(), stuck: Vec::new(), ..snapshot }
}

/// Hands each client its frame. Clients with the same view share one.
fn deliver(frame: &Frame, now: &Snapshot, clients: &[Arc<Client>]) {
    let mut written: Vec<(&View, Arc<str>)> = Vec::new();
    for client in clients {
        let known = written.iter().find(|(view, _)| **view == client.view);
        let text = match known {
            Some((_, text)) => text.clone(),
            None => {
                let text: Arc<str> = frame.for_view(now, &client.view).into();
                written.push((&client.view, text.clone()));
                text
            }
        };
        client.give(text);
    }
}

/// If the thread panics, marks it as ended, so that the next client starts another, and releases its clients.
struct End<'a>(&'a Feed);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let clients = {
                let mut shared = self.0.lock();
                shared.runs = false;
                std::mem::take(&mut shared.clients)
            };
            for client in clients {
                // The panic may have come from a waker.
                let _ = catch_unwind(AssertUnwindSafe(|| client.end()));
            }
        }
    }
}

/// A client's hold on the feed; dropping it takes the client off the list.
pub(crate) struct Subscription {
    feed: Arc<Feed>,
    client: Arc<Client>,
}

impl Subscription {
    /// Waits for a frame that has not been fetched, and returns the newest. Returns `None` if there will be no other.
    pub(crate) async fn next(&self) -> Option<Arc<str>> {
        self.client.next().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.feed.lock().clients.retain(|client| !Arc::ptr_eq(client, &self.client));
        self.feed.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Wake, Waker};

    use super::*;

    fn runtime() -> windlass_runtime::Runtime {
        windlass_runtime::Builder::new().workers(1).build().unwrap()
    }

    fn wait_until(what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !condition() {
            assert!(Instant::now() < deadline, "{what}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn nobody_looks_and_nothing_happens() {
        let runtime = runtime();
        let feed = Feed::new(runtime.handle().clone(), Duration::from_millis(1));
        assert!(!feed.lock().runs);
        assert_eq!(feed.snapshots(), 0);

        let subscription = feed.subscribe(View::default()).unwrap();
        for _ in 0..3 {
            windlass_sync::block_on(subscription.next()).unwrap();
        }
        assert!(feed.snapshots() >= 3);
        drop(subscription);
        wait_until("the thread ends", || !feed.lock().runs);
        let snapshots = feed.snapshots();

        let _again = feed.subscribe(View::default()).unwrap();
        wait_until("the next client starts it again", || feed.snapshots() > snapshots);
    }

    #[test]
    fn one_snapshot_serves_all_clients_and_a_new_one_does_not_wait_for_the_tick() {
        let runtime = runtime();
        // The latter is beyond all clocks, which ended the thread.
        for refresh in [Duration::from_secs(3_600), Duration::MAX] {
            let feed = Feed::new(runtime.handle().clone(), refresh);
            let mut clients = Vec::new();
            for more in [CLIENTS - 1, 1] {
                let old = clients.len();
                clients.extend((0..more).map(|_| feed.subscribe(View::default()).unwrap()));
                for client in &clients[old..] {
                    windlass_sync::block_on(client.next()).unwrap();
                }
            }
            assert_eq!(feed.snapshots(), 1);
        }
    }

    #[test]
    fn rates_go_on_when_the_only_client_comes_back() {
        let runtime = runtime();
        let feed = Feed::new(runtime.handle().clone(), Duration::from_millis(1));
        let interval = |feed: &Arc<Feed>| {
            let subscription = feed.subscribe(View::default()).unwrap();
            let frame = windlass_sync::block_on(subscription.next()).unwrap();
            let frame: serde_json::Value = serde_json::from_str(&frame).unwrap();
            (frame["at"].as_u64().unwrap(), frame["interval"].as_u64().unwrap())
        };
        let (at, since_start) = interval(&feed);
        // They are equal, unless the client was so late that it missed the first frame.
        assert!(since_start <= at, "{since_start} <= {at}");
        wait_until("the thread ends", || !feed.lock().runs);
        let (later, since) = interval(&feed);
        // Counted since the last snapshot, which is not older than the first frame, unless that is too long ago.
        let forgotten = Duration::from_nanos(later - at) > WINDOW;
        assert!(since <= later - at || forgotten, "{since} <= {later} - {at}");
    }

    #[test]
    fn a_client_too_many_is_refused_until_another_leaves() {
        let runtime = runtime();
        let feed = Feed::new(runtime.handle().clone(), Duration::from_millis(100));
        let mut clients: Vec<_> =
            (0..CLIENTS).map(|_| feed.subscribe(View::default()).unwrap()).collect();
        assert_eq!(feed.subscribe(View::default()).err().map(|refusal| refusal.status), Some(503));
        clients.pop();
        assert!(feed.subscribe(View::default()).is_ok());
    }

    /// Calls a closure when it is woken, on the thread that wakes it.
    struct OnWake<F>(F);

    impl<F: Fn() + Send + Sync> Wake for OnWake<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }

    /// The time until the next snapshot used to depend only on how long the listing took, and not on how long it took
    /// to write frames and hand them out.
    #[test]
    fn whatever_takes_long_is_done_half_of_the_time_at_most() {
        const SLOW: Duration = Duration::from_millis(50);
        let runtime = runtime();
        let feed = Feed::new(runtime.handle().clone(), Duration::from_millis(1));
        let subscription = feed.subscribe(View::default()).unwrap();
        let (tell, told) = mpsc::channel();
        let waker = Waker::from(Arc::new(OnWake(move || {
            thread::sleep(SLOW);
            let _ = tell.send(());
        })));
        let frame = || {
            let mut next = pin!(subscription.next());
            let mut was_slow = false;
            loop {
                match next.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(frame) => {
                        let frame: serde_json::Value =
                            serde_json::from_str(&frame.unwrap()).unwrap();
                        return (Duration::from_nanos(frame["at"].as_u64().unwrap()), was_slow);
                    }
                    Poll::Pending => told.recv_timeout(Duration::from_secs(120)).unwrap(),
                }
                was_slow = true;
            }
        };
        let mut rounds = 0;
        let mut last = frame();
        while rounds < 3 {
            let next = frame();
            if last.1 {
                let between = next.0 - last.0;
                assert!(between >= 2 * SLOW, "{between:?}");
                rounds += 1;
            }
            last = next;
        }
    }

    /// The thread was gone, and its clients got no frames until another client came.
    #[test]
    fn clients_are_let_go_if_the_thread_panics() {
        let runtime = runtime();
        let feed = Feed::new(runtime.handle().clone(), Duration::from_millis(1));
        let [panics, other] = [(); 2].map(|()| feed.subscribe(View::default()).unwrap());
        let waker = Waker::from(Arc::new(OnWake(|| panic!("a waker panics, as this test wants"))));
        let mut next = pin!(panics.next());
        // Until it has to wait.
        while next.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            next.set(panics.next());
        }
        let (tell, told) = mpsc::channel();
        let client = thread::spawn(move || {
            while windlass_sync::block_on(other.next()).is_some() {}
            tell.send(()).unwrap();
        });
        told.recv_timeout(Duration::from_secs(120)).expect("the other client is let go");
        client.join().unwrap();
        let again = feed.subscribe(View::default()).unwrap();
        assert!(windlass_sync::block_on(again.next()).is_some(), "another thread");
    }
}
