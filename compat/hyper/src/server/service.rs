//! A service whose requests are counted, and whose last response says that it is the last.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use hyper::service::Service;
use hyper::{Method, Request, Response, StatusCode, Version};
use pin_project_lite::pin_project;

use super::activity::{Activity, Exchange};
use super::offer::Offer;

/// A service that notes when a request begins and when its response is over.
pub(super) struct Counted<S> {
    service: S,
    activity: Arc<Activity>,
}

impl<S> Counted<S> {
    pub(super) fn new(service: S, activity: Arc<Activity>) -> Self {
        Self { service, activity }
    }
}

impl<S, B> Service<Request<Incoming>> for Counted<S>
where
    S: Service<Request<Incoming>, Response = Response<B>>,
{
    type Response = Response<CountedBody<B>>;
    type Error = S::Error;
    type Future = Answering<S::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let kind = Kind {
            is_1: request.version() < Version::HTTP_2,
            is_connect: request.method() == Method::CONNECT,
        };
        // The body is examined apart from the head: a value that has been pointed to must be copied when it is moved.
        let (head, body) = request.into_parts();
        let has_body = !body.is_end_stream();
        let exchange = Exchange::begin(&self.activity, has_body);
        let request = Request::from_parts(head, body);
        let _offer = has_body.then(|| Offer::of_body(exchange.begin_body()));
        Answering { future: self.service.call(request), exchange: Some(exchange), kind }
    }
}

pin_project! {
    /// The future of a response.
    pub(super) struct Answering<F> {
        #[pin]
        future: F,
        exchange: Option<Exchange>,
        kind: Kind,
    }
}

/// The properties of a request that matter to its connection.
#[derive(Clone, Copy)]
struct Kind {
    /// It has the connection to itself, and is not an HTTP/2 stream.
    is_1: bool,
    is_connect: bool,
}

impl Kind {
    /// Returns true if the connection, or the stream, changes to another protocol after a response with this status.
    fn is_handed_over(self, status: StatusCode) -> bool {
        match self.is_connect {
            true => status.is_success(),
            false => self.is_1 && status == StatusCode::SWITCHING_PROTOCOLS,
        }
    }
}

/// Returns true if a connection becomes a WebSocket.
fn is_websocket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(UPGRADE).map(HeaderValue::as_bytes);
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case(b"websocket"))
}

impl<F, B, E> Future for Answering<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<CountedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.future.poll(cx))?;
        let mut is_last = false;
        let held = match this.exchange.take() {
            None => Held::Nothing,
            Some(exchange) => match (this.kind.is_1, this.kind.is_handed_over(response.status())) {
                (true, true) => {
                    exchange.hand_over_connection(is_websocket(response.headers()));
                    Held::Exchange(exchange)
                }
                (true, false) => {
                    is_last = exchange.is_draining();
                    Held::Exchange(exchange)
                }
                (false, true) => Held::Offer(Offer::of_stream(exchange)),
                (false, false) => Held::Stream(exchange),
            },
        };
        let counted = |body| CountedBody { body, held };
        if is_last {
            return Poll::Ready(Ok(close_after(response.map(counted))));
        }
        Poll::Ready(Ok(response.map(counted)))
    }
}

/// Tells the client that the connection is closed after this response.
#[cold]
fn close_after<B>(mut response: Response<B>) -> Response<B> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

pin_project! {
    /// The body of a response, which counts as under way until hyper has taken all of it.
    pub(super) struct CountedBody<B> {
        #[pin]
        body: B,
        held: Held,
    }
}

/// What the body of a response holds until it is dropped.
enum Held {
    Nothing,
    /// With HTTP/1.
    Exchange(#[expect(dead_code, reason = "it is held for its drop")] Exchange),
    /// With HTTP/2. hyper asks for the next frame when the client's window has room for a part of the last at least.
    Stream(Exchange),
    /// The stream is being handed over.
    Offer(#[expect(dead_code, reason = "it is held for its drop")] Offer),
}

impl<B: Body> Body for CountedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Held::Stream(exchange) = this.held else { return this.body.poll_frame(cx) };
        exchange.go_on();
        let frame = this.body.poll_frame(cx);
        if let Poll::Ready(Some(Ok(_))) = frame {
            exchange.wait();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
