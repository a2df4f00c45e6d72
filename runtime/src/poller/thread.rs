//! The poller's thread: watches over the workers, and looks at the OS when none of them can.
//!
//! What it notices, and when it rests, is in `sched/monitor.rs`. The tasks that it wakes go into the
//! pool's lane. It runs no user code: wakers that are not of our own tasks it hands on to another
//! thread (`foreign.rs`), unless no worker is there any more.
//!
//! It sleeps with a time-out while workers are awake, and without one while all of them sleep. It sleeps on a parker of
//! its own. It sleeps in the seat if the backend reserves the seat for it, and as the last resort: when every worker
//! that is awake is stuck in some poll, and there is no other worker to wake. A worker that wants to sleep and finds
//! this thread in the seat kicks it. The thread leaves the seat and wakes a worker to take it.

use std::io;
use std::time::{Duration, Instant};

use windlass_sync::{Parker, Unparker};

use super::Poller;
use super::hand_on::HandOn;
use super::virtual_time::Idleness;
use crate::context::{self, Role};
use crate::entered::EnteredScope;
use crate::handle::Handle;
use crate::primitives::{Arc, AtomicBool, Mutex, Ordering, fence};
use crate::sched::{self, Monitor, Pool, policy};

/// The parker that the thread sleeps on, and the flags by which it is woken. A manual loop has one too.
pub(super) struct ThreadSleep {
    parker: Mutex<Option<Parker>>,
    unparker: Unparker,
    /// True if the thread is in the seat, or about to be.
    in_seat: AtomicBool,
    /// True if a manual loop was kicked, and has not looked since.
    kicked: AtomicBool,
}

impl ThreadSleep {
    pub(super) fn new() -> Self {
        let parker = Parker::new();
        Self {
            unparker: parker.unparker(),
            parker: Mutex::new(Some(parker)),
            in_seat: AtomicBool::new(false),
            kicked: AtomicBool::new(false),
        }
    }

    /// Notes that the manual loop has returned from its wait.
    pub(super) fn looked(&self) {
        // A read-modify-write, like the one in `Poller::kick`: a thread that found the flag set did what it did before
        // this, and the loop sees it.
        self.kicked.swap(false, Ordering::AcqRel);
    }
}

impl Poller {
    /// Has the thread, or the manual loop, look at what there is.
    pub(crate) fn kick(&self) {
        let thread = &self.thread;
        if self.manual {
            // No matter how many threads kick, the OS is asked once.
            if !thread.kicked.swap(true, Ordering::AcqRel) {
                self.selector.kick();
            }
            return;
        }
        thread.unparker.unpark();
        // Partner of the fence in `sleep_in_seat`: either the thread sees its token before it waits, or we see that it
        // is in the seat.
        fence(Ordering::SeqCst);
        if thread.in_seat.load(Ordering::Relaxed) {
            self.selector.kick();
        }
    }

    /// Has the thread leave the seat if it is there, because a worker is about to sleep and could have it.
    pub(crate) fn reclaim_seat(&self) {
        if self.thread.in_seat.load(Ordering::Relaxed) && !self.is_seat_of_thread() {
            self.kick();
        }
    }

    /// Returns the parker that the thread sleeps on.
    pub(super) fn take_parker(&self) -> Parker {
        self.thread.parker.lock().take().expect("a poller has one thread")
    }

    /// Returns true if the thread is in the seat. Orders nothing.
    pub(crate) fn is_thread_in_seat(&self) -> bool {
        self.thread.in_seat.load(Ordering::Relaxed)
    }
}

/// Starts the poller's thread, which ends with the last task after the pool was closed.
pub(crate) fn start(pool: &Arc<Pool>) -> io::Result<()> {
    let name = format!("{}-poller", pool.config.thread_name);
    sched::start_thread(pool, name, run)
}

fn run(pool: &Arc<Pool>) {
    context::set_role(Role::Poller);
    // So that a waker finds the runtime's time, and spawns where it belongs, as it would on a worker.
    let _entered = EnteredScope::enter(Handle::new(pool.clone()));
    super::keep_time();
    let mut thread = PollerThread::new(pool);
    // With the last task gone, no worker can be stuck and nobody waits for events.
    while !pool.is_over() {
        thread.sleep();
        thread.look();
    }
    thread.hand_on.end(pool);
}

/// The state that the thread keeps between two looks.
struct PollerThread<'a> {
    pool: &'a Arc<Pool>,
    parker: Parker,
    start: Instant,
    monitor: Monitor,
    idleness: Idleness,
    hand_on: HandOn,
}

impl<'a> PollerThread<'a> {
    fn new(pool: &'a Arc<Pool>) -> Self {
        let start = Instant::now();
        Self {
            pool,
            parker: pool.poller().take_parker(),
            start,
            monitor: Monitor::new(pool, start),
            idleness: Idleness::new(),
            hand_on: HandOn::begin(),
        }
    }

    /// Sleeps until it is time to look, or until another thread kicks: in the seat if nobody else can be there.
    fn sleep(&mut self) {
        let poller = self.pool.poller();
        let mut pause = self.monitor.pause(self.pool);
        if poller.is_virtual() && poller.timers().in_use() {
            pause = shorter(pause, Some(self.idleness.pause()));
        }
        if let Some(left) = self.hand_on.pause(poller) {
            sleep(&self.parker, shorter(pause, Some(left)));
        } else if poller.is_seat_of_thread() || self.monitor.is_last_resort() {
            sleep_in_seat(poller, &self.parker, pause);
        } else {
            sleep(&self.parker, pause);
        }
    }

    /// Looks at the workers, and does what they leave undone: takes events and timers, and has foreign wakers called.
    fn look(&mut self) {
        let now = if policy::TIMELESS { self.start } else { Instant::now() };
        self.monitor.look(self.pool, now);
        look_after_os(self.pool, self.monitor.is_last_resort());
        if self.pool.poller().is_virtual() {
            self.idleness.look(self.pool);
        }
        self.hand_on.look(self.pool);
    }
}

fn sleep(parker: &Parker, pause: Option<Duration>) {
    match pause {
        None => parker.park(),
        // In models the thread looks only when it is kicked, because nothing may depend on its pauses.
        Some(_) if policy::TIMELESS => parker.park(),
        Some(pause) => _ = parker.park_timeout(pause),
    }
}

/// Sleeps until there are events, a timer is due, the pause is over, or another thread kicks.
pub(super) fn sleep_in_seat(poller: &Poller, parker: &Parker, pause: Option<Duration>) {
    let pause = if policy::TIMELESS { None } else { pause };
    let Some(mut seat) = poller.try_seat() else {
        return sleep(parker, pause);
    };
    let thread = &poller.thread;
    thread.in_seat.store(true, Ordering::Relaxed);
    // Partner of the fence in `Poller::kick`.
    fence(Ordering::SeqCst);
    if !parker.take_token() {
        seat.wait(pause);
    }
    parker.take_token();
    thread.in_seat.store(false, Ordering::Relaxed);
    seat.leave();
}

/// Takes what no worker does: timers that are overdue, and with `last_resort` events too.
pub(crate) fn look_after_os(pool: &Pool, last_resort: bool) {
    let poller = pool.poller();
    if last_resort || poller.is_virtual() {
        poller.poll();
    } else {
        poller.fire_overdue(policy::TIMER_LAG.as_nanos() as u64);
    }
    // Partner of the fence of a worker's announcement: a worker that has found the seat's lock taken by us is seen here
    // to sleep.
    fence(Ordering::SeqCst);
    if pool.nobody_looks() {
        pool.wake_one();
    }
}

fn shorter(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
