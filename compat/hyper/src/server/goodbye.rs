//! Ends a WebSocket whose handler does not know that the server is ending.
//!
//! The handler's library speaks the protocol; this code only sees bytes. But it knows where frames begin and end, so it
//! can put a close frame between two of them. The right direction for it is the one *to the handler*: the library takes
//! the frame for the client's, answers it with a close frame of the same code, which reaches the client, tells the
//! handler, and lets nothing more be sent. If the frame were put into the other direction, the handler would not know,
//! and its next message would follow the close frame, which the protocol forbids.
//!
//! 1. A drain begins. A handler that minds the server's end says goodbye by itself, and is left alone: nothing happens
//!    for the time that idle connections of HTTP/1 have, too.
//! 2. When a read finds nothing, between two messages, the handler gets the close frame. Messages that have arrived come
//!    before it, unless they never end: after some more reads, or some time, it comes between two frames of a message.
//! 3. When the handler has dropped the connection, a task sees to it that the client gets a close frame, if the
//!    handler has not sent one, and waits for the client's. Closed at once, the connection might be reset by what the
//!    client has sent meanwhile, and the close frame with it.

use std::future::{Future, poll_fn};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use windlass_runtime::Handle;
use windlass_runtime::task::has_budget_remaining;
use windlass_runtime::timer::{Sleep, sleep, timeout};

use super::activity::Activity;
use super::frames::Frames;
use super::told::Told;
use super::upgrade::Upgrade;
use crate::io::read_seen;
use crate::policy::{FAREWELL, LAST_MESSAGE, LAST_READS};

/// The close frame that the handler gets: "going away", 1001, masked with zeros as it comes from a client.
const TO_HANDLER: &[u8] = &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9];
/// The same close frame for the client.
const TO_CLIENT: &[u8] = &[0x88, 0x02, 0x03, 0xe9];

/// The two directions of a WebSocket, and the progress of its goodbye.
#[derive(Debug)]
pub(super) struct Goodbye {
    /// The runtime that serves the connection: the handler may drop the connection on a thread without a runtime.
    runtime: Option<Handle>,
    due: Told,
    received: Frames,
    sent: Sent,
    /// The rest of the handler's close frame, once that has begun.
    frame: Option<&'static [u8]>,
    last_reads: u32,
    /// Since it is due: until when a message may come to its end.
    last_message: Option<Pin<Box<Sleep>>>,
    is_late: bool,
}

impl Goodbye {
    /// Creates the state for a connection from which nothing has been read after the head of its request.
    pub(super) fn new(upgrade: &Upgrade) -> Self {
        Self {
            runtime: Handle::try_current(),
            due: Told::new(upgrade.goodbye().clone()),
            received: Frames::default(),
            sent: Sent::default(),
            frame: None,
            last_reads: 0,
            last_message: None,
            is_late: false,
        }
    }

