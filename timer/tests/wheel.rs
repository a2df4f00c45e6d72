//! Compares the wheel with a sorted list: whichever timers are armed, cancelled and fired, both agree.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use windlass_timer::{Key, Wheel};

/// A waker that logs its number.
struct Note {
    number: u64,
    log: Arc<Mutex<Vec<u64>>>,
}

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.log.lock().unwrap().push(self.number);
    }
}

/// A wheel, and the list that it has to agree with.
#[derive(Default)]
struct Pair {
    wheel: Wheel,
    /// Ordered by time, then by the order of arming.
    list: BTreeMap<(u64, u64), Key>,
    log: Arc<Mutex<Vec<u64>>>,
    next: u64,
    now: u64,
}

impl Pair {
    fn arm(&mut self, deadline: u64) {
        let number = self.next;
        self.next += 1;
        let waker = Waker::from(Arc::new(Note { number, log: self.log.clone() }));
        let key = self.wheel.insert(deadline, waker);
        self.list.insert((deadline, number), key);
    }

    fn cancel(&mut self, which: usize) {
        if self.list.is_empty() {
            return;
        }
        let at = *self.list.keys().nth(which % self.list.len()).unwrap();
        let key = self.list.remove(&at).unwrap();
        assert!(self.wheel.remove(key).is_some());
    }

    fn reset(&mut self, which: usize, deadline: u64) {
        if self.list.is_empty() {
            return;
        }
        let at = *self.list.keys().nth(which % self.list.len()).unwrap();
        let key = self.list.remove(&at).unwrap();
        assert!(self.wheel.reset(&key, deadline).is_some());
        self.list.insert((deadline, at.1), key);
    }

    #[track_caller]
    fn advance(&mut self, time: u64) {
        self.advance_by(time, usize::MAX);
    }

    /// Advances in batches of `most` timers.
    #[track_caller]
    fn advance_by(&mut self, time: u64, most: usize) {
        self.now = self.now.max(time);
        let mut fired = Vec::new();
        loop {
            let before = fired.len();
            let more = self.wheel.advance_some(self.now, most, &mut fired);
            assert!(fired.len() - before <= most);
            if !more {
                break;
            }
            let earliest = self.wheel.next_deadline().unwrap_or(0);
            assert!(
                earliest <= self.now || fired.len() - before == most,
                "more, but nothing is due"
            );
        }
        fired.into_iter().for_each(Waker::wake);
        let mut expected = Vec::new();
        while let Some((&(deadline, number), _)) = self.list.first_key_value() {
            if deadline > self.now {
                break;
            }
            expected.push(number);
            let (_, key) = self.list.pop_first().unwrap();
            assert!(!self.wheel.is_armed(&key));
            assert!(self.wheel.remove(key).is_none());
        }
        let mut got = std::mem::take(&mut *self.log.lock().unwrap());
        // A timer whose time is past when it is armed counts as due at that moment.
        expected.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, expected, "at {}", self.now);
        assert_eq!(self.wheel.len(), self.list.len());
        match (self.wheel.next_deadline(), self.list.first_key_value()) {
            (None, None) => {}
            (Some(next), Some((&(earliest, _), _))) => {
                assert!(next <= earliest, "would be late: {next} > {earliest}");
                assert!(next > self.now || earliest > self.now);
            }
            other => panic!("{other:?}"),
        }
        let earliest = self.list.first_key_value().map(|(&(deadline, _), _)| deadline);
        assert_eq!(self.wheel.earliest(), earliest);
    }
}

/// A small generator of random numbers, which are the same in every run.
struct Random(AtomicU64);

impl Random {
    fn next(&self) -> u64 {
        let mut x = self.0.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.store(x, Ordering::Relaxed);
        x
    }

    /// Returns a number, spread evenly over the orders of magnitude.
    fn span(&self) -> u64 {
        self.next() >> (self.next() % 64)
    }
}

