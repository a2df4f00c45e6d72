//! A connection: one request, one response.

use std::future::{Future, poll_fn};
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use windlass_net::TcpStream;
use windlass_runtime::timer::timeout;

use crate::http::{Method, Refusal, Request, Response, head_of_stream};
use crate::inspector::Site;
use crate::page;
use crate::policy::{HEAD_LIMIT, SEND_BUFFER};
use crate::view::View;

const NOT_FOUND: Refusal = Refusal::new(404, "there is no such page");
const WRONG_METHOD: Refusal =
    Refusal::new(405, "this page is read by GET, and the flight record by POST");
const TOO_SLOW: Refusal = Refusal::new(408, "the request took too long to arrive");
const NO_FRAME: Refusal = Refusal::new(503, "the inspector has failed to look: try again");
const BUSY: Refusal = Refusal::new(503, "another flight record is being downloaded: try again");

/// The content type of the metrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A place among the connections of an inspector.
pub(crate) struct Place(Arc<Site>);

impl Place {
    pub(crate) fn take(site: &Arc<Site>, limit: usize) -> Option<Self> {
        enter(&site.open, limit).then(|| Self(site.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        leave(&self.0.open);
    }
}

impl Deref for Place {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.0
    }
}

/// The right to make a flight record. One client at a time has it, because a record takes much memory.
struct Download<'a>(&'a Site);

impl<'a> Download<'a> {
    fn take(site: &'a Site) -> Option<Self> {
        enter(&site.downloads, 1).then_some(Self(site))
    }
}

impl Drop for Download<'_> {
    fn drop(&mut self) {
        leave(&self.0.downloads);
    }
}

/// Increments a count unless it has reached the limit. The counts guard no memory, so the orderings are relaxed.
fn enter(count: &AtomicUsize, limit: usize) -> bool {
    let one_more = |count| (count < limit).then_some(count + 1);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
}

fn leave(count: &AtomicUsize) {
    count.fetch_sub(1, Ordering::Relaxed);
}

