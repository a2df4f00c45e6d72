//! Ticks at a steady pace.

use std::task::{Context, Poll};
use std::time::Duration;

use windlass::timer::MissedTick;

use super::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    #[default]
    Burst,
    Delay,
    Skip,
}

#[derive(Debug)]
pub struct Interval {
    inner: windlass::timer::Interval,
}

#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    let mut inner = windlass::timer::interval_at(start.into_std(), period);
    inner.set_missed_tick(MissedTick::Burst);
    Interval { inner }
}

impl Interval {
    pub async fn tick(&mut self) -> Instant {
        Instant::from_std(self.inner.tick().await)
    }

    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        self.inner.poll_tick(cx).map(Instant::from_std)
    }

    pub fn reset(&mut self) {
        self.inner.reset();
    }

    pub fn reset_immediately(&mut self) {
        self.inner.reset_at(windlass::timer::now());
    }

    pub fn reset_after(&mut self, after: Duration) {
        let deadline = Instant::now().checked_add(after).unwrap_or_else(Instant::far_future);
        self.reset_at(deadline);
    }

    pub fn reset_at(&mut self, deadline: Instant) {
        self.inner.reset_at(deadline.into_std());
    }

    pub fn period(&self) -> Duration {
        self.inner.period()
    }

    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        match self.inner.missed_tick() {
            MissedTick::Burst => MissedTickBehavior::Burst,
            MissedTick::Delay => MissedTickBehavior::Delay,
            _ => MissedTickBehavior::Skip,
        }
    }

    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.inner.set_missed_tick(match behavior {
            MissedTickBehavior::Burst => MissedTick::Burst,
            MissedTickBehavior::Delay => MissedTick::Delay,
            MissedTickBehavior::Skip => MissedTick::Skip,
        });
    }
}
