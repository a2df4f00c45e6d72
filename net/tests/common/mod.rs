//! What the tests share: a runtime with a deadline, and connected pairs.

#![allow(dead_code, reason = "each test binary uses a part of it")]

#[cfg(unix)]
pub(crate) mod os;
#[cfg(windows)]
pub(crate) mod windows;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use windlass_net::{TcpListener, TcpSocket, TcpStream};
use windlass_runtime::{Builder, Runtime};

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) fn runtime() -> Runtime {
    Builder::new().workers(2).build().unwrap()
}

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    within_deadline(move || runtime().block_on(test()));
}

/// Runs a test on a thread of its own; panics if it does not end in time.
pub(crate) fn within_deadline(test: impl FnOnce() + Send + 'static) {
    within(DEADLINE, test);
}

/// As [`within_deadline`], for a test that has much to do.
pub(crate) fn within(deadline: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        test();
    });
    match ended.recv_timeout(deadline) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Two ends of a TCP connection.
pub(crate) async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, client.local_addr().unwrap());
    (client, server)
}

/// An address that refuses connections for as long as the socket lives: nobody else can get the port.
pub(crate) fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// A listener that echoes on every connection, until the runtime ends.
pub(crate) async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(windlass_runtime::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(windlass_runtime::spawn(echo(stream)));
        }
    }));
    address
}

/// Sends back all that comes.
pub(crate) async fn echo(stream: TcpStream) -> io::Result<()> {
    let mut buf = vec![0; 16 * 1024];
    loop {
        let n = stream.read(&mut buf).await?;
        if n == 0 {
            return Ok(());
        }
        stream.write_all(&buf[..n]).await?;
    }
}

/// Polls a future once.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Polls both until both are done.
pub(crate) async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (Box::pin(a), Box::pin(b));
    let (mut of_a, mut of_b) = (None, None);
    std::future::poll_fn(move |cx| {
        drive(&mut a, &mut of_a, cx);
        drive(&mut b, &mut of_b, cx);
        if of_a.is_some() && of_b.is_some() {
            return Poll::Ready((of_a.take().unwrap(), of_b.take().unwrap()));
        }
        Poll::Pending
    })
    .await
}

fn drive<F: Future>(
    future: &mut Pin<Box<F>>,
    output: &mut Option<F::Output>,
    cx: &mut Context<'_>,
) {
    if output.is_none() {
        if let Poll::Ready(result) = future.as_mut().poll(cx) {
            *output = Some(result);
        }
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

/// Bytes of which every position can be told from its neighbours.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}

/// Runs a closure when it is woken: on the thread that has the event.
struct OnWake(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        let action = self.0.lock().unwrap().take();
        if let Some(action) = action {
            action();
        }
    }
}

/// A waker that runs a closure, once.
pub(crate) fn on_wake(action: impl FnOnce() + Send + 'static) -> Waker {
    Waker::from(Arc::new(OnWake(Mutex::new(Some(Box::new(action))))))
}
