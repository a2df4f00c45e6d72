//! What the poller's thread leaves to other threads: calling foreign wakers, and firing timers that have some.
//! `foreign.rs` says why, and what the threads say to each other.
//!
//! It asks a thread of the blocking pool. If all of them are busy, or the pool is closed, it starts a thread for this
//! alone, of which there are a few at most. If there is no thread to be had, it leaves what it has left and asks anew at
//! its next look. Until then it sleeps beside the seat: a timer that was left would end each wait there at once. It does
//! the same for closures that were accepted while the blocking pool asked the OS for the thread in vain.

use std::time::Duration;

use super::Poller;
use super::foreign::{ForeignWakers, set_hands_on};
use crate::blocking;
use crate::companion::{self, ThreadKind};
use crate::context::{self, Role};
use crate::entered::EnteredScope;
use crate::handle::Handle;
use crate::primitives::{Arc, AtomicUsize, Ordering};
use crate::sched::policy::{LEFT_PAUSE, WAKER_THREADS};
use crate::sched::{self, Pool};

/// How many threads there are that call wakers and do nothing else.
#[derive(Default)]
pub(super) struct WakerThreads(AtomicUsize);

impl WakerThreads {
    /// Returns true if there is none. What they have done is seen then.
    pub(super) fn are_none(&self) -> bool {
        // Acquire pairs with the Release in the drop of `Counted`.
        self.0.load(Ordering::Acquire) == 0
    }
}

/// A thread among the [`WakerThreads`], which is no longer counted when this is dropped.
struct Counted(Arc<Poller>);

