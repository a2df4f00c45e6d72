//! Virtual time, for runtimes that were made with
//! [`Builder::virtual_time`](crate::Builder::virtual_time).

use std::time::{Duration, Instant};

use crate::context;

/// Moves the time of the current runtime forward at once, and wakes all whose time has come. They
/// run as soon as they get their turn, which is after this has returned.
///
/// The time is moved in one go: a task that waits for the next second again and again sees one long
/// wait. To have everybody act at their time, wait: `sleep(duration).await` does the same step by
/// step.
///
/// # Panics
///
/// If the current runtime runs on the OS's time, or there is none.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::{sleep, test};
///
/// let runtime = windlass::Builder::new().virtual_time().build()?;
/// runtime.block_on(async {
///     let start = test::now();
///     let nap = sleep(Duration::from_secs(60));
///     test::advance(Duration::from_secs(90));
///     nap.await; // its time has come already
///     assert_eq!(test::now() - start, Duration::from_secs(90));
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn advance(duration: Duration) {
    let poller = context::try_pool(|pool| pool.poller().clone())
        .expect("no current runtime: call this within `block_on`, or enter one");
    assert!(
        poller.is_virtual(),
        "this runtime runs on the OS's time, which can't be moved: build it with `virtual_time`"
    );
    poller.advance(duration);
}

/// The time of the current runtime; the OS's outside of any. The same as
/// [`timer::now`](crate::timer::now).
pub fn now() -> Instant {
    super::api::now()
}
