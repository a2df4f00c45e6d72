//! The poller: the OS's readiness, turned into wake-ups.
//!
//! Workers look at the OS themselves: without blocking, when they run dry and, while they are busy, after each round of what
//! is queued; and the last of them to fall asleep by blocking there. One dedicated thread
//! ([`thread`]) makes sure that somebody looks when nobody does.
//!
//! At any moment one of these holds, and each leads to a harvest:
//!
//! - **the seat is taken**: a worker blocks on the OS, and an event wakes it. When it leaves, it has
//!   the thread stand guard, unless there is nothing to harvest but timers;
//! - **the thread is on guard**: it looks after some 50 µs, and then less and less often, whether
//!   somebody has harvested since. It gives up the guard when a worker sits and there is nothing to
//!   harvest, or when the gate is armed;
//! - **the gate is armed**: the first event wakes the thread, and the gate is shut until it is armed
//!   again. This is for workers that fell asleep before there was anything to wait for, and for when the
//!   thread gives up its guard and nobody sits.
//!
//! # Why one of them always holds
//!
//! The first source arms the gate. From then on, each of the three ends by one of the others:
//!
//! - *The gate fires*: the thread stands guard, unless a worker sits, or unless nobody is there to be relied
//!   on; then it harvests.
//! - *The guard is given up*, because somebody sits, the gate is armed, or the thread has harvested itself: the thread
//!   says so, passes a fence, and arms the gate if nobody sits.
//! - *The seat is left*: the worker says so, passes a fence (that of `Timers::leave`), and has the thread stand
//!   guard if it does not. Either it sees that the thread is not on guard, or the thread sees that nobody sits.
//!
//! Nothing of this rests on who falls asleep when. A worker that finds the seat taken just parks: whoever is in
//! it, or holds it for a look, gets on, and comes to sleep or to leave the seat in its turn. To arm the gate on
//! its behalf, as if nobody were there, would wake the thread beside the worker in the seat; and with events waiting
//! and the holder kept from running by the OS, gate, thread and worker would wake each other in circles.
//!
//! What the thread does with a gate that fired, and when its patience on guard is over, is in
//! [`thread`].
//!
//! Timers are kept by the same two, the worker in the seat and the thread: see [`timers`].

mod bell;
mod clock;
mod guard;
#[cfg(loom)]
pub(crate) mod model;
pub(crate) mod outside;
mod registration;
mod slab;
mod source;
mod sys;
mod test_clock;
mod thread;
mod timers;
mod until;

use std::io;
use std::task::Waker;
use std::time::{Duration, Instant};

pub(crate) use clock::Clock;
pub use registration::Registration;
pub use source::{Direction, Seen};
pub(crate) use sys::{DROP_GRACE, keep_time, take_short_turns, times_preempted};
pub use sys::{Descriptor, RawDescriptor, os};
pub(crate) use thread::start;

use windlass_sync::ManualResetEvent;
use windlass_timer::Timers;

use bell::{Bell, Ringer};
use slab::{Slab, Token};
use source::Source;
use sys::{Events, Woken, push};

use crate::primitives::plain::{
    AtomicBool as PlainBool, AtomicU64, AtomicUsize, Ordering as Plain,
};
use crate::primitives::{Arc, AtomicBool, Mutex, Ordering, TryLock, TryLockGuard};
use crate::task::quietly;

/// The shared half of a runtime's poller.
pub(crate) struct Poller {
    manual: bool,
    bell: Arc<Bell>,
    clock: Arc<Clock>,
    timers: Timers,
    outside: outside::Outside,
    sources: Mutex<Slab>,
    /// Held by the one thread that harvests.
    events: TryLock<Events>,
    registered: AtomicUsize,
    harvests: AtomicU64,
    armed: AtomicBool,
    on_guard: AtomicBool,
    guard_wanted: AtomicBool,
    /// The seat was left, and the timers with it, by a worker that is awake.
    timers_left: AtomicBool,
    /// Nobody has looked for longer than the thread's patience, and somebody was called to.
    neglected: PlainBool,
}