/// The number of seeds to try: more of them if `scripts/fuzz` says so.
fn seeds(usual: u64) -> u64 {
    std::env::var("WINDLASS_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_steps_agree_with_a_sorted_list() {
    for seed in 1..=seeds(20) {
        let random = Random(AtomicU64::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)));
        let mut pair = Pair::default();
        for _ in 0..100_000 {
            match random.next() % 10 {
                0..=3 => pair.arm(pair.now.saturating_add(random.span() >> 8)),
                4 => pair.arm(random.span()),
                5 => pair.cancel(random.next() as usize % 64),
                6 => pair.advance(pair.now.saturating_add(random.span() >> 24)),
                7 => {
                    let deadline = pair.now.saturating_add(random.span() >> 8);
                    pair.reset(random.next() as usize % 64, deadline);
                }
                8 => {
                    let time = pair.now.saturating_add(random.span() >> 24);
                    pair.advance_by(time, 1 + random.next() as usize % 8);
                }
                _ => {
                    let next = pair.wheel.next_deadline();
                    pair.advance(next.unwrap_or(0).min(pair.now + (1 << 44)));
                }
            }
        }
        pair.advance(u64::MAX);
        assert!(pair.wheel.is_empty());
    }
}

#[test]
fn every_boundary_between_slots_and_levels_fires_on_time() {
    let starts = [0, 1, (1 << 12) - 1, 1 << 12, (1 << 18) - 1, (1 << 18) + 5, (1 << 40) - 1];
    for start in starts {
        for bit in 0..63 {
            for offset in [-1_i64, 0, 1] {
                let mut pair = Pair::default();
                pair.advance(start);
                let deadline = start.saturating_add((1_u64 << bit).saturating_add_signed(offset));
                pair.arm(deadline);
                pair.advance(deadline.saturating_sub(1));
                pair.advance(deadline);
                assert!(pair.wheel.is_empty());
            }
        }
    }
}

#[test]
fn equal_deadlines_fire_in_the_order_of_arming_across_cascades() {
    let mut pair = Pair::default();
    let deadline = (3 << 30) + 12_345;
    for number in 0..200 {
        pair.arm(deadline);
        // The later ones are armed at ever closer times, on ever lower levels.
        let mut none = Vec::new();
        pair.wheel.advance(deadline - 1 - ((deadline - 1) >> (number / 8)), &mut none);
        assert!(none.is_empty());
    }
    let mut fired = Vec::new();
    pair.wheel.advance(deadline, &mut fired);
    fired.into_iter().for_each(Waker::wake);
    assert!(pair.log.lock().unwrap().is_sorted());
    assert_eq!(pair.log.lock().unwrap().len(), 200);
}

#[test]
fn the_end_of_time_is_an_ordinary_deadline() {
    let mut pair = Pair::default();
    pair.arm(u64::MAX);
    pair.arm(0);
    pair.advance(0);
    assert_eq!(pair.wheel.len(), 1);
    pair.advance(u64::MAX - 1);
    assert_eq!(pair.wheel.len(), 1);
    pair.advance(u64::MAX);
    assert!(pair.wheel.is_empty());
}

#[test]
fn a_timer_that_has_fired_keeps_its_place_until_it_is_removed() {
    let mut wheel = Wheel::new();
    let old = wheel.insert(1, Waker::noop().clone());
    wheel.advance(1, &mut Vec::new());
    assert!(!wheel.is_armed(&old) && wheel.is_empty());
    let new = wheel.insert(5, Waker::noop().clone());
    assert_ne!(old, new);
    assert!(wheel.replace_waker(&old, Waker::noop().clone()).is_err());
    assert!(wheel.reset(&old, 7).is_none());
    assert!(wheel.remove(old).is_none());
    assert!(wheel.is_armed(&new));
    assert_eq!((wheel.len(), wheel.next_deadline()), (1, Some(5)));
}

#[test]
fn due_timers_that_are_not_yet_taken_out_can_be_cancelled_and_moved() {
    let mut pair = Pair::default();
    for _ in 0..10 {
        pair.arm(5);
    }
    let mut fired = Vec::new();
    assert!(pair.wheel.advance_some(10, 2, &mut fired));
    assert_eq!((fired.len(), pair.wheel.len(), pair.wheel.next_deadline()), (2, 8, Some(5)));
    let mut keys: Vec<Key> = std::mem::take(&mut pair.list).into_values().collect();
    assert!(pair.wheel.reset(&keys[3], 20).is_some());
    assert!(pair.wheel.reset(&keys[0], 20).is_none(), "it has fired");
    assert!(pair.wheel.remove(keys.remove(2)).is_some());
    // Armed for the past meanwhile.
    pair.arm(3);
    fired.clear();
    pair.wheel.advance(10, &mut fired);
    assert_eq!((fired.len(), pair.wheel.len(), pair.wheel.next_deadline()), (7, 1, Some(20)));
}

