//! Waiting, for all primitives: the future, its cancellation, and the blocking forms.
//!
//! A primitive implements [`Signal`], which defines what its state word means; [`Wait`] does the rest. Every primitive
//! relies on these rules:
//!
//! - No foreign code runs under the lock. A waker is cloned before it is taken, and dropped and woken after it is
//!   released.
//! - A wait that finds no budget at its first poll is put off, but only once. A future that is polled before it may use
//!   up the budget in every poll of the task, and the purpose of the wait may be to end that future. For the same
//!   reason a waiter that was released spends budget, but does not need any.
//! - A queued waiter is taken out by exactly one side: by the signaller, after which it is RELEASED and owns the
//!   signal, or by its own `drop`.
//! - A waiter that is dropped when it is RELEASED, but before it has returned, hands its signal back through
//!   [`Signal::pass_on`].

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::Parker;
use crate::blocking::with_parker;
use crate::budget;
use crate::primitives::Mutex;
use crate::waiters::{IDLE, PUT_OFF, QUEUED, RELEASED, Waiter, WaiterList};
use crate::waits::{self, WaitsFor};

/// A primitive that can be waited for.
///
/// # Safety
///
/// [`queue`](Self::queue) returns the same mutex each time it is called on a value, even after the value was moved.
pub(crate) unsafe trait Signal {
    /// The kind of this wait, for listings.
    const WAITS_FOR: WaitsFor;

    /// Returns the queue of the waiters.
    fn queue(&self) -> &Mutex<WaiterList>;

    /// Takes the signal if there is one. Called without the lock.
    fn try_take(&self) -> bool;

    /// Takes the signal if there is one. Otherwise announces a waiter in the state word, so that signallers go to the
    /// queue. Called under the lock.
    fn take_or_announce(&self) -> bool;

    /// Withdraws the announcement, because the last waiter has left. Called under the lock.
    fn withdraw(&self);

    /// Completes the release of a waiter. The waiter calls it without the lock, before it returns.
    fn settle(&self) {}

    /// Hands on the signal of a waiter that was released and dropped. Called without the lock.
    fn pass_on(&self) {}
}

/// The future behind every wait of this crate.
pub(crate) struct Wait<S: Signal> {
    signal: S,
    waiter: Waiter,
}

impl<S: Signal> Wait<S> {
    pub(crate) fn new(signal: S) -> Self {
        Self { signal, waiter: Waiter::new() }
    }

    fn ready(&self) -> Poll<()> {
        budget::spend();
        self.finish()
    }

    fn finish(&self) -> Poll<()> {
        self.waiter.finish();
        Poll::Ready(())
    }

    #[inline(never)]
    fn enqueue(self: Pin<&Self>, context: &Context<'_>) -> Poll<()> {
        let waker = context.waker().clone();
        let mut queue = self.signal.queue().lock();
        if self.signal.take_or_announce() {
            drop(queue);
            return self.ready();
        }
        // SAFETY: the waiter is IDLE or PUT_OFF (as its owner, who holds the only `Pin<&mut Self>`, has seen) and
        // pinned with us, it is used only with `signal`'s queue, and `drop` removes it.
        unsafe { queue.push_back(&self.get_ref().waiter, waker) };
        drop(queue);
        waits::note(S::WAITS_FOR);
        Poll::Pending
    }

    /// Replaces the waker if it is not the one of the last poll.
    #[inline(never)]
    fn update_waker(&self, context: &Context<'_>) -> Poll<()> {
        let queue = self.signal.queue().lock();
        // SAFETY: a waiter that has been seen QUEUED was pushed to this queue.
        let stale = unsafe { queue.wants_waker(&self.waiter, context.waker()) };
        drop(queue);
        if stale {
            let waker = context.waker().clone();
            // SAFETY: as above.
            let old = unsafe { self.signal.queue().lock().replace_waker(&self.waiter, waker) };
            drop(old);
        }
        match self.waiter.state() {
            RELEASED => self.released(),
            _ => {
                waits::note(S::WAITS_FOR);
                Poll::Pending
            }
        }
    }

    fn released(&self) -> Poll<()> {
        self.signal.settle();
        self.ready()
    }

