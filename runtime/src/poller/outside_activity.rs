//! Activity outside of the workers, counted in virtual time only: threads in the runtime's `block_on`, and closures of
//! its blocking pool.
//!
//! A thread in `block_on` is *busy* from the moment it is woken until it waits again. If the call is nested in another
//! `block_on` of the same runtime, or in a closure of its blocking pool, the thread counts once: the outer poll or
//! closure can't continue before the inner call returns, so it is set aside until then. The same holds for a worker
//! that calls `block_on` inside of `block_in_place`.
//!
//! # Protocol
//!
//! A thread is counted before the activity that it stands for can be observed: when it is woken, and when it enters
//! `block_on`, before whatever is around the call is set aside. It is counted out after it has decided to wait. So an
//! observer that finds all counts at rest, and the same number of `activations` before and after it has read them, has
//! seen no thread in transition. All accesses are `SeqCst`, because the observer reads several words and needs one
//! order for them.
//!
//! A model of a thread that is woken while the counts are read is in `loom-tests/tests/poller_outside.rs`. It needs no
//! time, which models don't have; `tests/timer_clock.rs` tests what virtual time does with the counts.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr;
use std::task::{Context, RawWakerVTable, Wake, Waker};

use super::Poller;
use crate::context::{self, Role};
use crate::primitives::plain::{AtomicPtr, Ordering as Plain};
use crate::primitives::{Arc, AtomicU64, AtomicUsize, Ordering, thread_local};
use crate::sched::Pool;

/// The counts of a runtime.
#[derive(Default)]
pub(super) struct OutsideActivity {
    /// Threads in `block_on` that are being polled or have been woken.
    busy: AtomicUsize,
    /// The number of times that a thread has become busy.
    activations: AtomicU64,
    /// Closures of the blocking pool that are in `block_on`.
    set_aside: AtomicUsize,
    /// Workers that are in `block_on` inside of `block_in_place`.
    workers: AtomicUsize,
}

impl OutsideActivity {
    /// Returns the number of workers that are in `block_on`, whose polls are counted as busy.
    pub(super) fn workers(&self) -> usize {
        self.workers.load(Ordering::SeqCst)
    }

    /// Returns how often a thread has become busy.
    pub(super) fn activations(&self) -> u64 {
        self.activations.load(Ordering::SeqCst)
    }
}

impl Poller {
    /// Returns true if no thread other than the calling one, which may be in `block_on`, is busy.
    pub(crate) fn is_quiet_outside(&self, pool: &Pool) -> bool {
        let outside = &self.outside;
        let activations = outside.activations();
        let busy = outside.busy.load(Ordering::SeqCst);
        let blocking = pool.blocking.counts();
        let waiting = blocking.idle + outside.set_aside.load(Ordering::SeqCst);
        busy == usize::from(is_here(self))
            && blocking.queued == 0
            && !blocking.calls_wakers
            && waiting == blocking.threads
            && self.waker_threads.are_none()
            // A thread that became busy meanwhile has been seen in part only.
            && activations == outside.activations()
    }

    fn add_busy(&self) {
        self.outside.busy.fetch_add(1, Ordering::SeqCst);
        self.outside.activations.fetch_add(1, Ordering::SeqCst);
    }

    fn remove_busy(&self) {
        self.outside.busy.fetch_sub(1, Ordering::SeqCst);
        // The runtime may be idle now.
        self.kick();
    }
}

#[allow(clippy::missing_const_for_thread_local, reason = "loom's macro takes no const")]
mod calls {
    use super::{Arc, BusyThread, RefCell, thread_local};

    thread_local! {
        // The calls of `block_on` that this thread is in, the innermost last.
        pub(super) static CALLS: RefCell<Vec<Arc<BusyThread>>> = RefCell::new(Vec::new());
    }
}
use calls::CALLS;

/// Returns true if this thread is in the `block_on` of the runtime with that poller.
fn is_here(poller: &Poller) -> bool {
    let is_own = |call: &Arc<BusyThread>| std::ptr::eq(&raw const *call.poller, poller);
    CALLS.try_with(|calls| calls.borrow().iter().any(is_own)).unwrap_or(false)
}