    /// Reads from the client, or at the end reads the close frame.
    pub(super) fn poll_read<I: Read + Unpin>(
        &mut self,
        io: &mut I,
        cx: &mut Context<'_>,
        cursor: &mut ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.frame.is_none() {
            // Checked before the read, so that the task is woken in any case.
            let is_due = self.due.check(cx);
            if is_due && !self.is_late {
                self.is_late = self.poll_late(cx).is_ready();
            }
            if !is_due || self.last_reads < LAST_READS || !self.may_begin() {
                let received = &mut self.received;
                let read = read_seen(Pin::new(io), cx, cursor, |bytes| received.note(bytes))?;
                if read.is_ready() {
                    self.last_reads = LAST_READS.min(self.last_reads + u32::from(is_due));
                }
                if read.is_ready() || !is_due || !self.may_begin() {
                    return read.map(Ok);
                }
                // The budget may have cut the read short, before it looked at what has arrived.
                if !has_budget_remaining() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
        let frame = self.frame.unwrap_or(TO_HANDLER);
        if frame.is_empty() {
            // A handler that continues to read after a close frame sees the end of the stream.
            return Poll::Ready(Ok(()));
        }
        let count = frame.len().min(cursor.remaining());
        cursor.put_slice(&frame[..count]);
        self.frame = Some(&frame[count..]);
        Poll::Ready(Ok(()))
    }

    /// Notes bytes that were sent to the client.
    pub(super) fn note_sent(&mut self, bytes: &[u8]) {
        self.sent.note(bytes);
    }

    /// Returns true once the handler has begun to receive its close frame.
    pub(super) fn has_begun(&self) -> bool {
        self.frame.is_some()
    }

    /// Ready when a message that has begun is not waited for any longer. Until then, the task is woken when that happens.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // The timer belongs to the runtime of the poll.
        let _entered = self.runtime.as_ref().map(Handle::enter);
        let begin = || Box::pin(sleep(LAST_MESSAGE));
        self.last_message.get_or_insert_with(begin).as_mut().poll(cx)
    }

    /// A frame may come here without a message being lost for it that might still come to an end, and neither end has
    /// closed.
    fn may_begin(&self) -> bool {
        let may_interrupt =
            self.is_late || self.last_reads >= LAST_READS || !self.received.is_in_message();
        self.received.is_between()
            && may_interrupt
            && !self.received.has_closed()
            && !self.sent.frames.has_closed()
    }

    /// Spawns a task that says goodbye to the client when the handler is done with the connection.
    pub(super) fn see_off<I>(mut self, io: I, closing: Closing)
    where
        I: Read + Write + Unpin + Send + 'static,
    {
        if let Some(runtime) = self.runtime.take() {
            drop(runtime.spawn(self.farewell(io, closing)));
        }
    }

    async fn farewell<I: Read + Write + Unpin>(self, mut io: I, closing: Closing) {
        let Some(upgrade) = closing.0.upgrade() else { return };
        let last_words = match self.sent.frames.is_between() && !self.sent.frames.has_closed() {
            true => TO_CLIENT,
            false => &[],
        };
        let farewell = async {
            write_all(&mut io, last_words).await?;
            poll_fn(|cx| Pin::new(&mut io).poll_shutdown(cx)).await?;
            until_the_end(&mut io).await
        };
        // The only thing that can go wrong is that the client is gone.
        let _ = upgrade.cut().run_until_cancelled(timeout(FAREWELL, farewell)).await;
    }
}

/// Follows everything that was sent: the head of the response that upgrades the connection, and then frames.
#[derive(Debug, Default)]
struct Sent {
    /// How many bytes of the empty line that ends the head were seen.
    of_end: usize,
    frames: Frames,
}

impl Sent {
    fn note(&mut self, mut bytes: &[u8]) {
        const END: &[u8] = b"\r\n\r\n";
        while self.of_end < END.len() {
            let Some((byte, others)) = bytes.split_first() else { return };
            self.of_end = match (*byte == END[self.of_end], *byte == END[0]) {
                (true, _) => self.of_end + 1,
                (false, true) => 1,
                (false, false) => 0,
            };
            bytes = others;
        }
        self.frames.note(bytes);
    }
}

/// When dropped, tells the server that an upgraded connection is closed.
pub(super) struct Closing(pub(super) Arc<Activity>);

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(upgrade) = self.0.upgrade() {
            upgrade.close();
        }
    }
}

async fn write_all<I: Write + Unpin>(io: &mut I, mut bytes: &[u8]) -> io::Result<()> {
    poll_fn(|cx| {
        while !bytes.is_empty() {
            match ready!(Pin::new(&mut *io).poll_write(cx, bytes))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => bytes = &bytes[count..],
            }
        }
        Pin::new(&mut *io).poll_flush(cx)
    })
    .await
}

/// Reads and discards until the client closes.
async fn until_the_end<I: Read + Unpin>(io: &mut I) -> io::Result<()> {
    poll_fn(|cx| {
        loop {
            let mut room = [MaybeUninit::uninit(); 1024];
            let mut buf = ReadBuf::uninit(&mut room);
            ready!(Pin::new(&mut *io).poll_read(cx, buf.unfilled()))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    })
    .await
}
