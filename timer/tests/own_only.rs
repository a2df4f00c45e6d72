//! A thread that must not be blocked fires the timers of its own tasks, and leaves the others where they are, in order.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, RawWakerVTable, Wake, Waker};
use std::time::{Duration, Instant};

use windlass_timer::{Driver, Host, ShardRef, Sleep, Timers, epoch, nanos};

/// The only runtime of this test. Its time stands still.
static TIMERS: OnceLock<Timers> = OnceLock::new();

struct Still(u64);

impl Driver for Still {
    fn now(&self) -> u64 {
        self.0
    }

    fn wake_timekeeper(&self) {}

    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        Some(own().vtable())
    }
}

struct Here;

impl Host for Here {
    fn offer(_: &Waker, mut take: impl FnMut(&ShardRef) -> bool) {
        take(timers().worker(0));
    }

    fn with_current<R>(see: impl FnOnce(&ShardRef) -> R) -> Option<R> {
        Some(see(timers().worker(0)))
    }
}

fn timers() -> &'static Timers {
    TIMERS.get_or_init(|| Timers::new(1, Box::new(Still(nanos(Instant::now())))))
}

/// A waker that counts as one of our own tasks'. Never inlined, so that all of them have one vtable.
#[inline(never)]
fn own() -> Waker {
    struct Own;
    impl Wake for Own {
        fn wake(self: Arc<Self>) {}
    }
    Waker::from(Arc::new(Own))
}

/// Notes its number when it is woken.
struct Note(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn timers_with_foreign_wakers_are_left_and_keep_their_order() {
    let timers = timers();
    let deadline = epoch() + Duration::from_nanos(timers.now()) + Duration::from_secs(1);
    let due = nanos(deadline);
    let log = Arc::new(Mutex::new(Vec::new()));
    let foreign = |number| Waker::from(Arc::new(Note(number, log.clone())));
    let wakers = [own(), own(), foreign(2), own(), foreign(4), foreign(5), own()];
    let mut sleeps: Vec<Sleep<Here>> = wakers.iter().map(|_| Sleep::until(deadline)).collect();
    let poll = |sleep: &mut Sleep<Here>, waker: &Waker| {
        Pin::new(sleep).poll(&mut Context::from_waker(waker))
    };
    for (sleep, waker) in sleeps.iter_mut().zip(&wakers) {
        assert!(poll(sleep, waker).is_pending());
    }
    let wake = |wakers: &mut Vec<Waker>| wakers.drain(..).for_each(Waker::wake);
    // The second time nothing is left to do, but it says again that another thread is needed.
    for fired in [2, 0] {
        assert_eq!(timers.fire_own(due, wake), (fired, true));
        assert!(timers.is_due(due) && timers.is_firing(due) && !timers.is_waking());
        assert!(log.lock().unwrap().is_empty());
    }
    assert_eq!(poll(&mut sleeps[1], &wakers[1]), Poll::Ready(()));
    assert_eq!(poll(&mut sleeps[2], &wakers[2]), Poll::Pending);
    assert_eq!(timers.fire(due, wake), 5);
    assert_eq!(*log.lock().unwrap(), [2, 4, 5]);
    assert_eq!(timers.fire_own(due, wake), (0, false));
}