/// A connection that was accepted.
pub(crate) struct Connection {
    stream: TcpStream,
    site: Place,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, site: Place) -> Self {
        Self { stream, site }
    }

    /// Serves the one request. Errors end only this connection.
    pub(crate) async fn run(self) {
        let end = self.site.end.clone();
        let _ = self.stream.set_send_buffer_size(SEND_BUFFER);
        let _ = self.stream.set_nodelay(true);
        let _ = end.run_until_cancelled(self.serve()).await;
    }

    async fn serve(&self) -> io::Result<()> {
        let request = match timeout(self.site.limits.header, self.request()).await {
            Ok(request) => request?,
            Err(_) => Err(TOO_SLOW),
        };
        let request = match request {
            Ok(request) => request,
            Err(refusal) => return self.refuse(&refusal, true).await,
        };
        let with_body = request.method != Method::Head;
        if let Err(refusal) = self.site.guard.check(&request) {
            return self.refuse(&refusal, with_body).await;
        }
        match (request.method, request.path.as_str()) {
            (Method::Get, "/events") => self.stream_events(&request).await,
            (Method::Get, "/snapshot") => match self.site.feed.subscribe(View::of(&request)) {
                Ok(subscription) => match subscription.next().await {
                    Some(frame) => {
                        self.respond(Response::ok("application/json", frame.as_bytes()), true).await
                    }
                    None => self.refuse(&NO_FRAME, true).await,
                },
                Err(refusal) => self.refuse(&refusal, true).await,
            },
            (Method::Post, "/flight-record") => match Download::take(&self.site) {
                Some(_download) => {
                    let record = self.site.feed.flight_record().await?;
                    let response = Response::ok("application/json", record)
                        .with("Content-Disposition", "attachment; filename=\"flight-record.json\"");
                    self.respond(response, true).await
                }
                None => self.refuse(&BUSY, true).await,
            },
            (Method::Get | Method::Head, "/metrics") => match self.site.feed.openmetrics().await {
                Ok(metrics) => self.respond(Response::ok(METRICS, metrics), with_body).await,
                Err(refusal) => self.refuse(&refusal, with_body).await,
            },
            (Method::Get | Method::Head, path) => match self.page(path) {
                Some(response) => self.respond(response, with_body).await,
                None if path == "/flight-record" => self.refuse(&WRONG_METHOD, with_body).await,
                None => self.refuse(&NOT_FOUND, with_body).await,
            },
            (Method::Post, _) => self.refuse(&WRONG_METHOD, true).await,
        }
    }

    /// Returns what is there without a look at the runtime.
    fn page(&self, path: &str) -> Option<Response> {
        Some(match path {
            "/" => Response::ok("text/html; charset=utf-8", page::html(&self.site.guard.token)),
            "/page.css" => Response::ok("text/css; charset=utf-8", page::CSS),
            "/parts.js" => Response::ok("text/javascript; charset=utf-8", page::PARTS_JS),
            "/graph.js" => Response::ok("text/javascript; charset=utf-8", page::GRAPH_JS),
            "/page.js" => Response::ok("text/javascript; charset=utf-8", page::JS),
            _ => return None,
        })
    }

    /// Sends a frame at each tick until the client has gone, or is too slow. Where ticks are rare, comments between them
    /// show that the connection is alive.
    async fn stream_events(&self, request: &Request) -> io::Result<()> {
        let subscription = match self.site.feed.subscribe(View::of(request)) {
            Ok(subscription) => subscription,
            Err(refusal) => return self.refuse(&refusal, true).await,
        };
        self.send(head_of_stream().as_bytes()).await?;
        // Notices at once when the client goes, so that its place is free for the next.
        let mut gone = pin!(async { while let Ok(1..) = self.stream.read(&mut [0; 64]).await {} });
        loop {
            let mut next = pin!(subscription.next());
            let frame = poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(frame) => Poll::Ready(frame),
                Poll::Pending => gone.as_mut().poll(cx).map(|()| None),
            });
            match timeout(self.site.limits.silence, frame).await {
                // A frame is one line of JSON.
                Ok(Some(frame)) => self.send(format!("data: {frame}\n\n").as_bytes()).await?,
                Ok(None) => return Ok(()),
                Err(_) => self.send(b":\n\n").await?,
            }
        }
    }

    /// Reads until the head is complete, or can no longer become a request.
    async fn request(&self) -> io::Result<Result<Request, Refusal>> {
        let mut received = Vec::new();
        let mut buffer = [0; 2048];
        loop {
            let room = buffer.len().min(HEAD_LIMIT + 4 - received.len());
            let count = self.stream.read(&mut buffer[..room]).await?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            received.extend_from_slice(&buffer[..count]);
            if let Some(parsed) = Request::parse(&received).transpose() {
                return Ok(parsed);
            }
        }
    }

    async fn refuse(&self, refusal: &Refusal, with_body: bool) -> io::Result<()> {
        let mut response = Response::refused(refusal);
        if refusal.status == 405 {
            response = response.with("Allow", "GET, HEAD, POST");
        }
        self.respond(response, with_body).await
    }

    async fn respond(&self, response: Response, with_body: bool) -> io::Result<()> {
        self.send(&response.into_bytes(with_body)).await?;
        self.stream.shutdown(std::net::Shutdown::Write)?;
        // Read until the client has closed too: unread bytes would reset the connection, and the client might lose the
        // response.
        let mut buffer = [0; 512];
        let rest = async { while let Ok(1..) = self.stream.read(&mut buffer).await {} };
        let _ = timeout(self.site.limits.header.min(Duration::from_secs(1)), rest).await;
        Ok(())
    }

    /// Sends all bytes, unless the client stops taking them for too long.
    async fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let piece = &bytes[..bytes.len().min(SEND_BUFFER)];
            timeout(self.site.limits.write, self.stream.write_all(piece)).await??;
            bytes = &bytes[piece.len()..];
        }
        Ok(())
    }
}
