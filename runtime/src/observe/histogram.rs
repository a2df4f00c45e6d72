//! Log-linear histograms: what is counted while the runtime runs, and what a reader gets.
//!
//! Each power of two is divided into four buckets, so a value is known to within a fifth of itself. Every thread that
//! counts has histograms of its own, written with plain stores; a reader adds them up.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use crate::primitives::plain::{AtomicU64, Ordering};

/// Buckets of a histogram. The last is for everything from 2³⁷ on, which is two minutes if the unit is a nanosecond.
pub(crate) const BUCKETS: usize = bucket_of(1 << 37) + 1;

/// Returns the bucket of a value.
const fn bucket_of(value: u64) -> usize {
    if value < 4 {
        return value as usize;
    }
    let octave = 63 - value.leading_zeros();
    let quarter = (value >> (octave - 2)) & 3;
    ((octave as usize - 1) << 2) | quarter as usize
}

/// Returns the largest value of a bucket; of the last, `u64::MAX`.
fn upper_bound(bucket: usize) -> u64 {
    if bucket + 1 >= BUCKETS {
        return u64::MAX;
    }
    lower_bound(bucket + 1) - 1
}

/// Returns the smallest value of a bucket.
fn lower_bound(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let (octave, quarter) = ((bucket >> 2) as u32 + 1, bucket as u64 & 3);
    (4 + quarter) << (octave - 2)
}

/// A histogram that is being written.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Made for the first value, because many stay empty. Not in place: an [`Observed`](super::Observed) with all of its histograms would be
    /// too large for a small stack while it is made.
    counts: OnceLock<Box<[AtomicU64]>>,
    sum: AtomicU64,
    max: AtomicU64,
}

impl Recorder {
    fn count_of(&self, value: u64) -> &AtomicU64 {
        let none = || (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        &self.counts.get_or_init(none)[bucket_of(value).min(BUCKETS - 1)]
    }

    /// Counts a value that stands for `weight` values. Called by the only writer.
    pub(crate) fn record(&self, value: u64, weight: u64) {
        let add = |to: &AtomicU64, more: u64| {
            to.store(to.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        };
        add(self.count_of(value), weight);
        add(&self.sum, value.wrapping_mul(weight));
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
    }

    /// Counts a value. Called by any thread.
    pub(crate) fn record_shared(&self, value: u64) {
        self.count_of(value).fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
        self.max.fetch_max(value, Ordering::Relaxed);
    }
}

/// The sum of any number of recorders.
#[derive(Clone, Default)]
struct Merged {
    counts: Vec<u64>,
    sum: u64,
    max: u64,
}

impl Merged {
    fn add(&mut self, recorder: &Recorder) {
        self.counts.resize(BUCKETS, 0);
        let counts = recorder.counts.get().map_or(&[][..], |counts| counts);
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count.load(Ordering::Relaxed);
        }
        self.sum = self.sum.wrapping_add(recorder.sum.load(Ordering::Relaxed));
        self.max = self.max.max(recorder.max.load(Ordering::Relaxed));
    }

    fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn quantile(&self, q: f64) -> u64 {
        let count = self.count();
        if count == 0 {
            return 0;
        }
        let rank = (q.clamp(0.0, 1.0) * count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for (bucket, &here) in self.counts.iter().enumerate() {
            below += here;
            if below >= rank {
                return upper_bound(bucket).min(self.max);
            }
        }
        self.max
    }

    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        counts.filter(|(_, count)| **count > 0).map(|(bucket, count)| (upper_bound(bucket), *count))
    }
}

/// A histogram of durations.
///
/// A value is known to within a fifth of itself, the largest exactly. A sampled value is weighted by the number of
/// values it represents, so [`count`](Self::count) may be an estimate. The docs of each field of
/// [`Metrics`](crate::Metrics) say whether it is sampled.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let runtime = windlass::Runtime::new()?;
/// runtime.block_on(windlass::timer::sleep(Duration::from_millis(1)));
/// let polls = runtime.metrics().poll_time;
/// println!("{} polls, median {:?}, longest {:?}", polls.count(), polls.quantile(0.5), polls.max());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Histogram(Merged);

impl Histogram {
    /// Returns the sum of these recorders, whose values are nanoseconds.
    pub(crate) fn of<'a>(recorders: impl IntoIterator<Item = &'a Recorder>) -> Self {
        let mut merged = Merged::default();
        recorders.into_iter().for_each(|recorder| merged.add(recorder));
        Self(merged)
    }

