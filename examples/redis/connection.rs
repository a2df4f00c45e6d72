//! Serves one client.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use windlass::net::TcpStream;
use windlass::sync::CancellationToken;

use super::Server;
use super::commands::{self, Replies};
use super::pubsub::Subscriptions;
use super::request::Request;

/// The number of bytes that are read at a time.
const ROOM: usize = 16 * 1024;

/// Serves a client until it disconnects or the server shuts down. Requests that arrive together are answered together.
pub(crate) async fn serve(
    stream: TcpStream,
    server: &Server,
    told: &CancellationToken,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut subscriptions = Subscriptions::new(&server.channels);
    let mut request = Request::default();
    let mut bytes = Vec::with_capacity(ROOM);
    let mut replies = Replies::default();
    // All connections share the token. It is polled once, so that it wakes this task, and only checked after that.
    let mut cancelled = pin!(told.cancelled());
    poll_fn(|cx| Poll::Ready(cancelled.as_mut().poll(cx).is_ready())).await;
    loop {
        let mut done = 0;
        let mut goes_on = true;
        while goes_on {
            match request.read(&bytes[done..]) {
                Ok(Some(length)) => {
                    let bytes = &bytes[done..done + length];
                    goes_on =
                        commands::run(server, &mut subscriptions, &request, bytes, &mut replies);
                    done += length;
                }
                Ok(None) => break,
                Err(malformed) => {
                    replies.error(&format!("Protocol error: {}", malformed.0));
                    goes_on = false;
                }
            }
        }
        bytes.drain(..done);
        if !replies.0.is_empty() {
            stream.write_all(&replies.0).await?;
            replies.0.clear();
        }
        if !goes_on {
            return Ok(());
        }
        bytes.reserve(ROOM / 4);
        match next(&stream, &mut bytes, &subscriptions, told).await? {
            Event::Bytes => {}
            Event::Message(message) => replies.0.extend_from_slice(&message),
            Event::End => return Ok(()),
        }
    }
}

enum Event {
    Bytes,
    Message(Arc<[u8]>),
    End,
}

/// Returns what comes first: more bytes from the client, a message for it, or the end of the server. The others lose
/// nothing.
async fn next(
    stream: &TcpStream,
    bytes: &mut Vec<u8>,
    subscriptions: &Subscriptions<'_>,
    told: &CancellationToken,
) -> io::Result<Event> {
    let mut reading = pin!(stream.read_buf(bytes));
    let mut message = pin!(async {
        match subscriptions.is_empty() {
            true => std::future::pending().await,
            false => subscriptions.next().await,
        }
    });
    poll_fn(|cx| {
        if let Poll::Ready(count) = reading.as_mut().poll(cx)? {
            return Poll::Ready(Ok(if count == 0 { Event::End } else { Event::Bytes }));
        }
        if told.is_cancelled() {
            return Poll::Ready(Ok(Event::End));
        }
        message.as_mut().poll(cx).map(|message| Ok(message.map_or(Event::End, Event::Message)))
    })
    .await
}