/// Runs a future on the calling thread, which is busy except while it waits.
pub(crate) fn block_on<F: Future>(pool: &Arc<Pool>, future: F) -> F::Output {
    let mut future = pin!(future);
    let stay = Stay::new(pool);
    let thread = &stay.thread;
    let mut own: Option<(Waker, std::sync::Arc<BusyWaker>)> = None;
    windlass_sync::block_on(poll_fn(|cx| {
        let kept = own.take().filter(|(waker, _)| waker.will_wake(cx.waker()));
        let (_, waker) = own.insert(kept.unwrap_or_else(|| {
            let inner = cx.waker().clone();
            let waker = BusyWaker { inner: inner.clone(), thread: thread.clone() };
            (inner, std::sync::Arc::new(waker))
        }));
        thread.begin();
        let waker = Waker::from(waker.clone());
        BUSY_WAKERS.store(ptr::from_ref(waker.vtable()).cast_mut(), Plain::Relaxed);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            thread.pause();
        }
        polled
    }))
}

/// The vtable of the wakers of `block_on`.
static BUSY_WAKERS: AtomicPtr<RawWakerVTable> = AtomicPtr::new(ptr::null_mut());

/// Returns true if `block_on` has made `waker`. Such a waker never blocks.
pub(super) fn is_busy_waker(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), BUSY_WAKERS.load(Plain::Relaxed))
}

/// A thread that has been started and will call `block_on`: it counts as busy, in virtual time, until this is dropped.
pub(crate) struct Expected(Option<Arc<Poller>>);

impl Expected {
    pub(crate) fn new(pool: &Pool) -> Self {
        let poller = pool.poller().is_virtual().then(|| pool.poller().clone());
        poller.iter().for_each(|poller| poller.add_busy());
        Self(poller)
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.0.iter().for_each(|poller| poller.remove_busy());
    }
}

/// A call of `block_on`. Dropping it ends the call, even after a panic and while others still hold its wakers.
struct Stay {
    thread: Arc<BusyThread>,
    around: Around,
}

/// The call or closure that a `block_on` is nested in.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    BlockOn,
    Closure,
    Task,
}

impl Stay {
    /// Counts the calling thread from now on.
    fn new(pool: &Arc<Pool>) -> Self {
        let poller = pool.poller();
        let around = if is_here(poller) {
            Around::BlockOn
        } else {
            match context::role() {
                Role::Blocking if context::is_thread_of(pool) => Around::Closure,
                Role::InPlace if context::is_thread_of(pool) => Around::Task,
                _ => Around::Nothing,
            }
        };
        let thread =
            Arc::new(BusyThread { state: AtomicUsize::new(RUNNING), poller: poller.clone() });
        // The call is counted before what is around it is set aside, and the other way round at the end, so that an
        // observer finds at least one of the two.
        poller.add_busy();
        match around {
            Around::Nothing => {}
            Around::BlockOn => _ = poller.outside.busy.fetch_sub(1, Ordering::SeqCst),
            Around::Closure => _ = poller.outside.set_aside.fetch_add(1, Ordering::SeqCst),
            Around::Task => _ = poller.outside.workers.fetch_add(1, Ordering::SeqCst),
        }
        let _ = CALLS.try_with(|calls| calls.borrow_mut().push(thread.clone()));
        Self { thread, around }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let _call = CALLS.try_with(|calls| calls.borrow_mut().pop());
        self.thread.begin();
        let outside = &self.thread.poller.outside;
        match self.around {
            Around::Nothing => {}
            Around::BlockOn => _ = outside.busy.fetch_add(1, Ordering::SeqCst),
            Around::Closure => _ = outside.set_aside.fetch_sub(1, Ordering::SeqCst),
            Around::Task => _ = outside.workers.fetch_sub(1, Ordering::SeqCst),
        }
        self.thread.end();
    }
}

const IDLE: usize = 0;
const RUNNING: usize = 1;
const WOKEN: usize = 2;
/// Never left again, even if a waker that was kept is used.
const ENDED: usize = 3;

/// Counts a thread in `block_on` from the moment it is woken until it waits again.
struct BusyThread {
    state: AtomicUsize,
    poller: Arc<Poller>,
}

impl BusyThread {
    fn begin(&self) {
        if self.state.swap(RUNNING, Ordering::SeqCst) == IDLE {
            self.poller.add_busy();
        }
    }

    fn wake(&self) {
        let woken = |state| (state != ENDED).then_some(WOKEN);
        if self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, woken) == Ok(IDLE) {
            self.poller.add_busy();
        }
    }

    /// Counts out the thread, which is about to wait, unless it was woken in the meantime.
    fn pause(&self) {
        if self.state.compare_exchange(RUNNING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.poller.remove_busy();
        }
    }

    fn end(&self) {
        if self.state.swap(ENDED, Ordering::SeqCst) != IDLE {
            self.poller.remove_busy();
        }
    }
}

struct BusyWaker {
    inner: Waker,
    thread: Arc<BusyThread>,
}

impl Wake for BusyWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.thread.wake();
        self.inner.wake_by_ref();
    }
}
