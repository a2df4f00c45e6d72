//! When many timers are due shortly after each other, they are better fired together.
//!
//! With 100,000 timers spread over a second, one is due every 10 µs. To wake up for each of them costs more
//! CPU time than all the rest. So when times of firing follow each other closely, the next is put off
//! until [`SPAN`] after the last, and if that has brought several timers together, so is the one
//! after it. If it has not (a task that naps for 50 µs, again and again), the timer was late for nothing,
//! and the next attempt has to wait twice as long.

use windlass_sync::primitives::plain::{AtomicU64, Ordering as Plain};

/// Firings that follow each other more closely than this, in nanoseconds, may be put together.
const CLOSE: u64 = 100_000;
/// The time between two firings that are put together.
const SPAN: u64 = 200_000;
/// Timers that a span has to bring together to have been worth it.
const WORTH: usize = 4;
/// So many firings in close succession before timers are put together; the least and the most.
const PATIENCE: (u32, u32) = (8, 4096);

/// Learns whether putting firings together pays.
#[derive(Debug)]
pub(crate) struct Pace {
    last: u64,
    close: u32,
    patience: u32,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { last: 0, close: 0, patience: PATIENCE.0 }
    }

    /// So many timers have fired. Gives the time of the last firing if the next is to be put off.
    pub(crate) fn fired(&mut self, now: u64, timers: usize) -> Option<u64> {
        let since = now.saturating_sub(self.last);
        if self.is_together() && since < 2 * SPAN {
            if timers < WORTH {
                self.patience = (self.patience * 2).min(PATIENCE.1);
                self.close = 0;
            } else {
                self.patience = PATIENCE.0;
                self.close = PATIENCE.0;
            }
        } else if since < CLOSE {
            self.close = self.close.saturating_add(1);
        } else {
            self.close = 0;
        }
        self.last = now;
        self.is_together().then_some(now)
    }

    fn is_together(&self) -> bool {
        self.close >= self.patience
    }
}

/// When to fire. Orders nothing: who reads an old value fires a little sooner or later.
#[derive(Debug)]
pub(crate) struct Gate(AtomicU64);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    pub(crate) fn set(&self, last: Option<u64>) {
        self.0.store(last.unwrap_or(u64::MAX), Plain::Relaxed);
    }

    /// When to fire what is due at `next`.
    pub(crate) fn ripe_at(&self, next: u64) -> u64 {
        let last = self.0.load(Plain::Relaxed);
        let is_close = last != u64::MAX && next < last.saturating_add(CLOSE);
        if is_close { last.saturating_add(SPAN) } else { next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace with its gate.
    struct Both(Pace, Gate);

    impl Both {
        fn new() -> Self {
            Self(Pace::new(), Gate::new())
        }

        fn fired(&mut self, now: u64, timers: usize) {
            self.1.set(self.0.fired(now, timers));
        }

        fn wake_at(&self, next: u64) -> u64 {
            self.1.ripe_at(next)
        }
    }

    #[test]
    fn a_single_short_sleeper_is_hardly_ever_late() {
        let (mut pace, mut now, mut late) = (Both::new(), 0, 0);
        for _ in 0..10_000 {
            let next = now + 50_000;
            now = pace.wake_at(next);
            late += u32::from(now > next);
            pace.fired(now, 1);
        }
        assert!(late < 20, "late {late} times");
    }

    #[test]
    fn a_crowd_is_fired_together() {
        let (mut pace, mut now, mut firings) = (Both::new(), 0, 0);
        while now < 1_000_000_000 {
            let next = now / 10_000 * 10_000 + 10_000;
            let then = pace.wake_at(next);
            pace.fired(then, ((then - now) / 10_000) as usize);
            now = then;
            firings += 1;
        }
        assert!((5_000..5_200).contains(&firings), "{firings}");
    }

    #[test]
    fn what_is_far_away_is_never_put_off() {
        let mut pace = Both::new();
        for time in 0..100 {
            pace.fired(time * 10_000, 10);
        }
        assert_eq!(pace.wake_at(5_000_000), 5_000_000);
    }
}