impl Poller {
    /// With `manual`, workers don't look at the timers by themselves: there are none, but a manual loop.
    pub(crate) fn new(workers: usize, manual: bool, clock: Clock) -> io::Result<Self> {
        let (bell, clock) = (Arc::new(Bell::new()?), Arc::new(clock));
        let ringer = Box::new(Ringer { bell: bell.clone(), clock: clock.clone() });
        let lenient = !manual && !clock.is_virtual();
        Ok(Self {
            manual,
            timers: Timers::new(workers, lenient, ringer),
            bell,
            clock,
            outside: outside::Outside::default(),
            sources: Mutex::new(Slab::default()),
            events: TryLock::new(Events::new()),
            registered: AtomicUsize::new(0),
            harvests: AtomicU64::new(0),
            armed: AtomicBool::new(false),
            on_guard: AtomicBool::new(false),
            guard_wanted: AtomicBool::new(false),
            timers_left: AtomicBool::new(false),
            neglected: PlainBool::new(false),
        })
    }

    fn register(
        &self,
        descriptor: Descriptor<'_>,
        source: Arc<Source>,
    ) -> io::Result<(Token, RawDescriptor)> {
        let Some(token) = self.sources.lock().insert(source.clone()) else {
            return Err(io::Error::other("the runtime is shutting down"));
        };
        // The first source: workers that went to sleep before it have not armed the gate.
        let first = self.registered.fetch_add(1, Plain::Relaxed) == 0;
        let armed = if first { self.bell.selector.arm_gate() } else { Ok(()) };
        let register = || push::register(&self.bell.selector, descriptor, token.pack(), &source);
        if let Err(error) = armed.and_then(|()| register()) {
            self.forget(token);
            return Err(error);
        }
        Ok((token, sys::raw(descriptor)))
    }

    fn deregister(&self, token: Token, descriptor: RawDescriptor) {
        push::deregister(&self.bell.selector, descriptor, token.pack());
        self.forget(token);
    }

    fn forget(&self, token: Token) {
        // The source is dropped after the lock: its wakers may run user code.
        let _source = self.sources.lock().remove(token);
        self.registered.fetch_sub(1, Plain::Relaxed);
    }

    /// True for the poller of a manual loop, which has no thread.
    pub(crate) fn is_manual(&self) -> bool {
        self.manual
    }

    /// True if there is anything to harvest from.
    pub(crate) fn in_use(&self) -> bool {
        !push::PUSHES && self.has_sources()
    }

    /// True if the OS may have something to report.
    fn has_sources(&self) -> bool {
        self.registered.load(Plain::Relaxed) > 0
    }

    /// Takes what events there are, fires what timers are due, and wakes who waits for them, without
    /// blocking. Gives their number.
    pub(crate) fn harvest(&self) -> usize {
        self.harvest_sources() + self.fire_due()
    }

    /// Fires what timers are due, and wakes who waits for them. Gives their number.
    pub(crate) fn fire_due(&self) -> usize {
        self.note_look();
        self.fire(0)
    }

    /// Zero if another thread is at it.
    pub(crate) fn harvest_sources(&self) -> usize {
        if !self.in_use() {
            self.no_longer_neglected();
            return 0;
        }
        let Some(mut events) = self.events.try_lock() else { return 0 };
        self.is_looking();
        // The only errors there are mean that the instance is broken beyond repair.
        let taken = self.bell.selector.harvest(&mut events).unwrap_or(0);
        if taken == 0 {
            return 0;
        }
        let wake = self.dispatch(&mut events);
        drop(events);
        wake_all(wake);
        taken
    }

    /// Hands the events to their sources, once; gives who is to be woken.
    fn dispatch(&self, events: &mut Events) -> Vec<Waker> {
        let mut wake = Vec::new();
        let sources = self.sources.lock();
        for (token, readiness) in events.iter() {
            sources.event(Token::unpack(token), readiness, &mut wake);
        }
        drop(sources);
        // A worker that is called before it has waited leaves the seat with what is in here.
        events.clear();
        wake
    }

