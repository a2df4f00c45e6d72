//! Coalescing: timers that are due shortly after each other are fired together.
//!
//! With 100,000 timers spread over a second, one is due every 10 µs. Waking up for each of them costs more CPU time
//! than everything else. So if firings follow each other closely, the next one is delayed until
//! [`COALESCED_FIRINGS_APART`] after the last. If that fires several timers at once, the one after it is delayed as
//! well. If it does not, as with a task that sleeps for 50 µs again and again, the timer was late for nothing, and the
//! next attempt waits for twice as many close firings.

use windlass_sync::primitives::plain::{AtomicU64, Ordering as Plain};

use crate::nanos::in_nanos;
use crate::policy::{
    CLOSE_FIRINGS, CLOSE_FIRINGS_APART, COALESCED_FIRINGS_APART, WORTHWHILE_TIMERS,
};

/// Learns whether coalescing pays.
#[derive(Debug)]
pub(crate) struct Coalescer {
    /// The time of the last firing.
    last: u64,
    /// Close firings in a row.
    close: u32,
    /// The number of close firings from which on it coalesces.
    required: u32,
}

impl Coalescer {
    pub(crate) fn new() -> Self {
        Self { last: 0, close: 0, required: *CLOSE_FIRINGS.start() }
    }

    /// Notes that this many timers were fired. Returns the time of this firing if the next one should be delayed.
    pub(crate) fn fired(&mut self, now: u64, timers: usize) -> Option<u64> {
        let since = now.saturating_sub(self.last);
        if self.is_coalescing() && since < 2 * in_nanos(COALESCED_FIRINGS_APART) {
            if timers < WORTHWHILE_TIMERS {
                self.required = (self.required * 2).min(*CLOSE_FIRINGS.end());
                self.close = 0;
            } else {
                self.required = *CLOSE_FIRINGS.start();
                self.close = *CLOSE_FIRINGS.start();
            }
        } else if since < in_nanos(CLOSE_FIRINGS_APART) {
            self.close = self.close.saturating_add(1);
        } else {
            self.close = 0;
        }
        self.last = now;
        self.is_coalescing().then_some(now)
    }

    fn is_coalescing(&self) -> bool {
        self.close >= self.required
    }
}

/// The time of the last firing while firings are coalesced, to be read without a lock. It orders nothing: a thread
/// that reads an old value fires a little sooner or later.
#[derive(Debug)]
pub(crate) struct LastFiring(AtomicU64);

impl LastFiring {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    pub(crate) fn set(&self, last: Option<u64>) {
        self.0.store(last.unwrap_or(u64::MAX), Plain::Relaxed);
    }

    /// Returns the time at which to fire the timers that are due at `next`.
    pub(crate) fn fire_at(&self, next: u64) -> u64 {
        let last = self.0.load(Plain::Relaxed);
        let is_close =
            last != u64::MAX && next < last.saturating_add(in_nanos(CLOSE_FIRINGS_APART));
        if is_close { last.saturating_add(in_nanos(COALESCED_FIRINGS_APART)) } else { next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coalescer and the value that it publishes.
    struct Both(Coalescer, LastFiring);

    impl Both {
        fn new() -> Self {
            Self(Coalescer::new(), LastFiring::new())
        }

        fn fired(&mut self, now: u64, timers: usize) {
            self.1.set(self.0.fired(now, timers));
        }

        fn fire_at(&self, next: u64) -> u64 {
            self.1.fire_at(next)
        }
    }

    #[test]
    fn a_single_short_sleeper_is_hardly_ever_late() {
        let (mut coalescer, mut now, mut late) = (Both::new(), 0, 0);
        for _ in 0..10_000 {
            let next = now + 50_000;
            now = coalescer.fire_at(next);
            late += u32::from(now > next);
            coalescer.fired(now, 1);
        }
        assert!(late < 20, "late {late} times");
    }

    #[test]
    fn many_close_timers_are_fired_together() {
        let (mut coalescer, mut now, mut firings) = (Both::new(), 0, 0);
        while now < 1_000_000_000 {
            let next = now / 10_000 * 10_000 + 10_000;
            let then = coalescer.fire_at(next);
            coalescer.fired(then, ((then - now) / 10_000) as usize);
            now = then;
            firings += 1;
        }
        assert!((5_000..5_200).contains(&firings), "{firings}");
    }

    #[test]
    fn a_distant_timer_is_never_delayed() {
        let mut coalescer = Both::new();
        for time in 0..100 {
            coalescer.fired(time * 10_000, 10);
        }
        assert_eq!(coalescer.fire_at(5_000_000), 5_000_000);
    }
}
