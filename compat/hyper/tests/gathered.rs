//! How many writes the answers of HTTP/2 take.

mod common;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use common::{DEADLINE, hello, tcp_pair};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use windlass_hyper::Io;
use windlass_hyper::server::Http;
use windlass_net::TcpStream;
use windlass_runtime::timer::timeout;
use windlass_runtime::{Builder, spawn};
use windlass_sync::CancellationToken;

/// A stream whose writes are counted.
struct Counted(Io<TcpStream>, Arc<AtomicUsize>);

impl Counted {
    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.1.fetch_add(usize::from(written.is_ready()), Relaxed);
        written
    }
}

impl Read for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, cursor)
    }
}

impl Write for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.0).poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.0).poll_write_vectored(cx, buffers);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Reads frames until this many streams have ended.
async fn read_ends(client: &TcpStream, mut streams: usize) {
    while streams > 0 {
        let mut head = [0; 9];
        client.read_exact(&mut head).await.unwrap();
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        client.read_exact(&mut payload).await.unwrap();
        // HEADERS or DATA, with END_STREAM.
        streams -= usize::from(kind <= 1 && flags & 1 == 1);
    }
}

/// The task of a stream woke that of its connection, which ran next and wrote one answer: a call of the OS for each.
#[test]
fn answers_that_are_ready_together_go_out_together() {
    const STREAMS: u8 = 32;
    // Nobody stands in for the worker, not even while the OS keeps it from running.
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    runtime.block_on(async {
        let writes = Arc::new(AtomicUsize::new(0));
        let (client, server) = tcp_pair().await;
        let server = Counted(Io::new(server), writes.clone());
        let serving = spawn(async move {
            let never = CancellationToken::new();
            Http::new().serve_connection(server, service_fn(hello), &never).await
        });
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]); // SETTINGS
        for stream in 0..STREAMS {
            // HEADERS with END_STREAM and END_HEADERS: GET, http, and the path /, by the static table of HPACK.
            bytes.extend([0, 0, 3, 1, 5, 0, 0, 0, 2 * stream + 1, 0x82, 0x86, 0x84]);
        }
        client.write_all(&bytes).await.unwrap();
        let answered = read_ends(&client, STREAMS.into());
        timeout(DEADLINE, answered).await.expect("no answer");
        let writes = writes.load(Relaxed);
        assert!(writes < 8, "{writes} writes for {STREAMS} answers");
        drop(client);
        let _ = serving.await.unwrap();
    });
}
