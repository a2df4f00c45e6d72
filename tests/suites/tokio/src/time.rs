//! Timers.

mod instant;
mod interval;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
pub use std::time::Duration;

pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
use pin_project_lite::pin_project;
pub use windlass::timer::Timeout;
use windlass::timer::test as virtual_time;

pub mod error {
    pub use windlass::timer::Elapsed;
}

pin_project! {
    pub struct Sleep {
        inner: windlass::timer::Sleep,
        // For a sleep whose deadline is further away than the clock reaches.
        deadline: Instant,
        #[pin]
        pinned: PhantomPinned,
    }
}

impl Sleep {
    fn of(inner: windlass::timer::Sleep) -> Self {
        let deadline = inner.deadline().map_or_else(Instant::far_future, Instant::from_std);
        Self { inner, deadline, pinned: PhantomPinned }
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn is_elapsed(&self) -> bool {
        self.deadline <= Instant::now()
    }

    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        this.inner.reset(deadline.into_std());
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(self.project().inner).poll(cx)
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").finish_non_exhaustive()
    }
}

#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::of(windlass::timer::sleep(duration))
}

#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::of(windlass::timer::sleep_until(deadline.into_std()))
}

#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    windlass::timer::timeout(duration, future)
}

#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    windlass::timer::timeout_at(deadline.into_std(), future)
}

/// Whether the test has stopped the clock. The runtime of a test that does so runs in virtual time from the start.
static PAUSED: AtomicBool = AtomicBool::new(false);

#[track_caller]
pub fn pause() {
    // Panics if the time is not virtual.
    virtual_time::advance(Duration::ZERO);
    assert!(!PAUSED.swap(true, Ordering::Relaxed), "time is already frozen");
}

#[track_caller]
pub fn resume() {
    crate::missing("`time::resume`: whether time is virtual is decided when a runtime is built")
}

pub async fn advance(duration: Duration) {
    virtual_time::advance(duration);
    crate::task::yield_now().await;
}
