//! Time as a number of nanoseconds since an epoch that all runtimes of the process share. A `u64` holds 584 years of
//! them; everything beyond is [`NEVER`].

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::timekeeper::NEVER;

/// Returns the time from which nanoseconds are counted.
///
/// It is well before the start of the process, if the clock can represent that, because an interval may have started in
/// the past.
///
/// ```
/// assert!(windlass_timer::epoch() <= std::time::Instant::now());
/// ```
pub fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(|| {
        let now = Instant::now();
        // At most a year ago. Some clocks start when the machine is switched on. Then this goes back at least half of
        // the time since.
        let mut times = (0..=25).rev().map(|power| Duration::from_secs(1 << power));
        times.find_map(|time| now.checked_sub(time)).unwrap_or(now)
    })
}

/// Returns a point in time in nanoseconds since the [`epoch`], or zero if it lies before that.
///
/// ```
/// use std::time::Duration;
/// use windlass_timer::{epoch, nanos};
///
/// assert_eq!(nanos(epoch() + Duration::from_micros(3)), 3_000);
/// ```
#[inline]
pub fn nanos(time: Instant) -> u64 {
    in_nanos(time.saturating_duration_since(epoch()))
}

/// Returns a duration in nanoseconds, or [`NEVER`] if it is too long.
///
/// ```
/// use std::time::Duration;
/// use windlass_timer::{NEVER, in_nanos};
///
/// assert_eq!(in_nanos(Duration::from_secs(2)), 2_000_000_000);
/// assert_eq!(in_nanos(Duration::MAX), NEVER);
/// ```
#[inline]
pub const fn in_nanos(duration: Duration) -> u64 {
    let Some(nanos) = duration.as_secs().checked_mul(1_000_000_000) else { return NEVER };
    match nanos.checked_add(duration.subsec_nanos() as u64) {
        Some(nanos) => nanos,
        None => NEVER,
    }
}

/// Converts nanoseconds back into a point in time. Returns `None` for [`NEVER`], and for times that the clock cannot
/// represent.
pub(crate) fn instant(nanos: u64) -> Option<Instant> {
    if nanos == NEVER { None } else { epoch().checked_add(Duration::from_nanos(nanos)) }
}
