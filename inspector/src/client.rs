//! A client's place in the feed: room for one frame, which the feed fills and a connection empties.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_sync::AutoResetEvent;

use crate::view::View;

/// A client's place in the feed.
pub(crate) struct Client {
    pub(crate) view: View,
    latest: Mutex<Latest>,
    ready: AutoResetEvent,
}

/// The frame that can be fetched, if any.
#[derive(Default)]
struct Latest {
    frame: Option<Arc<str>>,
    /// True if no other frame will follow.
    is_last: bool,
}

impl Client {
    /// Creates the place of a client with this view.
    pub(crate) fn new(view: View) -> Self {
        Self { view, latest: Mutex::default(), ready: AutoResetEvent::new(false) }
    }

    /// Stores a frame, and replaces one that was not fetched.
    pub(crate) fn give(&self, frame: Arc<str>) {
        self.latest().frame = Some(frame);
        self.ready.set();
    }

    /// Marks the end: no more frames will follow.
    pub(crate) fn end(&self) {
        self.latest().is_last = true;
        self.ready.set();
    }

    /// Waits for a frame, and takes it. Returns `None` if there will be no other.
    pub(crate) async fn next(&self) -> Option<Arc<str>> {
        loop {
            let (frame, is_last) = {
                let mut latest = self.latest();
                (latest.frame.take(), latest.is_last)
            };
            match frame {
                None if !is_last => self.ready.wait().await,
                frame => return frame,
            }
        }
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
