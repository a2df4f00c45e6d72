//! A mailbox for one value: the cheapest neutral way for one task to hand another something.
//!
//! A mutex that is hardly ever contended around the value and the waker of whoever waits for it.
//! No allocation per message and no fairness to keep up, so a runtime's own wake-up is most of
//! what an exchange costs.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

pub(crate) struct Slot<T>(Mutex<State<T>>);

struct State<T> {
    value: Option<T>,
    taker: Option<Waker>,
}

impl<T> Slot<T> {
    pub(crate) fn new() -> Slot<T> {
        Slot(Mutex::new(State { value: None, taker: None }))
    }

    /// Leaves a value and wakes the one that waits for it. The last one must have been taken.
    pub(crate) fn put(&self, value: T) {
        let mut state = self.lock();
        assert!(state.value.is_none(), "the last value was not taken");
        state.value = Some(value);
        let taker = state.taker.take();
        drop(state);
        if let Some(taker) = taker {
            taker.wake();
        }
    }

    /// Waits for a value. One taker at a time.
    pub(crate) fn take(&self) -> Take<'_, T> {
        Take(self)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Take<'a, T>(&'a Slot<T>);

impl<T> Future for Take<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.lock();
        match state.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                state.taker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
