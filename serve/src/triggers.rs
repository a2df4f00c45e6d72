//! What tells a server to end, and how often each has done so.
//!
//! The first request of a source begins the drain, and its second ends the drain at once. Each source counts its own
//! requests. If all were counted together, the first signal would end a drain at once that a hook of the supervisor has
//! begun, or that another trigger has begun because of the same signal. A switch is what it says: it ends a drain that
//! has begun in any way.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use windlass_os::signal::Termination;
use windlass_runtime::timer::now;

use crate::Switch;
use crate::policy::SAME_REQUEST;

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The triggers of a server that is set up.
#[derive(Default)]
pub(crate) struct Triggers {
    futures: Vec<BoxFuture>,
    signals: Vec<Termination>,
    switches: Vec<Switch>,
}

impl Triggers {
    /// Adds a future whose completion is a request. All such futures are one source.
    pub(crate) fn add(&mut self, future: impl Future<Output = ()> + Send + 'static) {
        self.futures.push(Box::pin(future));
    }

    pub(crate) fn add_signals(&mut self, signals: Termination) {
        self.signals.push(signals);
    }

    /// Adds the switch of a server that is followed.
    pub(crate) fn add_switch(&mut self, switch: Switch) {
        self.switches.push(switch);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.futures.append(&mut other.futures);
        self.signals.append(&mut other.signals);
        self.switches.append(&mut other.switches);
    }

    /// Returns the triggers of a server that runs, and is told by `switch`.
    pub(crate) fn armed(self, switch: Switch) -> Armed {
        let mut sources: Vec<BoxFuture> = Vec::new();
        for signals in self.signals {
            sources.push(Box::pin(hear(signals, Source::new(switch.clone()))));
        }
        for followed in self.switches {
            sources.push(Box::pin(follow(followed, switch.clone())));
        }
        Armed { futures: self.futures, completed: Source::new(switch), sources }
    }
}

/// The triggers of a server that runs.
pub(crate) struct Armed {
    futures: Vec<BoxFuture>,
    completed: Source,
    /// These count by themselves.
    sources: Vec<BoxFuture>,
}

impl Armed {
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        let Self { futures, completed, sources } = self;
        sources.retain_mut(|source| source.as_mut().poll(cx).is_pending());
        futures.retain_mut(|future| match future.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(()) => {
                completed.request();
                false
            }
        });
    }
}

/// One source of requests.
struct Source {
    switch: Switch,
    has_requested: bool,
}

impl Source {
    fn new(switch: Switch) -> Self {
        Self { switch, has_requested: false }
    }

    fn request(&mut self) {
        if mem::replace(&mut self.has_requested, true) {
            self.switch.end().cancel();
        } else {
            self.switch.token().cancel();
        }
    }
}

/// Passes on requests to end the process.
async fn hear(mut signals: Termination, mut source: Source) {
    let mut last = None;
    while signals.recv().await.is_some() {
        let repeated = |last| now().saturating_duration_since(last) < SAME_REQUEST;
        if !last.is_some_and(repeated) {
            last = Some(now());
            source.request();
        }
    }
}

/// Passes on what another server is told.
async fn follow(followed: Switch, switch: Switch) {
    followed.token().cancelled().await;
    switch.token().cancel();
    followed.end().cancelled().await;
    switch.end().cancel();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;
    use std::task::Waker;

    fn poll(armed: &mut Armed) {
        armed.poll(&mut Context::from_waker(Waker::noop()));
    }

    fn told(switch: &Switch) -> (bool, bool) {
        (switch.token().is_cancelled(), switch.end().is_cancelled())
    }

    #[test]
    fn the_second_of_the_futures_ends_the_drain() {
        let switch = Switch::default();
        let mut triggers = Triggers::default();
        triggers.add(ready(()));
        let mut other = Triggers::default();
        let signal = Switch::default();
        let second = signal.token().clone();
        other.add(async move { second.cancelled().await });
        triggers.append(other);
        let mut armed = triggers.armed(switch.clone());
        poll(&mut armed);
        assert_eq!(told(&switch), (true, false));
        signal.flip();
        poll(&mut armed);
        assert_eq!(told(&switch), (true, true));
    }

    #[test]
    fn the_first_request_of_a_source_ends_no_drain_that_another_has_begun() {
        let (switch, followed) = (Switch::default(), Switch::default());
        switch.flip();
        let mut triggers = Triggers::default();
        triggers.add(ready(()));
        triggers.add_switch(followed.clone());
        let mut armed = triggers.armed(switch.clone());
        followed.flip();
        poll(&mut armed);
        assert_eq!(told(&switch), (true, false));
        followed.flip();
        poll(&mut armed);
        assert_eq!(told(&switch), (true, true));
    }
}
