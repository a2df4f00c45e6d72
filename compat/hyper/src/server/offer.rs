//! Hands an exchange to what outlives its response, where no parameter leads to it.
//!
//! There are two such places, and both are reached by a call on the same thread, within which the offer lasts:
//!
//! - The body of a request, which the service may leave to a task. It is offered while the service is called. hyper's
//!   type of bodies has no room for it, but a service that puts the body into a type of its own can take it along, and
//!   `windlass-axum` does.
//! - A stream of HTTP/2 that is handed over. It is offered from the end of the service's future to the drop of the body of
//!   the response, which hyper discards. In between, hyper spawns a task that lasts as long as the stream can send, and
//!   our [`Executor`](crate::Executor) takes the exchange along.

use std::cell::Cell;
use std::thread::LocalKey;

use super::activity::Exchange;

type Slot = Cell<Option<Exchange>>;

thread_local! {
    static BODY: Slot = const { Cell::new(None) };
    static STREAM: Slot = const { Cell::new(None) };
}

/// An exchange that can be taken on this thread, until the offer is dropped.
pub(super) struct Offer(&'static LocalKey<Slot>);

impl Offer {
    /// Offers the exchange of a body, to [`BodyHold::take`].
    pub(super) fn of_body(exchange: Exchange) -> Self {
        Self::new(&BODY, exchange)
    }

    /// Offers the exchange of a stream, to [`take_stream`].
    pub(super) fn of_stream(exchange: Exchange) -> Self {
        Self::new(&STREAM, exchange)
    }

    fn new(slot: &'static LocalKey<Slot>, exchange: Exchange) -> Self {
        drop(slot.try_with(|slot| slot.replace(Some(exchange))));
        Self(slot)
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        drop(take(self.0));
    }
}

/// Takes the exchange of a stream that is being handed over, if this is called for that.
#[inline]
pub(crate) fn take_stream() -> Option<impl Send + 'static> {
    take(&STREAM)
}

#[inline]
fn take(slot: &'static LocalKey<Slot>) -> Option<Exchange> {
    slot.try_with(Cell::take).ok().flatten()
}

/// Keeps a connection from being closed while the body of a request is read, also after the response.
#[derive(Debug)]
#[expect(dead_code, reason = "it is held for its drop")]
pub struct BodyHold(Exchange);

impl BodyHold {
    /// Takes the hold of the request that this thread calls a service for, if it has a body.
    pub fn take() -> Option<Self> {
        take(&BODY).map(Self)
    }
}
