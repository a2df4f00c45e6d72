//! The poller: the OS's readiness and the next deadline, turned into wake-ups.
//!
//! Workers look at the OS themselves. A busy worker does so without blocking, after each round of its queue. There is
//! one *seat* ([`seat`]): a worker that falls asleep blocks in it if it is free, and is parked otherwise. Workers push
//! what they find onto their own queues, so that an event costs no hand-over between threads. The poller's thread
//! ([`thread`]) watches over the workers, and looks at the OS when none of them can.
//!
//! Windows has no events to take: its callbacks tell the sources ([`sys`]). There, and in virtual time, the seat
//! belongs to the poller's thread.

mod clock;
mod deadlines;
mod foreign;
mod hand_on;
#[cfg(loom)]
pub(crate) mod model;
pub(crate) mod outside_activity;
mod registration;
mod seat;
mod slab;
mod source;
mod sys;
mod thread;
mod until;
mod virtual_time;

use std::io;
use std::task::Waker;
use std::time::{Duration, Instant};

pub(crate) use clock::Clock;
pub(crate) use deadlines::fires;
pub(crate) use hand_on::call_wakers;
#[cfg(loom)]
pub(crate) use hand_on::hand_on;
pub use registration::Registration;
pub(crate) use seat::Seat;
pub use source::{Direction, Seen};
pub(crate) use sys::{
    CpuTimes, DROP_GRACE, RunDelay, cpu_time_of_thread, keep_time, keeping_time, peer,
    take_short_slices,
};
pub use sys::{Descriptor, RawDescriptor, os};
#[cfg(loom)]
pub(crate) use thread::look_after_os;
pub(crate) use thread::start;

use windlass_sync::ManualResetEvent;
use windlass_timer::Timers;

use deadlines::TimerDriver;
use foreign::ForeignWakers;
use hand_on::WakerThreads;
use slab::{Slab, Token};
use source::Source;
use sys::{Events, Selector, push};
use thread::ThreadSleep;

use crate::gone::gone;
use crate::observe::Recorder;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, Mutex, TryLock};
use crate::task::quietly;

/// The shared half of a runtime's poller.
pub(crate) struct Poller {
    /// True if there are no workers, but a manual loop.
    manual: bool,
    selector: Arc<Selector>,
    clock: Arc<Clock>,
    timers: Timers,
    outside: outside_activity::OutsideActivity,
    sources: Mutex<Slab>,
    /// Held by the one thread that waits on the OS, or takes events without waiting.
    events: TryLock<Events>,
    registered: AtomicUsize,
    foreign: ForeignWakers,
    waker_threads: WakerThreads,
    /// How late timers were that other threads than workers have fired.
    pub(crate) lateness: Box<Recorder>,
    thread: ThreadSleep,
}

impl Poller {
    /// Creates a poller for this many workers; with `manual`, for a manual loop.
    pub(crate) fn new(workers: usize, manual: bool, clock: Clock) -> io::Result<Arc<Self>> {
        let (selector, clock) = (Arc::new(Selector::new()?), Arc::new(clock));
        let driver = TimerDriver::new(&selector, &clock, manual);
        Ok(Arc::new(Self {
            manual,
            timers: Timers::new(workers, Box::new(driver)),
            selector,
            clock,
            outside: outside_activity::OutsideActivity::default(),
            sources: Mutex::new(Slab::default()),
            events: TryLock::new(Events::new()),
            registered: AtomicUsize::new(0),
            foreign: ForeignWakers::default(),
            waker_threads: WakerThreads::default(),
            lateness: Box::default(),
            thread: ThreadSleep::new(),
        }))
    }

    fn register(
        &self,
        descriptor: Descriptor<'_>,
        source: Arc<Source>,
    ) -> io::Result<(Token, RawDescriptor)> {
        let Some(token) = self.sources.lock().insert(source.clone()) else {
            return Err(gone("the runtime is shutting down"));
        };
        self.registered.fetch_add(1, Plain::Relaxed);
        if let Err(error) = push::register(&self.selector, descriptor, token.pack(), &source) {
            self.forget(token);
            return Err(error);
        }
        let raw = sys::raw(descriptor);
        source.set_number(sys::number(raw));
        Ok((token, raw))
    }