    /// Returns how many values were counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// let polls = runtime.metrics().poll_time;
    /// println!("some {} polls so far", polls.count());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// Returns the sum of all values.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// let polls = runtime.metrics().poll_time;
    /// println!("{:?} in polls", polls.sum());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.0.sum)
    }

    /// Returns the largest value, or zero if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// let polls = runtime.metrics().poll_time;
    /// println!("the longest poll took {:?}", polls.max());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max)
    }

    /// Returns a value that the given fraction of all values does not exceed: 0.5 for the median, 0.99 for the 99th
    /// percentile. Returns zero if there are no values.
    ///
    /// # Examples
    ///
    /// ```
    /// let polls = windlass::Runtime::new()?.metrics().poll_time;
    /// assert!(polls.quantile(0.5) <= polls.quantile(0.99));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn quantile(&self, q: f64) -> Duration {
        Duration::from_nanos(self.0.quantile(q))
    }

    /// Returns the buckets that contain values, from the shortest time to the longest: for each, the longest time that
    /// falls into it, and the number of values in it.
    ///
    /// # Examples
    ///
    /// ```
    /// let polls = windlass::Runtime::new()?.metrics().poll_time;
    /// assert_eq!(polls.buckets().map(|(_, count)| count).sum::<u64>(), polls.count());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.0.buckets().map(|(bound, count)| (Duration::from_nanos(bound), count))
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .finish()
    }
}

/// A histogram of counts; otherwise like [`Histogram`].
///
/// # Examples
///
/// ```
/// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
/// assert!(ready.quantile(0.5) <= ready.max());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct CountHistogram(Merged);

impl CountHistogram {
    /// Returns the sum of these recorders.
    pub(crate) fn of<'a>(recorders: impl IntoIterator<Item = &'a Recorder>) -> Self {
        Self(Histogram::of(recorders).0)
    }

    /// Returns how many values were counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
    /// println!("{} looks at the queue", ready.count());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// Returns the sum of all values.
    ///
    /// # Examples
    ///
    /// ```
    /// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
    /// println!("on average {}", ready.sum() / ready.count().max(1));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sum(&self) -> u64 {
        self.0.sum
    }

    /// Returns the largest value, or zero if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
    /// println!("at most {} tasks were ready", ready.max());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn max(&self) -> u64 {
        self.0.max
    }

    /// Returns a value that the given fraction of all values does not exceed, or zero if there are no values.
    ///
    /// # Examples
    ///
    /// ```
    /// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
    /// assert!(ready.quantile(0.5) <= ready.quantile(0.99));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn quantile(&self, q: f64) -> u64 {
        self.0.quantile(q)
    }

    /// Returns the buckets that contain values: for each, the largest value that falls into it, and the number of
    /// values in it.
    ///
    /// # Examples
    ///
    /// ```
    /// let ready = windlass::Runtime::new()?.metrics().ready_tasks;
    /// for (at_most, times) in ready.buckets() {
    ///     println!("{times} times up to {at_most}");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.buckets()
    }
}

impl fmt::Debug for CountHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountHistogram")
            .field("count", &self.count())
            .field("p50", &self.quantile(0.5))
            .field("max", &self.max())
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_between_the_bounds_of_its_bucket_and_those_are_close() {
        let near_powers = (0..37).flat_map(|power| {
            let power = 1u64 << power;
            [power - 1, power, power + 1, power + power / 3]
        });
        for value in near_powers.chain(0..5_000) {
            let bucket = bucket_of(value);
            let (low, high) = (lower_bound(bucket), upper_bound(bucket));
            assert!(low <= value && value <= high, "{low} <= {value} <= {high}");
            assert!(value < 4 || high - low <= low / 4, "{low}..{high}");
        }
        assert_eq!(upper_bound(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn what_has_no_bucket_of_its_own_falls_into_the_last() {
        let recorder = Recorder::default();
        recorder.record(u64::MAX, 1);
        recorder.record_shared(1 << 60);
        let histogram = CountHistogram::of([&recorder]);
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(u64::MAX, 2)]);
        assert_eq!(histogram.quantile(0.1), u64::MAX, "the largest value, at most");
    }

    #[test]
    fn quantiles_of_several_recorders_are_those_of_all_values() {
        let [first, second] = [Recorder::default(), Recorder::default()];
        (1..=50).for_each(|value| first.record(value * 1_000, 1));
        second.record(100_000, 50);
        let histogram = Histogram::of([&first, &second]);
        assert_eq!(histogram.count(), 100);
        let median = histogram.quantile(0.5).as_micros();
        assert!((50..=60).contains(&median), "{median} µs");
        assert_eq!(histogram.quantile(0.99), Duration::from_micros(100));
        assert_eq!(histogram.max(), Duration::from_micros(100));
        assert_eq!(histogram.sum(), Duration::from_micros(50 * 51 / 2 + 5_000));
        assert_eq!(Histogram::default().quantile(0.9), Duration::ZERO);
    }
}
