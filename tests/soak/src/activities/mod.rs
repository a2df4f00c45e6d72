//! What a runtime is kept busy with. Each activity ends by itself, and may be aborted at any await.

pub(crate) mod abandon;
pub(crate) mod pattern;

mod blocking;
mod computing;
mod datagrams;
mod draining;
mod handing;
mod streams;
mod tasks;
mod timers;
mod wakers;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::house::{GiveUp, House};
use crate::random::Random;
use crate::sys;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;
type Start = fn(House, Random) -> Boxed;

macro_rules! activities {
    ($($path:path,)*) => {
        const ALL: &[Start] = &[$(|house, random| Box::pin($path(house, random)),)*];
    };
}

activities! {
    tasks::trees,
    tasks::aborts,
    tasks::throwers,
    tasks::outside_threads,
    tasks::pinned,
    streams::echo,
    streams::storm,
    streams::resets,
    datagrams::ping_pong,
    sys::pair,
    sys::pipe,
    wakers::of_handles,
    wakers::that_block,
    timers::sleeps,
    timers::resets,
    timers::intervals,
    timers::time_outs,
    computing::joins,
    computing::scopes,
    computing::sorts,
    computing::throwers,
    computing::guests,
    blocking::closures,
    blocking::stuck,
    blocking::in_place,
    handing::channels,
    handing::events,
    handing::latches,
    handing::cancellation,
    handing::permits,
    draining::server,
}

/// An activity that is under way.
pub(crate) struct Activity {
    /// Dropped before the activity, whose tasks would otherwise take their partner's end for a fault.
    _give_up: GiveUp,
    running: Boxed,
}

impl Activity {
    /// Returns one of the activities.
    pub(crate) fn any(house: &House, random: &mut Random) -> Self {
        let (house, give_up) = house.for_activity();
        let start = ALL[random.within(0..ALL.len())];
        Self { _give_up: give_up, running: start(house, random.fork()) }
    }
}

impl Future for Activity {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.running.as_mut().poll(cx)
    }
}
