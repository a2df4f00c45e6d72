//! hyper's time-outs.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use windlass_runtime::timer;

/// Runs hyper's time-outs on the runtime's timers, including in virtual time.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use hyper::server::conn::http1;
/// use windlass_hyper::Timer;
///
/// let mut builder = http1::Builder::new();
/// builder.timer(Timer).header_read_timeout(Duration::from_secs(5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer;

impl Timer {
    /// Returns a timer. The plain value `Timer` does the same.
    ///
    /// # Examples
    ///
    /// ```
    /// let timer = windlass_hyper::Timer::new();
    /// # let _ = timer;
    /// ```
    pub const fn new() -> Self {
        Self
    }
}

/// A sleep for hyper.
struct Sleep(timer::Sleep);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl hyper::rt::Sleep for Sleep {}

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(timer::sleep(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(timer::sleep_until(deadline)))
    }

    fn now(&self) -> Instant {
        timer::now()
    }

    /// Moves the existing timer instead of creating a new one.
    fn reset(&self, sleep: &mut Pin<Box<dyn hyper::rt::Sleep>>, new_deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Sleep>() {
            Some(ours) => ours.get_mut().0.reset(new_deadline),
            None => *sleep = self.sleep_until(new_deadline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::rt::Timer as _;

    struct Foreign;

    impl Future for Foreign {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }

    impl hyper::rt::Sleep for Foreign {}

    #[test]
    fn a_reset_moves_the_deadline_of_ours_and_replaces_a_strangers() {
        windlass_runtime::block_on(async {
            let mut sleep = Timer.sleep(Duration::from_secs(3600));
            let before: *const dyn hyper::rt::Sleep = &*sleep;
            Timer.reset(&mut sleep, Timer.now() + Duration::from_millis(1));
            assert!(std::ptr::addr_eq(before, &*sleep), "it was made anew");
            sleep.await;
            let mut sleep: Pin<Box<dyn hyper::rt::Sleep>> = Box::pin(Foreign);
            Timer.reset(&mut sleep, Timer.now());
            sleep.await;
            Timer.sleep_until(Timer.now()).await;
        });
    }
}