    fn deregister(&self, token: Token, descriptor: RawDescriptor) {
        push::deregister(&self.selector, descriptor, token.pack());
        self.forget(token);
    }

    fn forget(&self, token: Token) {
        // The source is dropped after the lock: its wakers may run user code.
        let _source = self.sources.lock().remove(token);
        self.registered.fetch_sub(1, Plain::Relaxed);
    }

    /// Returns true for the poller of a manual loop, which has no thread.
    pub(crate) fn is_manual(&self) -> bool {
        self.manual
    }

    /// Returns true if there are sources, whose events have to be taken from the OS.
    pub(crate) fn has_events_to_take(&self) -> bool {
        !push::PUSHES && self.has_sources()
    }

    /// Returns the number of registered descriptors.
    pub(crate) fn registered(&self) -> usize {
        self.registered.load(Plain::Relaxed)
    }

    fn has_sources(&self) -> bool {
        self.registered() > 0
    }

    /// Takes the available events and fires the timers that are due, without blocking. Wakes the tasks that wait for
    /// them. Returns the number of events and timers.
    pub(crate) fn poll(&self) -> usize {
        self.poll_events() + self.fire_due()
    }

    /// Like [`poll`](Self::poll), but without timers. Takes no events if another thread is doing so.
    pub(crate) fn poll_events(&self) -> usize {
        let woken = self.wake_foreign();
        if !self.has_events_to_take() {
            return woken;
        }
        let Some(mut events) = self.events.try_lock() else { return woken };
        // The only errors there are mean that the instance is broken beyond repair.
        let _ = self.selector.wait(&mut events, Some(Duration::ZERO));
        let (taken, wake) = self.dispatch(&mut events);
        drop(events);
        self.wake(wake);
        woken + taken
    }

    /// Hands the events to their sources, once. Returns their number, and the wakers to be woken.
    fn dispatch(&self, events: &mut Events) -> (usize, Vec<Waker>) {
        let mut taken = 0;
        if events.iter().next().is_none() {
            return (taken, Vec::new());
        }
        // An event mostly wakes one task.
        let mut wake = Vec::with_capacity(events.iter().size_hint().1.unwrap_or(0));
        let sources = self.sources.lock();
        for (token, readiness) in events.iter() {
            sources.event(Token::unpack(token), readiness, &mut wake);
            taken += 1;
        }
        drop(sources);
        events.clear();
        (taken, wake)
    }

    /// Has a worker that blocks in the seat return. The kick is kept if the worker does not block yet.
    pub(crate) fn kick_seat(&self) {
        self.selector.kick();
    }

    /// Returns an event that is set through the queue of the OS's thread pool, if the OS has one.
    pub(crate) fn resume(&self) -> Option<io::Result<Arc<ManualResetEvent>>> {
        push::resume(&self.selector)
    }

    /// Called when the last thread has ended. Returns true if all activity has ended before the deadline.
    pub(crate) fn end(&self, deadline: Option<Instant>) -> bool {
        push::end(&self.selector, deadline)
    }

    /// Returns the descriptor that becomes readable when a manual loop has something to do.
    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.selector.descriptor()
    }

    /// Wakes all tasks that wait for an event or a timer, because none will come any more. Returns true if wakers wait
    /// to be called that may block.
    pub(crate) fn close(&self) -> bool {
        let mut wake = Vec::new();
        self.sources.lock().close(&mut wake);
        wake.extend(self.timers.close());
        let foreign = foreign::wake_own(wake);
        // Even if there are none: the lock shows what other threads have put there.
        self.foreign.put(foreign);
        self.foreign.is_waiting()
    }
}

/// Wakes the wakers outside of all locks. A worker queues the tasks in the order of their events. A waker that panics
/// does not affect the others.
fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    foreign::in_order(|| wakers.into_iter().for_each(|waker| quietly(|| waker.wake())));
}
