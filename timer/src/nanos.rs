//! Time as a number: nanoseconds since an epoch that all runtimes of the process share. 584 years of them
//! fit, and what lies beyond is [`NEVER`].

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::timekeeper::NEVER;

/// When the time began: well before the process did, where the clock can say that, for an interval may have
/// started in the past.
pub fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(|| {
        let now = Instant::now();
        // A year at the most. Some clocks begin when the machine is switched on: then at least half of the
        // time since that.
        let mut times = (0..=25).rev().map(|power| Duration::from_secs(1 << power));
        times.find_map(|time| now.checked_sub(time)).unwrap_or(now)
    })
}

/// A point in time; zero for all that lies before the [`epoch`].
#[inline]
pub fn nanos(time: Instant) -> u64 {
    in_nanos(time.saturating_duration_since(epoch()))
}

/// A duration.
#[inline]
pub fn in_nanos(duration: Duration) -> u64 {
    duration
        .as_secs()
        .checked_mul(1_000_000_000)
        .and_then(|nanos| nanos.checked_add(duration.subsec_nanos().into()))
        .unwrap_or(NEVER)
}

/// The way back; `None` for [`NEVER`], and for what the clock can't say.
pub(crate) fn instant(nanos: u64) -> Option<Instant> {
    if nanos == NEVER { None } else { epoch().checked_add(Duration::from_nanos(nanos)) }
}