    /// Has the task polled again after the others.
    #[cold]
    fn put_off(&self, context: &Context<'_>) -> Poll<()> {
        self.waiter.put_off();
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: Signal> Future for Wait<S> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref();
        let state = this.waiter.state();
        if state == IDLE {
            return match budget::take(|| this.signal.try_take()) {
                Some(true) => this.finish(),
                Some(false) => this.enqueue(context),
                None => this.put_off(context),
            };
        }
        match state {
            QUEUED => this.update_waker(context),
            RELEASED => this.released(),
            PUT_OFF => this.enqueue(context),
            _ => panic!("a wait of windlass-sync was polled after it had completed"),
        }
    }
}

impl<S: Signal> Drop for Wait<S> {
    #[inline]
    fn drop(&mut self) {
        match self.waiter.state() {
            QUEUED => cancel(&self.signal, &self.waiter),
            RELEASED => give_back(&self.signal),
            _ => {}
        }
    }
}

/// Takes a waiter that was QUEUED a moment ago out of its queue.
fn cancel<S: Signal>(signal: &S, waiter: &Waiter) {
    let mut queue = signal.queue().lock();
    // SAFETY: `Wait` uses its waiter only with this queue, and it has been seen QUEUED.
    let waker = unsafe { queue.remove(waiter) };
    if waker.is_some() && queue.is_empty() {
        signal.withdraw();
    }
    drop(queue);
    if waker.is_none() {
        give_back(signal);
    }
}

#[cold]
fn give_back<S: Signal>(signal: &S) {
    signal.settle();
    signal.pass_on();
}

/// Blocks the current thread until the signal has been taken.
pub(crate) fn wait_blocking<S: Signal>(signal: S) {
    if !signal.try_take() {
        wait_until(signal, None);
    }
}

/// Blocks the current thread until the signal has been taken, or `timeout` has passed. Returns true if it has been
/// taken.
pub(crate) fn wait_timeout<S: Signal>(signal: S, timeout: Duration) -> bool {
    // A time that the clock cannot represent never comes, so there is no deadline then.
    signal.try_take() || wait_until(signal, Instant::now().checked_add(timeout))
}

fn wait_until<S: Signal>(signal: S, deadline: Option<Instant>) -> bool {
    let wait = |parker: &Parker, waker: &Waker| {
        let mut wait = pin!(Wait::new(signal));
        let mut context = Context::from_waker(waker);
        while wait.as_mut().poll(&mut context).is_pending() {
            if !parker.park_until(deadline) {
                // The signal may have come together with the deadline. If it comes later, dropping the wait passes it
                // on.
                return wait.as_mut().poll(&mut context).is_ready();
            }
        }
        true
    };
    // A task that blocks its thread cannot let others run, so nothing is counted.
    budget::unconstrained(|| with_parker(wait))
}

impl<S: Signal> fmt::Debug for Wait<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.waiter.state() {
            IDLE => "not polled yet",
            PUT_OFF => "put off",
            QUEUED => "waiting",
            RELEASED => "released",
            _ => "done",
        })
    }
}

/// Defines a public future around a [`Wait`], so that the pin projection is written only once.
macro_rules! wait_future {
    ($(#[$meta:meta])* pub struct $name:ident $(<$life:lifetime>)? ($signal:ty);) => {
        $(#[$meta])*
        #[must_use = "futures do nothing unless awaited or polled"]
        pub struct $name $(<$life>)? {
            wait: $crate::wait::Wait<$signal>,
        }

        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) fn new(signal: $signal) -> Self {
                Self { wait: $crate::wait::Wait::new(signal) }
            }
        }

        impl $(<$life>)? std::future::Future for $name $(<$life>)? {
            type Output = ();

            #[inline(always)]
            fn poll(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<()> {
                // SAFETY: `wait` is pinned whenever the whole is: nothing moves it out, and the
                // type has neither a `Drop` nor an `Unpin` of its own.
                let wait = unsafe { self.map_unchecked_mut(|this| &mut this.wait) };
                wait.poll(context)
            }
        }

        impl $(<$life>)? std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.wait).finish()
            }
        }
    };
}
pub(crate) use wait_future;