impl Counted {
    /// Counts one more, if there may be one more. Called by the poller's thread alone.
    fn one_more(poller: &Arc<Poller>) -> Option<Self> {
        let WakerThreads(count) = &poller.waker_threads;
        // Relaxed: the number alone is read, and at worst one that ends is counted too long.
        if count.load(Ordering::Relaxed) >= WAKER_THREADS {
            return None;
        }
        count.fetch_add(1, Ordering::Relaxed);
        Some(Self(poller.clone()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `are_none`.
        self.0.waker_threads.0.fetch_sub(1, Ordering::Release);
    }
}

/// Sees to it, on the poller's thread, that foreign wakers are called.
pub(super) struct HandOn {
    /// How many were taken out of the list at the last look.
    taken: usize,
    /// Closures of the blocking pool wait for a thread that there was none to be had for.
    strands: bool,
}

impl HandOn {
    /// Has the current thread hand foreign wakers on from now on.
    pub(super) fn begin() -> Self {
        // In models wakers do not block.
        set_hands_on(cfg!(not(loom)));
        Self { taken: 0, strands: false }
    }

    /// Asks for a thread if something was left, or if wakers wait that nobody has taken since the last look.
    pub(super) fn look(&mut self, pool: &Arc<Pool>) {
        let foreign = &pool.poller().foreign;
        let taken = foreign.taken();
        let stands_still = std::mem::replace(&mut self.taken, taken) == taken;
        if foreign.is_left() || (stands_still && foreign.is_waiting()) || self.strands {
            self.ask(pool, foreign);
        }
    }

    /// Returns for how long the thread may sleep, and not in the seat, if it has left something that no thread has come
    /// for.
    pub(super) fn pause(&self, poller: &Poller) -> Option<Duration> {
        // In virtual time, no timer ends a wait in the seat.
        let waits = poller.foreign.is_left() || self.strands;
        (waits && !poller.is_virtual()).then_some(LEFT_PAUSE)
    }

    /// Asks a thread to call wakers and fire timers, unless one was asked that has not begun.
    fn ask(&mut self, pool: &Arc<Pool>, foreign: &ForeignWakers) {
        // Without this, a thread would be asked for at each look.
        if !foreign.asked.ask() {
            return;
        }
        foreign.left_to_another();
        self.strands = false;
        if blocking::call_wakers(pool) {
            return;
        }
        let strands = blocking::has_stranded(pool);
        if !start_thread(pool) {
            // Nobody was asked after all.
            foreign.asked.begin();
            foreign.leave();
            self.strands = strands;
        }
    }

    /// Called when the thread leaves, which has nobody to watch over any more: calls what no other thread has.
    pub(super) fn end(self, pool: &Pool) {
        set_hands_on(false);
        let foreign = &pool.poller().foreign;
        if foreign.is_left() || foreign.is_waiting() {
            call_wakers(pool);
        }
    }
}

/// Puts a waker into the list and asks for a thread to call it, as the poller's thread does.
#[cfg(any(loom, test))]
pub(crate) fn hand_on(pool: &Arc<Pool>, waker: std::task::Waker) {
    pool.poller().foreign.put([waker]);
    pool.poller().foreign.leave();
    HandOn { taken: 0, strands: false }.look(pool);
}

/// Starts a thread that calls wakers. Returns false if there are too many, or the OS refuses it.
fn start_thread(pool: &Arc<Pool>) -> bool {
    let Some(counted) = Counted::one_more(pool.poller()) else { return false };
    let name = format!("{}-wakers", pool.config.thread_name);
    let started = sched::start_thread(pool, name, |pool| {
        let _counted = counted;
        companion::surround(pool, ThreadKind::Blocking, || {
            let _entered = EnteredScope::enter(Handle::new(pool.clone()));
            call_wakers(pool);
            blocking::cancel_stranded(pool);
        });
    });
    started.is_ok()
}

/// Calls foreign wakers and fires timers in the place of the poller's thread.
pub(crate) fn call_wakers(pool: &Pool) {
    let outer = context::role();
    // What wakers may do, and where the tasks that they wake go, doesn't depend on the thread.
    context::set_role(Role::Poller);
    pool.poller().foreign.asked.begin();
    pool.poller().wake_foreign();
    pool.poller().fire_due();
    context::set_role(outer);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::sync::{Arc as StdArc, Mutex as StdMutex};
    use std::task::{Wake, Waker};

    use super::*;
    use crate::sched::{Config, Worker};
    use crate::shutdown;
    use crate::task::{JoinError, JoinHandle};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A waker that says that it was called, and then blocks.
    struct Blocks {
        called: Sender<()>,
        go_on: StdMutex<Receiver<()>>,
    }

    impl Wake for Blocks {
        fn wake(self: StdArc<Self>) {
            self.called.send(()).unwrap();
            let _ = self.go_on.lock().unwrap().recv_timeout(PATIENCE);
        }
    }

    /// Wakers that block until the first end is dropped, and who was called.
    struct Blocked {
        go_on: Vec<Sender<()>>,
        called: (Sender<()>, Receiver<()>),
    }

    impl Blocked {
        fn new() -> Self {
            Self { go_on: Vec::new(), called: mpsc::channel() }
        }

        fn waker(&mut self) -> Waker {
            let (go_on, waits) = mpsc::channel();
            self.go_on.push(go_on);
            let called = self.called.0.clone();
            Waker::from(StdArc::new(Blocks { called, go_on: StdMutex::new(waits) }))
        }

        #[track_caller]
        fn wait_for_call(&self) {
            self.called.1.recv_timeout(PATIENCE).expect("a waker was not called");
        }

        fn has_call(&self) -> bool {
            self.called.1.try_recv().is_ok()
        }
    }

    fn end(pool: &Arc<Pool>) {
        shutdown::begin(pool);
        Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
        assert!(pool.threads.join_all(Some(std::time::Instant::now() + PATIENCE), None));
    }

    #[track_caller]
    fn result_of(handle: JoinHandle<i32>) -> Result<i32, JoinError> {
        let (ended, has_ended) = mpsc::channel();
        let waits = std::thread::spawn(move || ended.send(crate::block_on(handle)));
        let result = has_ended.recv_timeout(PATIENCE).expect("a closure was forgotten");
        waits.join().unwrap().unwrap();
        result
    }

    /// Has threads of the blocking pool begin when the result is dropped.
    fn hold_threads(config: &mut Config) -> Sender<()> {
        let (start, started) = mpsc::channel::<()>();
        let started = StdMutex::new(started);
        let hook = move || _ = started.lock().unwrap().recv();
        config.hooks.thread_start = Some(StdArc::new(hook));
        start
    }

    /// A thread that takes its time to begin was joined by another one at each look of the poller's thread.
    #[test]
    fn one_thread_is_asked_at_a_time() {
        let mut start = None;
        let pool = Pool::for_tests_with(1, |config| {
            config.max_blocking = 8;
            start = Some(hold_threads(config));
        });
        let foreign = &pool.poller().foreign;
        let mut blocked = Blocked::new();
        let waker = blocked.waker();
        for _ in 0..5 {
            hand_on(&pool, waker.clone());
            assert_eq!(pool.blocking.counts().threads, 1, "it has not begun");
        }
        assert!(foreign.is_left() && foreign.is_waiting());

        drop(start);
        blocked.wait_for_call();
        hand_on(&pool, blocked.waker());
        assert_eq!(pool.blocking.counts().threads, 2, "the first is held up by what it calls");
        blocked.wait_for_call();
        drop(blocked);
        end(&pool);
    }

    /// The closure of a thread that had not begun was dropped, and no other thread was asked any more.
    #[test]
    fn a_thread_that_was_asked_calls_wakers_although_the_runtime_ends_before_it_begins() {
        let mut start = None;
        let pool = Pool::for_tests_with(1, |config| start = Some(hold_threads(config)));
        let mut blocked = Blocked::new();
        hand_on(&pool, blocked.waker());
        assert!(pool.blocking.close().is_empty(), "it is no closure");
        drop(start);
        blocked.wait_for_call();
        drop(blocked);
        end(&pool);
    }

    /// The poller's thread called it, and was blocked: the runtime had begun to end, and the blocking pool was closed.
    #[test]
    fn a_waker_that_blocks_at_the_end_does_not_block_the_thread_that_hands_it_on() {
        let pool = Pool::for_tests(1);
        shutdown::begin(&pool);
        let mut blocked = Blocked::new();
        let waker = blocked.waker();
        let (handed_on, is_handed_on) = mpsc::channel();
        let here = pool.clone();
        let thread = std::thread::spawn(move || {
            hand_on(&here, waker);
            handed_on.send(()).unwrap();
        });
        is_handed_on.recv_timeout(PATIENCE).expect("it calls the waker itself");
        blocked.wait_for_call();
        drop(blocked);
        thread.join().unwrap();
        end(&pool);
    }

    /// With as many threads in wakers as there may be, wakers are left until one of them comes back, and are called
    /// by the poller's thread itself when it leaves.
    #[test]
    fn what_no_thread_can_be_had_for_is_left_and_called_in_the_end() {
        let pool = Pool::for_tests_with(1, |config| config.max_blocking = 0);
        let foreign = &pool.poller().foreign;
        let mut blocked = Blocked::new();
        for _ in 0..WAKER_THREADS {
            hand_on(&pool, blocked.waker());
            blocked.wait_for_call();
        }
        assert!(!foreign.is_left() && !pool.poller().waker_threads.are_none());
        let mut hand_on_at_last = HandOn { taken: 0, strands: false };
        assert!(hand_on_at_last.pause(pool.poller()).is_none());
        for _ in 0..2 {
            hand_on(&pool, blocked.waker());
            assert!(foreign.is_left() && foreign.is_waiting() && !blocked.has_call());
            assert!(hand_on_at_last.pause(pool.poller()).is_some());
        }
        // These need not wait for anybody.
        blocked.go_on.truncate(WAKER_THREADS);
        hand_on_at_last.look(&pool);
        assert!(!blocked.has_call(), "there is still no thread");
        hand_on_at_last.end(&pool);
        assert!(!foreign.is_waiting());
        (0..2).for_each(|_| blocked.wait_for_call());
        drop(blocked);
        end(&pool);
        assert!(pool.poller().waker_threads.are_none());
    }

    /// A closure was accepted because the poller's thread was about to start a thread; the OS refused it, and the
    /// closure stayed in the queue.
    #[test]
    fn a_closure_whose_thread_was_refused_is_run_or_cancelled() {
        let pool = Pool::for_tests_with(1, |config| config.max_blocking = 1);
        let handle = blocking::tests::strand(&pool, || 7);
        HandOn { taken: 0, strands: true }.look(&pool);
        assert_eq!(result_of(handle).unwrap(), 7, "a thread was there the next time");
        end(&pool);

        let pool = Pool::for_tests_with(1, |config| config.max_blocking = 1);
        let handle = blocking::tests::strand(&pool, || 7);
        assert!(start_thread(&pool), "the thread for wakers is not refused");
        assert!(result_of(handle).unwrap_err().is_cancelled());
        end(&pool);
    }

    /// The wakers for whom the thread was wanted may be gone the next time.
    #[test]
    fn a_thread_is_asked_for_until_there_is_one_for_a_stranded_closure() {
        let pool = Pool::for_tests_with(1, |config| {
            config.max_blocking = 1;
            // The OS refuses every thread.
            config.stack_size = Some(isize::MAX as usize / 2);
        });
        let handle = blocking::tests::strand(&pool, || 7);
        let foreign = &pool.poller().foreign;
        let mut hand_on = HandOn { taken: 0, strands: false };
        foreign.leave();
        for _ in 0..3 {
            hand_on.look(&pool);
            assert!(hand_on.strands && hand_on.pause(pool.poller()).is_some());
            foreign.left_to_another();
            assert!(hand_on.pause(pool.poller()).is_some(), "others have called the wakers");
        }
        end(&pool);
        assert!(result_of(handle).unwrap_err().is_cancelled());
    }
}
