//! compio, which completes operations (io_uring where the kernel lets it) instead of waiting for readiness.
//!
//! It has no pool: each thread has a runtime of its own, tasks stay where they are, and buffers are
//! given away for the time of an operation. So it does not fit [`NetPeer`](crate::peers::NetPeer). A thread
//! accepts, and compio's `Dispatcher` has the worker threads serve.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use ::compio::BufResult;
use ::compio::buf::{IntoInner, IoBuf};
use ::compio::dispatcher::Dispatcher;
use ::compio::io::{AsyncRead, AsyncWriteExt};

use super::hog::Hog;
use super::server::{BUFFER, Server};
use crate::peers::WORKERS;
use crate::service::Service;
use crate::support::sys;

/// Serves until the process ends.
pub(super) struct Compio {
    address: SocketAddr,
}

impl Server for Compio {
    const NAME: &'static str = "compio";

    fn start<S: Service>(hog: Option<Arc<Hog>>) -> Self {
        sys::raise_open_files().expect("up to the hard limit");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let workers = NonZero::new(WORKERS).expect("at least one");
        let dispatcher = Dispatcher::builder().worker_threads(workers).build();
        let dispatcher = dispatcher.expect("compio starts");
        if let Some(hog) = hog {
            let burn = move || async move {
                while hog.burst() {
                    ::smol::future::yield_now().await;
                }
            };
            assert!(dispatcher.dispatch(burn).is_ok(), "the workers live");
        }
        thread::spawn(move || {
            loop {
                let (stream, _) = listener.accept().expect("a connection");
                stream.set_nodelay(true).expect("a TCP socket");
                assert!(
                    dispatcher.dispatch(move || serve::<S>(stream)).is_ok(),
                    "the workers live"
                );
            }
        });
        Compio { address }
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

async fn serve<S: Service>(stream: TcpStream) {
    let mut stream = ::compio::net::TcpStream::from_std(stream).expect("a connection");
    let mut buffer = vec![0; BUFFER];
    let mut answer = Vec::with_capacity(BUFFER);
    let mut filled = 0;
    loop {
        let BufResult(read, slice) = stream.read(buffer.slice(filled..)).await;
        buffer = slice.into_inner();
        let Ok(count @ 1..) = read else { return };
        filled += count;
        let Some(bytes) = S::answer(&buffer[..filled]) else { continue };
        // The kernel has to own what it writes, too.
        answer.clear();
        answer.extend_from_slice(bytes);
        let BufResult(written, back) = stream.write_all(answer).await;
        answer = back;
        if written.is_err() {
            return;
        }
        filled = 0;
    }
}
