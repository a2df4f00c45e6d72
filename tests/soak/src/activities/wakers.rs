//! Wakers of our own, in the place of those of tasks: they throw, they take their time, and none is called too often or never.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use windlass::net::{TcpListener, TcpStream};
use windlass::task::unconstrained;
use windlass::timer::sleep;

use super::abandon::abandon;
use crate::awake;
use crate::house::{House, throw};
use crate::ledger::{LEDGER, PATIENCE, count, fail};
use crate::random::Random;

/// A waker that counts its calls, takes its time, and then perhaps throws.
struct Hostile {
    woken: AtomicUsize,
    pause: Duration,
    throws: bool,
}

impl Wake for Hostile {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, SeqCst);
        thread::sleep(self.pause);
        if self.throws {
            throw();
        }
    }
}

impl Hostile {
    fn new(pause: Duration, throws: bool) -> Arc<Self> {
        Arc::new(Self { woken: AtomicUsize::new(0), pause, throws })
    }

    /// Polls a future with this waker. Without a budget, because a future that finds none left calls its waker at once,
    /// and so within the task that polls it here.
    fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        let future = pin!(unconstrained(future));
        future.poll(&mut Context::from_waker(&Waker::from(self.clone())))
    }

    /// Waits until it has been called.
    async fn called(&self, house: &House) {
        let start = awake::now();
        while self.woken.load(SeqCst) == 0 && !house.is_ending() {
            if awake::since(start) > PATIENCE {
                fail("a waker is not called");
            }
            sleep(Duration::from_micros(500)).await;
        }
        count(&LEDGER.wakers, 1);
    }
}

/// Handles that are polled with such wakers, and given up; and a task that wakes itself.
pub(crate) async fn of_handles(house: House, mut random: Random) {
    for _ in 0..random.within(5..50) {
        let pause = random.micros(0..300);
        let mut handle = house.spawn(async move { sleep(pause).await }).into_handle();
        let hostile = Hostile::new(Duration::ZERO, random.chance(50));
        if hostile.poll(Pin::new(&mut handle)).is_pending() && random.chance(50) {
            // The waker of the last poll counts.
            let again = abandon(&mut handle, random.within(0..3)).await;
            count(&LEDGER.abandoned, usize::from(again.is_none()));
        }
        drop(handle);
        let most = hostile.woken.load(SeqCst);
        house.always(most <= 1, "a joiner's waker was woken twice");
    }
    // A task that wakes itself runs once more for each poll, no more.
    let turns = random.within(1..100);
    let mut polls = 0;
    let again = house.clone();
    let task = house.spawn(poll_fn(move |cx| {
        polls += 1;
        again.always(polls <= turns, "a task is polled after its end");
        if polls == turns {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        // Twice is once.
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    task.join().await;
}

/// Timers and sockets whose wakers hold up the thread that calls them.
pub(crate) async fn that_block(house: House, mut random: Random) {
    for _ in 0..random.within(1..8) {
        let hostile = Hostile::new(random.micros(0..8000), random.chance(30));
        if random.chance(50) {
            let mut wait = pin!(sleep(random.micros(0..2000)));
            if hostile.poll(wait.as_mut()).is_pending() {
                hostile.called(&house).await;
            }
        } else {
            let Some((near, far)) = pair(&house).await else { return };
            let mut buffer = [0];
            let mut read = pin!(far.read(&mut buffer));
            if hostile.poll(read.as_mut()).is_pending() {
                house.must(near.write_all(b"!").await);
                hostile.called(&house).await;
            }
        }
    }
}

async fn pair(house: &House) -> Option<(TcpStream, TcpStream)> {
    let listener = house.open(TcpListener::bind("127.0.0.1:0").await)?;
    let near = house.must(TcpStream::connect(house.must(listener.local_addr())?).await)?;
    let (far, _) = house.must(listener.accept().await)?;
    count(&LEDGER.connections, 1);
    Some((near, far))
}
