//! Listeners that fail, for a while or for good.

mod common;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{ask, echo, listener, run};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::{Builder, is_shutdown_error, spawn};
use windlass_serve::{Drain, Listener};
use windlass_sync::Latch;

/// A listener that is out of descriptors, or has another error, for as long as it says.
struct Exhausted {
    inner: TcpListener,
    refusals: AtomicUsize,
    refused: Arc<Latch>,
    error: fn() -> io::Error,
}

impl Exhausted {
    /// Creates a listener that is out of descriptors this many times.
    fn new(inner: TcpListener, refusals: usize) -> Self {
        let refused = Arc::new(Latch::new(refusals));
        let error = || io::Error::from_raw_os_error(24);
        Self { inner, refusals: AtomicUsize::new(refusals), refused, error }
    }

    fn check(&self) -> io::Result<()> {
        let take = |left: usize| left.checked_sub(1);
        match self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(_) => {
                self.refused.count_down();
                Err((self.error)())
            }
            Err(_) => Ok(()),
        }
    }
}

impl Listener for Exhausted {
    type Stream = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.check()?;
        self.inner.accept().await
    }

    fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.check()?;
        self.inner.try_accept()
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.inner.refuse_new()
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

#[test]
fn a_server_that_is_out_of_descriptors_tries_again() {
    run(|| async {
        let (inner, address) = listener().await;
        let listener = Exhausted::new(inner, 4);
        let refused = listener.refused.clone();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let see = seen.clone();
        let drain = Drain::new()
            .on_accept_error(move |error| see.lock().unwrap().push(error.raw_os_error()));
        let switch = drain.switch();
        let serving = spawn(drain.serve(listener, echo));
        let client = TcpStream::connect(address).await.unwrap();
        refused.wait().await;
        ask(&client).await.unwrap();
        switch.flip();
        let report = serving.await.unwrap().unwrap();
        assert_eq!((report.accepted(), report.accept_errors()), (1, 4));
        assert!(report.to_string().contains("4 errors of accept"), "{report}");
        let seen = seen.lock().unwrap();
        assert_eq!(*seen, [Some(24); 4], "each of them is told");
    });
}

/// The queue is emptied also if there is no descriptor for its connections at first.
#[test]
fn a_drain_that_is_out_of_descriptors_waits_for_some() {
    run(|| async {
        let (inner, address) = listener().await;
        let client = TcpStream::connect(address).await.unwrap();
        let listener = Exhausted::new(inner, 3);
        let drain = Drain::new().grace(Duration::ZERO);
        drain.switch().flip();
        let serving = spawn(drain.serve(listener, |stream, _, _| async move {
            stream.write_all(b"!").await.unwrap();
        }));
        client.read_exact(&mut [0]).await.unwrap();
        let report = serving.await.unwrap().unwrap();
        assert_eq!((report.accepted(), report.accept_errors()), (1, 3));
    });
}

/// A listener that always has another connection.
struct Flood {
    /// Whether it says that its queue is closed.
    closes: bool,
    flooded: Arc<Latch>,
}

impl Listener for Flood {
    type Stream = ();
    type Addr = u32;

    async fn accept(&self) -> io::Result<((), u32)> {
        self.try_accept()
    }

    fn try_accept(&self) -> io::Result<((), u32)> {
        if !self.flooded.is_open() {
            self.flooded.count_down();
        }
        Ok(((), 1))
    }

    fn refuse_new(&self) -> io::Result<bool> {
        Ok(self.closes)
    }

    fn local_addr(&self) -> io::Result<u32> {
        unreachable!("nobody asks")
    }
}

/// Neither signals nor the deadline had their turn while connections were accepted.
#[test]
fn a_flood_of_connections_keeps_no_server_from_ending() {
    run(|| async {
        for (closes, deadline) in [(true, Duration::from_millis(20)), (false, Duration::MAX)] {
            let flooded = Arc::new(Latch::new(1_000));
            let begin = flooded.clone();
            let drain = Drain::new()
                .deadline(deadline)
                .grace(Duration::ZERO)
                .on(async move { begin.wait().await });
            let serving = spawn(drain.serve(Flood { closes, flooded }, |(), _, _| async {}));
            assert!(serving.await.unwrap().unwrap().accepted() >= 1_000);
        }
        let flooded = Arc::new(Latch::new(1_000));
        let drain = Drain::new().deadline(Duration::MAX).grace(Duration::MAX);
        let switch = drain.switch();
        let listener = Flood { closes: true, flooded: flooded.clone() };
        let serving = spawn(drain.serve(listener, |(), _, _| async {}));
        flooded.wait().await;
        switch.flip();
        switch.flip();
        serving.await.unwrap().unwrap();
    });
}

/// A connection whose address the OS did not say ended the server, as if the runtime were shutting down.
#[test]
fn an_error_that_is_not_the_oss_is_one_connections() {
    run(|| async {
        for told_first in [false, true] {
            let (inner, address) = listener().await;
            let client = TcpStream::connect(address).await.unwrap();
            let mut listener = Exhausted::new(inner, 2);
            listener.error = || io::ErrorKind::InvalidData.into();
            let drain = Drain::new().grace(Duration::ZERO);
            let switch = drain.switch();
            if told_first {
                switch.flip();
            }
            let serving = spawn(drain.serve(listener, |stream, _, _| async move {
                stream.write_all(b"!").await.unwrap();
            }));
            client.read_exact(&mut [0]).await.unwrap();
            switch.flip();
            assert_eq!(serving.await.unwrap().unwrap().accepted(), 1);
        }
    });
}

/// It was asked again until the deadline.
#[test]
fn a_listener_that_fails_for_good_does_not_hold_up_the_end() {
    Builder::new().workers(1).virtual_time().build().unwrap().block_on(async {
        const FAILURES: usize = 1_000;
        let (inner, _) = listener().await;
        let mut listener = Exhausted::new(inner, FAILURES);
        listener.error = || io::ErrorKind::InvalidData.into();
        let drain = Drain::new().grace(Duration::ZERO).deadline(Duration::MAX);
        drain.switch().flip();
        let report = drain.serve(listener, echo).await.unwrap();
        assert!(report.accept_errors() < FAILURES as u64, "{report}");
    });
}

/// It was asked again for as long as the grace period lasts, and told of errors.
#[test]
fn the_end_of_the_listeners_runtime_ends_the_grace_period() {
    let elsewhere = Builder::new().workers(1).build().unwrap();
    let (inner, _) = elsewhere.block_on(listener());
    drop(elsewhere);
    Builder::new().workers(1).virtual_time().build().unwrap().block_on(async {
        let drain = Drain::new().grace(Duration::from_secs(1)).deadline(Duration::MAX);
        drain.switch().flip();
        let report = drain.serve(inner, echo).await.unwrap();
        assert_eq!(report.accept_errors(), 0, "{report}");
    });
}

#[test]
fn the_end_of_the_listeners_runtime_ends_the_server() {
    let elsewhere = Builder::new().workers(1).build().unwrap();
    let (inner, _) = elsewhere.block_on(listener());
    drop(elsewhere);
    run(|| async {
        let error = Drain::new().serve(inner, echo).await.unwrap_err();
        assert!(is_shutdown_error(&error), "{error}");
    });
}
