//! Control over virtual time, for runtimes built with [`Builder::virtual_time`](crate::Builder::virtual_time).

use std::time::{Duration, Instant};

use crate::context;

/// Moves the time of the current runtime forward at once, and wakes the tasks whose timers are due by then. They run
/// after this has returned.
///
/// The time moves in one step: a task that sleeps for one second in a loop sees a single long sleep. To let every timer
/// fire at its own time, call `sleep(duration).await` instead, which moves the time from deadline to deadline.
///
/// # Panics
///
/// Panics if the current runtime does not run in virtual time, or if there is none.
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
        "this runtime runs in real time, which can't be moved: build it with `Builder::virtual_time`"
    );
    poller.advance(duration);
}

/// Returns the time of the current runtime, or that of the OS outside of any. The same as
/// [`timer::now`](crate::timer::now).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::test;
///
/// let runtime = windlass::Builder::new().virtual_time().build()?;
/// runtime.block_on(async {
///     let start = test::now();
///     test::advance(Duration::from_secs(1));
///     assert_eq!(test::now() - start, Duration::from_secs(1));
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn now() -> Instant {
    super::api::now()
}
