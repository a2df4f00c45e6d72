//! The tasks of a [`JoinSet`](super::JoinSet) that have ended, in that order, and the task that waits for the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use super::quietly;
use crate::primitives::Mutex;

/// The slots whose tasks have ended, and the waker of the task that waits for the next.
#[derive(Default)]
pub(super) struct EndedSlots(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    slots: VecDeque<usize>,
    waiter: Option<Waker>,
}

impl EndedSlots {
    pub(super) fn push(&self, slot: usize) {
        let waiter = {
            let mut inner = self.0.lock();
            inner.slots.push_back(slot);
            inner.waiter.take()
        };
        if let Some(waiter) = waiter {
            quietly(|| waiter.wake());
        }
    }

    /// Returns the slot that ended first, if there is one.
    pub(super) fn pop(&self) -> Option<usize> {
        self.0.lock().slots.pop_front()
    }

    /// Does the same as [`pop`](Self::pop). If there is none, the next `push` wakes the task.
    pub(super) fn pop_or_wait(&self, cx: &Context<'_>) -> Option<usize> {
        // Cloned, and the old one dropped, outside the lock: both may run user code.
        let waker = cx.waker().clone();
        let (slot, _unused) = {
            let mut inner = self.0.lock();
            match inner.slots.pop_front() {
                Some(slot) => (Some(slot), None),
                None => (None, inner.waiter.replace(waker)),
            }
        };
        slot
    }

    /// Returns a waker for one task, which queues the task's slot.
    pub(super) fn waker_for(self: &Arc<Self>, slot: usize) -> Waker {
        Waker::from(Arc::new(SlotWaker { slot, ended: self.clone() }))
    }
}

struct SlotWaker {
    slot: usize,
    ended: Arc<EndedSlots>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.ended.push(self.slot);
    }
}
