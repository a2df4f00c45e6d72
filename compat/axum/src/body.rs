//! Request bodies that have to arrive in time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use windlass_hyper::server::BodyHold;
use windlass_runtime::timer::{Sleep, sleep};

/// Returns the body, with a limit for each wait of whoever reads it. Called while the service is. Until the body has
/// ended, or is dropped, its connection counts as busy: a handler may leave it to a task that goes on after the response.
pub(crate) fn in_time(body: Incoming, limit: Option<Duration>) -> Body {
    // A body that is over needs no timer.
    match body.is_end_stream() {
        true => Body::new(body),
        false => {
            Body::new(InTime { body: Some(body), limit, waiting: None, hold: BodyHold::take() })
        }
    }
}

struct InTime {
    /// There until an error.
    body: Option<Incoming>,
    limit: Option<Duration>,
    /// Armed by the first poll that has to wait, until one does not.
    waiting: Option<Box<Sleep>>,
    hold: Option<BodyHold>,
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) {
            this.waiting = None;
            if !matches!(frame, Some(Ok(_))) || body.is_end_stream() {
                this.hold = None;
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some(limit) = this.limit else { return Poll::Pending };
        let waiting = this.waiting.get_or_insert_with(|| Box::new(sleep(limit)));
        match Pin::new(&mut **waiting).poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                (this.body, this.waiting, this.hold) = (None, None, None);
                let message = "the body of the request did not arrive in time";
                Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::TimedOut, message).into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}
