//! Who can make things happen in a runtime with virtual time, beside its workers: threads in its `block_on`, and
//! closures of its blocking pool.
//!
//! A thread in `block_on` is *busy* from the moment it is woken until it waits again. If it got there from another
//! `block_on` of the same runtime, or from a closure of its blocking pool, it counts once: the outer poll, or the
//! closure, gets on only after the inner call has, so as long as that lasts it is set aside. The same goes for a worker
//! that got there by way of `block_in_place`.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Wake, Waker};

use super::Poller;
use crate::context::{self, Role};
use crate::primitives::Arc;
use crate::primitives::plain::{AtomicU64, AtomicUsize, Ordering as Plain};
use crate::sched::Pool;

/// The counts of one runtime.
#[derive(Default)]
pub(super) struct Outside {
    /// Threads in `block_on` that are being polled or were woken.
    busy: AtomicUsize,
    /// How often one has become so.
    turns: AtomicU64,
    /// Closures of the blocking pool that are in `block_on`.
    set_aside: AtomicUsize,
    /// Workers that are in `block_on`, by way of `block_in_place`.
    workers: AtomicUsize,
}

impl Outside {
    /// How many workers wait in `block_on`, or are in its polls, which are counted as such.
    pub(super) fn workers(&self) -> usize {
        self.workers.load(Plain::SeqCst)
    }

    pub(super) fn turns(&self) -> u64 {
        self.turns.load(Plain::SeqCst)
    }
}

impl Poller {
    /// True if no thread but the calling one, which may be in `block_on`, makes anything happen.
    pub(crate) fn is_quiet_outside(&self, pool: &Pool) -> bool {
        let outside = &self.outside;
        let turns = outside.turns();
        let busy = outside.busy.load(Plain::SeqCst);
        let blocking = pool.blocking.counts();
        let waiting = blocking.idle + outside.set_aside.load(Plain::SeqCst);
        busy == usize::from(is_here(self))
            && blocking.queued == 0
            && waiting == blocking.threads
            // Whoever has begun to count in between has been seen in part.
            && turns == outside.turns()
    }
}

thread_local! {
    // The turns of the calls of `block_on` that this thread is in, the innermost last.
    static TURNS: RefCell<Vec<Arc<Turn>>> = const { RefCell::new(Vec::new()) };
}

/// True if this thread is in the `block_on` of a runtime with that poller.
fn is_here(poller: &Poller) -> bool {
    let is_own = |turn: &Arc<Turn>| std::ptr::eq(&raw const *turn.poller, poller);
    TURNS.try_with(|turns| turns.borrow().iter().any(is_own)).unwrap_or(false)
}

/// Runs a future on the calling thread, which counts as busy except while it waits.
pub(crate) fn block_on<F: Future>(pool: &Arc<Pool>, future: F) -> F::Output {
    let mut future = pin!(future);
    let stay = Stay::new(pool);
    let turn = &stay.turn;
    let mut own: Option<(Waker, std::sync::Arc<TurnWaker>)> = None;
    windlass_sync::block_on(poll_fn(|cx| {
        let kept = own.take().filter(|(waker, _)| waker.will_wake(cx.waker()));
        let (_, waker) = own.insert(kept.unwrap_or_else(|| {
            let inner = cx.waker().clone();
            let waker = TurnWaker { inner: inner.clone(), turn: turn.clone() };
            (inner, std::sync::Arc::new(waker))
        }));
        turn.begin();
        let waker = Waker::from(waker.clone());
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            turn.pause();
        }
        polled
    }))
}

/// A thread that is about to be in `block_on`: it counts as busy, in virtual time, until this is dropped.
pub(crate) struct Expected(Option<Arc<Poller>>);

impl Expected {
    pub(crate) fn new(pool: &Pool) -> Self {
        let poller = pool.poller().is_virtual().then(|| pool.poller().clone());
        if let Some(poller) = &poller {
            poller.outside.busy.fetch_add(1, Plain::SeqCst);
            poller.outside.turns.fetch_add(1, Plain::SeqCst);
        }
        Self(poller)
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        if let Some(poller) = &self.0 {
            poller.outside.busy.fetch_sub(1, Plain::SeqCst);
            poller.kick();
        }
    }
}

/// The time that a thread is in `block_on`, also if the future panics, and whoever keeps its wakers.
struct Stay {
    turn: Arc<Turn>,
    around: Around,
}

/// What the thread would count as besides.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    BlockOn,
    Closure,
    Task,
}

impl Stay {
    /// The thread counts from now on.
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
        let turn = Arc::new(Turn { state: AtomicUsize::new(RUNNING), poller: poller.clone() });
        // Counted before the other is set aside, and the other way round in the end: who looks finds one of them.
        turn.count();
        match around {
            Around::Nothing => {}
            Around::BlockOn => _ = poller.outside.busy.fetch_sub(1, Plain::SeqCst),
            Around::Closure => _ = poller.outside.set_aside.fetch_add(1, Plain::SeqCst),
            Around::Task => _ = poller.outside.workers.fetch_add(1, Plain::SeqCst),
        }
        let _ = TURNS.try_with(|turns| turns.borrow_mut().push(turn.clone()));
        Self { turn, around }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let _turn = TURNS.try_with(|turns| turns.borrow_mut().pop());
        self.turn.begin();
        let outside = &self.turn.poller.outside;
        match self.around {
            Around::Nothing => {}
            Around::BlockOn => _ = outside.busy.fetch_add(1, Plain::SeqCst),
            Around::Closure => _ = outside.set_aside.fetch_sub(1, Plain::SeqCst),
            Around::Task => _ = outside.workers.fetch_sub(1, Plain::SeqCst),
        }
        self.turn.end();
    }
}

const IDLE: usize = 0;
const RUNNING: usize = 1;
const WOKEN: usize = 2;
/// For good: whoever kept a waker may still use it.
const ENDED: usize = 3;

/// Counts a thread in `block_on` from the moment it is woken until it waits again.
struct Turn {
    state: AtomicUsize,
    poller: Arc<Poller>,
}

impl Turn {
    fn begin(&self) {
        if self.state.swap(RUNNING, Plain::SeqCst) == IDLE {
            self.count();
        }
    }

    fn wake(&self) {
        let woken = |state| (state != ENDED).then_some(WOKEN);
        if self.state.fetch_update(Plain::SeqCst, Plain::SeqCst, woken) == Ok(IDLE) {
            self.count();
        }
    }

    fn count(&self) {
        self.poller.outside.busy.fetch_add(1, Plain::SeqCst);
        self.poller.outside.turns.fetch_add(1, Plain::SeqCst);
    }

    /// The thread waits, unless it was woken in the meantime.
    fn pause(&self) {
        if self.state.compare_exchange(RUNNING, IDLE, Plain::SeqCst, Plain::SeqCst).is_ok() {
            self.uncount();
        }
    }

    fn end(&self) {
        if self.state.swap(ENDED, Plain::SeqCst) != IDLE {
            self.uncount();
        }
    }

    fn uncount(&self) {
        self.poller.outside.busy.fetch_sub(1, Plain::SeqCst);
        // Perhaps everything is idle now.
        self.poller.kick();
    }
}

struct TurnWaker {
    inner: Waker,
    turn: Arc<Turn>,
}

impl Wake for TurnWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.turn.wake();
        self.inner.wake_by_ref();
    }
}
