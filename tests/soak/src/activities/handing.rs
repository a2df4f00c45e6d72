//! Handing things over: nothing gets lost on the way, and nothing comes twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use windlass::sync::{AutoResetEvent, CancellationToken, Latch};
use windlass::task::cooperative;
use windlass::{channel, lock};

use super::abandon::abandon;
use crate::house::House;
use crate::ledger::{LEDGER, count};
use crate::random::Random;

/// Messages from many to many.
pub(crate) async fn channels(house: House, mut random: Random) {
    let (sender, receiver) = channel::bounded::<u64>(random.within(1..16));
    let sent = Arc::new(AtomicUsize::new(0));
    let producers: Vec<_> = (0..random.within(1..5))
        .map(|_| {
            let (sender, sent, mut random) = (sender.clone(), sent.clone(), random.fork());
            house.spawn(async move {
                for _ in 0..random.within(1..200) {
                    if cooperative(sender.send(random.next())).await.is_err() {
                        return;
                    }
                    sent.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    drop(sender);
    let received = Arc::new(AtomicUsize::new(0));
    let consumers: Vec<_> = (0..random.within(1..4))
        .map(|_| {
            let (receiver, received) = (receiver.clone(), received.clone());
            house.spawn(async move {
                while cooperative(receiver.recv()).await.is_ok() {
                    received.fetch_add(1, SeqCst);
                    count(&LEDGER.signals, 1);
                }
            })
        })
        .collect();
    drop(receiver);
    let mut all = true;
    for task in producers.into_iter().chain(consumers) {
        all &= task.join().await;
    }
    let lost = sent.load(SeqCst) - received.load(SeqCst).min(sent.load(SeqCst));
    house.check(!all || lost == 0, "a message got lost");
}

/// A ball between two tasks, whose waits are dropped and begun again.
pub(crate) async fn events(house: House, mut random: Random) {
    let pair = Arc::new((AutoResetEvent::new(false), AutoResetEvent::new(false)));
    let turns = random.within(1..200);
    let player = |first: bool, mut random: Random| {
        let pair = pair.clone();
        house.spawn(async move {
            let (mine, other) = if first { (&pair.0, &pair.1) } else { (&pair.1, &pair.0) };
            for _ in 0..turns {
                if first {
                    other.set();
                }
                while abandon(mine.wait(), random.within(0..2)).await.is_none() {
                    count(&LEDGER.abandoned, 1);
                }
                if !first {
                    other.set();
                }
                count(&LEDGER.signals, 1);
            }
        })
    };
    // Aborted together: the one would wait for the other for ever.
    let (first, second) = (player(true, random.fork()), player(false, random.fork()));
    let _guards = (first.guard(), second.guard());
    first.join().await;
    second.join().await;
}

/// Latches that open when all have counted, freed by the one that waits.
pub(crate) async fn latches(house: House, mut random: Random) {
    for _ in 0..random.within(1..30) {
        let number = random.within(0..12);
        let latch = Arc::new(Latch::new(number));
        let counters: Vec<_> = (0..number)
            .map(|_| {
                let latch = latch.clone();
                house.spawn(async move { latch.count_down() })
            })
            .collect();
        if number > 0 && random.chance(30) {
            let _ = abandon(latch.wait(), 0).await;
        }
        latch.wait().await;
        house.always(latch.is_open(), "a latch lets through before it is open");
        drop(latch);
        for counter in counters {
            counter.join().await;
        }
        count(&LEDGER.signals, number);
    }
}

/// Trees of tokens, cancelled somewhere.
pub(crate) async fn cancellation(house: House, mut random: Random) {
    for _ in 0..random.within(1..10) {
        let root = CancellationToken::new();
        let mut tokens = vec![root.clone()];
        for _ in 0..random.within(1..20) {
            let parent = random.within(0..tokens.len());
            tokens.push(tokens[parent].child_token());
        }
        let tasks: Vec<_> = tokens
            .iter()
            .map(|token| {
                let token = token.clone();
                house.spawn(async move { token.cancelled().await })
            })
            .collect();
        tokens[random.within(0..tokens.len())].cancel();
        // If this is aborted, so are all who wait.
        let _guard = root.drop_guard();
        if random.chance(50) {
            windlass::yield_now().await;
        }
        tokens[0].cancel();
        for task in tasks {
            task.join().await;
            count(&LEDGER.signals, 1);
        }
    }
}

/// Permits of a semaphore: never more than there are, all there at the end.
pub(crate) async fn permits(house: House, mut random: Random) {
    let most = random.within(1..5);
    let semaphore = Arc::new(lock::Semaphore::new(most));
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..random.within(1..30))
        .map(|_| {
            let (semaphore, inside) = (semaphore.clone(), inside.clone());
            let (ours, mut random) = (house.clone(), random.fork());
            house.spawn(async move {
                for _ in 0..random.within(1..10) {
                    let acquired = abandon(semaphore.acquire(), random.within(0..3)).await;
                    let Some(_permit) = acquired else {
                        count(&LEDGER.abandoned, 1);
                        continue;
                    };
                    let _inside = Inside::new(&inside);
                    let number = inside.load(SeqCst);
                    ours.always(number <= most, "more permits than there are");
                    windlass::yield_now().await;
                    count(&LEDGER.signals, 1);
                }
            })
        })
        .collect();
    for task in tasks {
        task.join().await;
    }
}

struct Inside<'a>(&'a AtomicUsize);

impl<'a> Inside<'a> {
    fn new(place: &'a AtomicUsize) -> Self {
        place.fetch_add(1, SeqCst);
        Self(place)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
