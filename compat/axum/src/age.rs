//! The end of a connection that has become old.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use windlass_runtime::timer::{Sleep, sleep};
use windlass_sync::CancellationToken;

use crate::policy::AGE_SPREAD;

/// A connection's age, and the token that tells it to end: because of its age, or because the server ends.
pub(crate) struct Age {
    told: CancellationToken,
    /// Until it has been told.
    left: Option<Sleep>,
}

impl Age {
    /// A connection that is told to end when `server` is cancelled, or when it is about `most` old.
    pub(crate) fn new(most: Duration, server: &CancellationToken) -> Self {
        // Of the standard library's random numbers, these are the ones that are to be had.
        let random = RandomState::new().hash_one(()) as u32;
        Self { told: server.child_token(), left: Some(sleep(spread(most, random))) }
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.told
    }

    /// Cancels the token when the time has come, and until then has the task woken for it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(left) = &mut self.left {
            if Pin::new(left).poll(cx).is_ready() {
                self.left = None;
                self.told.cancel();
            }
        }
    }
}

/// Returns an age up to a tenth less than `most`.
fn spread(most: Duration, random: u32) -> Duration {
    let earlier = (most / AGE_SPREAD).as_secs_f64() * f64::from(random) / f64::from(u32::MAX);
    most.saturating_sub(Duration::from_secs_f64(earlier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_spread_over_the_last_tenth() {
        let most = Duration::from_secs(100);
        assert_eq!(spread(most, 0), most);
        assert_eq!(spread(most, u32::MAX), Duration::from_secs(90));
        let middle = spread(most, u32::MAX / 2);
        assert!(middle > Duration::from_secs(94) && middle < Duration::from_secs(96), "{middle:?}");
        assert!(spread(Duration::MAX, u32::MAX) < Duration::MAX);
        assert_eq!(spread(Duration::ZERO, u32::MAX), Duration::ZERO);
    }
}
