//! What the tests share: a runtime with a deadline, and a server that echoes.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::Builder;
use windlass_sync::CancellationToken;

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        Builder::new().workers(2).build().unwrap().block_on(test());
    });
    match ended.recv_timeout(DEADLINE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Returns a listener on a free port, and its address.
pub(crate) async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Echoes until the peer ends or the server is to end.
pub(crate) async fn echo(stream: TcpStream, _peer: SocketAddr, told: CancellationToken) {
    let mut bytes = Vec::with_capacity(1024);
    while let Some(Ok(1..)) = told.run_until_cancelled(stream.read_buf(&mut bytes)).await {
        if stream.write_all(&bytes).await.is_err() {
            break;
        }
        bytes.clear();
    }
}

/// Sends a byte, and reads the answer.
pub(crate) async fn ask(stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"x").await?;
    stream.read_exact(&mut [0]).await
}