#[test]
fn a_burst_gives_its_memory_back_when_all_are_removed() {
    let mut wheel = Wheel::new();
    for _ in 0..2 {
        let waker = Waker::noop();
        let keys: Vec<Key> = (0..5_000).map(|time| wheel.insert(time, waker.clone())).collect();
        wheel.advance(u64::MAX, &mut Vec::new());
        assert!(wheel.is_empty() && !keys.iter().any(|key| wheel.is_armed(key)));
        for key in keys {
            assert!(wheel.take_garbage().is_none(), "a timer was not removed");
            assert!(wheel.remove(key).is_none());
        }
        assert!(wheel.take_garbage().is_some());
        assert!(wheel.take_garbage().is_none());
    }
}

#[test]
fn a_crowded_slot_is_looked_at_in_time() {
    // More timers than are scanned for the next deadline, all late in one slot.
    let mut pair = Pair::default();
    for number in 0..100 {
        pair.arm((7 << 12) + 4_000 + number % 50);
    }
    while let Some(next) = pair.wheel.next_deadline() {
        let time = next.max(pair.now + 1);
        pair.advance(time);
    }
    assert!(pair.list.is_empty());
}

#[test]
fn a_batch_is_a_bounded_piece_of_work_however_full_a_slot_is() {
    let timers = 50_000;
    // All in one slot that is hours away, and there spread over hours, over half of a slot of the base,
    // or not at all.
    for spread in [1_u64 << 42, 1 << 11, 1] {
        let mut wheel = Wheel::new();
        let deadline = |number: u64| (1 << 46) + number * 7919 % spread;
        for number in 0..timers {
            wheel.insert(deadline(number), Waker::noop().clone());
        }
        let (mut empty_batches, mut total) = (0, 0);
        loop {
            let mut fired = Vec::new();
            let more = wheel.advance_some(u64::MAX, 128, &mut fired);
            assert!(fired.len() <= 128);
            total += fired.len() as u64;
            if total == 0 {
                empty_batches += 1;
            }
            if !more {
                break;
            }
        }
        assert_eq!(total, timers);
        // Had all of the slot been moved in one go, the first batch would have fired something.
        assert!(empty_batches >= timers / 1_000, "{empty_batches} batches for {timers} timers");
    }
}

#[test]
fn timers_armed_cancelled_and_moved_while_a_slot_cascades_keeps_the_order() {
    // If the slot begins later than the time below, it does not cascade.
    let mut cascaded = 0;
    for seed in 1..=30 {
        let random = Random(AtomicU64::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)));
        let mut pair = Pair::default();
        let begin = 1_u64 << (13 + seed);
        // Few different times, so that many are equal, and slots crowded on all levels.
        let time = |random: &Random| begin + (1 << 12) + (random.next() % 40) * (1 << (seed % 13));
        for _ in 0..3_000 {
            pair.arm(time(&random));
        }
        let (mut fired, mut batches) = (Vec::new(), 0);
        // The slot cascades in batches. No timer is due yet.
        while pair.wheel.advance_some(begin, 1, &mut fired) {
            batches += 1;
            assert!(pair.wheel.next_deadline().unwrap() <= begin);
            for _ in 0..20 {
                match random.next() % 4 {
                    0 | 1 => pair.arm(time(&random)),
                    2 => pair.cancel(random.next() as usize % 64),
                    _ => {
                        // Behind all that are armed for its new time, as if it were new.
                        let which = random.next() as usize % 64;
                        let at = *pair.list.keys().nth(which).unwrap();
                        let key = pair.list.remove(&at).unwrap();
                        assert!(pair.wheel.remove(key).is_some());
                        pair.arm(time(&random));
                    }
                }
            }
            assert_eq!(pair.wheel.earliest().unwrap(), pair.list.first_key_value().unwrap().0.0);
        }
        assert!(fired.is_empty());
        cascaded += usize::from(batches > 5);
        let expected: Vec<u64> = pair.list.keys().map(|(_, number)| *number).collect();
        // From here on no timer is armed, but a batch may end anywhere.
        let last = pair.list.last_key_value().unwrap().0.0;
        let mut now = begin;
        while now < last {
            now += random.next() % (1 << (seed % 13 + 3));
            while pair.wheel.advance_some(now, 1 + random.next() as usize % 100, &mut fired) {}
        }
        fired.into_iter().for_each(Waker::wake);
        assert_eq!(*pair.log.lock().unwrap(), expected, "seed {seed}");
    }
    assert!(cascaded >= 20, "{cascaded} slots cascaded in batches");
}
