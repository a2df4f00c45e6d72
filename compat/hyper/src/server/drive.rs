//! Drives one of hyper's connections to its end.

use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::bounds::Http2ServerConnExec;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::HttpService;

use super::Error;
use super::gathered::Gathered;
use super::watch::{Overdue, Watch};
use crate::Executor;

type BoxError = Box<dyn StdError + Send + Sync>;

/// Drives a connection to its end. `closes_at_once` is true if its protocol can close it at once without losing
/// anything.
pub(super) async fn drive<C: Connection>(
    mut connection: Pin<&mut C>,
    mut watch: Watch,
    closes_at_once: bool,
) -> Result<(), Error> {
    let mut is_closing = false;
    let ended = poll_fn(|cx| {
        if closes_at_once && !is_closing && watch.check_end(cx) {
            is_closing = true;
            watch.close();
            connection.as_mut().graceful_shutdown();
        }
        loop {
            let mut polled = connection.as_mut().poll(cx);
            if polled.is_pending() && watch.settle_doubt() {
                polled = connection.as_mut().poll(cx);
            }
            if let Poll::Ready(result) = polled {
                return Poll::Ready(result.map_err(Error::Http));
            }
            if is_closing {
                return watch.poll_closed(cx).map(Ok);
            }
            match watch.poll_overdue(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Overdue::Head) => return Poll::Ready(Err(Error::HeaderTimeout)),
                Poll::Ready(Overdue::Request) => {
                    is_closing = true;
                    watch.close();
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    });
    ended.await
}

/// A connection of hyper's, of either version.
pub(super) trait Connection: Future<Output = hyper::Result<()>> {
    fn graceful_shutdown(self: Pin<&mut Self>);
}

impl<I, S, B> Connection for http1::UpgradeableConnection<I, S>
where
    I: Read + Write + Unpin + Send + 'static,
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<BoxError>,
    B: Body + 'static,
    B::Error: Into<BoxError>,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        http1::UpgradeableConnection::graceful_shutdown(self);
    }
}

impl<I, S, B> Connection for Gathered<http2::Connection<I, S, Executor>>
where
    I: Read + Write + Unpin + 'static,
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<BoxError>,
    B: Body + 'static,
    B::Error: Into<BoxError>,
    Executor: Http2ServerConnExec<S::Future, B>,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        http2::Connection::graceful_shutdown(self.connection());
    }
}
