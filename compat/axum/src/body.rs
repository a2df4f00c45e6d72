//! Request bodies that have to arrive in time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use windlass_runtime::timer::{Sleep, sleep};

/// Returns the body, with a limit on each wait of its reader.
pub(crate) fn in_time(body: Incoming, limit: Option<Duration>) -> Body {
    match limit {
        // A body that is over needs no timer.
        Some(limit) if !body.is_end_stream() => Body::new(InTime { body, limit, waiting: None }),
        _ => Body::new(body),
    }
}

struct InTime {
    body: Incoming,
    limit: Duration,
    /// Armed from the first poll that has to wait until one that does not.
    waiting: Option<Box<Sleep>>,
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let waiting = this.waiting.get_or_insert_with(|| Box::new(sleep(this.limit)));
        match Pin::new(&mut **waiting).poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let message = "the body of the request did not arrive in time";
                Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::TimedOut, message).into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