    /// Takes the one place in which a worker may wait for events itself, if it is free.
    pub(crate) fn seat(&self) -> Option<Seat<'_>> {
        let nothing_to_wait_for = !self.in_use() && !self.timers.in_use();
        if push::PUSHES || self.is_virtual() || nothing_to_wait_for {
            return None;
        }
        let events = self.events.try_lock()?;
        self.bell.seated.store(true, Ordering::Relaxed);
        Some(Seat { poller: self, events })
    }

    fn is_seated(&self) -> bool {
        self.bell.is_seated()
    }

    /// Has the worker in the seat return.
    pub(crate) fn kick_seat(&self) {
        self.bell.selector.kick_seat();
    }

    /// Has the thread woken by the next event, or by one that waits already.
    pub(crate) fn arm_gate(&self) {
        // Relaxed: but for virtual time, only the thread writes it.
        if !self.in_use() || self.armed.load(Ordering::Relaxed) {
            return;
        }
        // The flag first: the gate may fire before the call returns, and its flag must not be set
        // after that. A gate armed without the flag is only armed once more.
        self.armed.store(true, Ordering::Relaxed);
        if self.bell.selector.arm_gate().is_err() {
            self.armed.store(false, Ordering::Relaxed);
        }
    }

    /// Said by a worker that parks, and that the thread is not on guard for. Where nobody ever sits, in virtual
    /// time, the thread could not rest otherwise.
    pub(crate) fn do_without_seat(&self) {
        if self.is_virtual() {
            self.arm_gate();
        }
    }

    /// The gate has fired and is shut; whoever calls this sees to what it has fired for.
    pub(crate) fn gate_fired(&self) {
        self.armed.store(false, Ordering::Relaxed);
    }

    fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// Blocks the poller's thread.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<Woken> {
        let woken = self.bell.selector.wait(timeout)?;
        if woken.kicked {
            // Partner of the swap in `Bell::kick`: whoever found the flag set did what it did before
            // this, and the thread sees it.
            self.bell.kicked.swap(false, Ordering::AcqRel);
        }
        Ok(woken)
    }

    /// Has the thread return from its wait. However many kick, the OS is asked once.
    pub(crate) fn kick(&self) {
        self.bell.kick();
    }

    /// Where the OS has a thread pool of its own: an event that is set by way of that pool's queue.
    pub(crate) fn resume(&self) -> Option<io::Result<Arc<ManualResetEvent>>> {
        push::resume(&self.bell.selector)
    }

    /// The last thread has gone: nothing happens any more if this says true, before the deadline.
    pub(crate) fn end(&self, deadline: Option<Instant>) -> bool {
        push::end(&self.bell.selector, deadline)
    }

    /// What becomes readable when `wait` would return.
    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.bell.selector.descriptor()
    }

    /// Has the descriptor become readable when the time is over, in a manual loop.
    pub(crate) fn alarm(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.bell.selector.alarm(timeout)
    }

    /// Nobody will harvest any more: tells all who wait.
    pub(crate) fn close(&self) {
        let mut wake = Vec::new();
        self.sources.lock().close(&mut wake);
        wake.extend(self.timers.close());
        wake_all(wake);
    }
}

/// A worker's place on the OS: it blocks there instead of being parked, and gets events first hand.
pub(crate) struct Seat<'a> {
    poller: &'a Poller,
    events: TryLockGuard<'a, Events>,
}

impl Seat<'_> {
    /// Blocks until there are events or timers are due, or until the seat is kicked; gives the number
    /// of events, and one for the timers. May return for no reason.
    pub(crate) fn wait(&mut self) -> usize {
        let Self { poller, events } = self;
        poller.is_looking();
        let timeout = poller.seat_timeout();
        // The only error there is means that the instance is broken beyond repair.
        let taken = poller.bell.selector.sit(events, timeout).unwrap_or(0);
        // Being kicked counts, but is no event.
        let taken = if self.has_events() { taken } else { 0 };
        taken + usize::from(self.poller.is_due(0))
    }

    /// True if the last wait has brought events.
    pub(crate) fn has_events(&self) -> bool {
        self.events.iter().next().is_some()
    }

    /// Leaves the seat, and wakes who waits for the events and the timers.
    pub(crate) fn leave(self) {
        let Self { poller, mut events } = self;
        let wake = poller.dispatch(&mut events);
        // Before the lock is released: whoever sits next says so after this.
        poller.bell.seated.store(false, Ordering::Relaxed);
        drop(events);
        poller.leave_timers();
        poller.want_guard();
        wake_all(wake);
        poller.note_look();
        poller.fire(0);
    }
}

/// Wakes outside of all locks. A waker that panics harms nobody else.
fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        quietly(|| waker.wake());
    }
}
