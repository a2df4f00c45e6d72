//! What all timer futures have in common: a timer that is armed or not.

use std::task::{Context, Poll, ready};

use windlass_sync::primitives::Arc;

use crate::host::host;
use crate::shard::{Outcome, Shard};
use crate::wheel::Key;

/// When a timer is due, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    At(u64),
    /// Counted from the first poll that has to wait.
    After(u64),
}

/// A timer that is armed from its first poll on, if that has to wait, until it is dropped.
#[derive(Debug)]
pub(crate) struct Wait {
    armed: Option<Armed>,
}

#[derive(Debug)]
struct Armed {
    shard: Arc<Shard>,
    key: Key,
}

impl Wait {
    pub(crate) const fn new() -> Self {
        Self { armed: None }
    }

    /// Ready when the time has come. Arms the timer otherwise, on the runtime that is current now, and
    /// makes `when` absolute.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, when: &mut When) -> Poll<()> {
        let host = host();
        ready!(host.proceed(cx));
        let outcome = self.armed.as_ref().map(|armed| armed.shard.poll(armed.key, cx.waker()));
        match outcome {
            Some(Outcome::Pending) => return Poll::Pending,
            Some(Outcome::Fired) => {
                self.armed = None;
                host.spend();
                return Poll::Ready(());
            }
            // Its runtime is gone. Another will do.
            Some(Outcome::Closed) => self.armed = None,
            None => {}
        }
        let mut due = false;
        host.offer(&mut |shard| {
            let now = shard.now();
            let deadline = match *when {
                When::At(deadline) => deadline,
                When::After(time) => now.saturating_add(time),
            };
            *when = When::At(deadline);
            if deadline <= now {
                due = true;
                return true;
            }
            let key = shard.arm(deadline, cx.waker().clone()).ok();
            self.armed = key.map(|key| Armed { shard: shard.clone(), key });
            self.armed.is_some()
        });
        // With neither, nobody has taken it: the task runs on a runtime that is shutting down, and is
        // being cancelled.
        if due {
            host.spend();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Moves the timer to another time. If it is armed it stays so, with the waker it has.
    pub(crate) fn reset(&mut self, deadline: u64) {
        let Some(Armed { shard, key }) = &self.armed else { return };
        if shard.reset(*key, deadline) != Outcome::Pending {
            self.armed = None;
        }
    }

    /// Disarms the timer.
    #[inline]
    pub(crate) fn disarm(&mut self) {
        if let Some(Armed { shard, key }) = self.armed.take() {
            // The waker is dropped here, after the lock.
            drop(shard.cancel(key));
        }
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.disarm();
    }
}
