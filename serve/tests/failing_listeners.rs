//! Listeners that fail, for a while or for good.

mod common;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{ask, echo, listener, run};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::spawn;
use windlass_serve::{Drain, Listener};
use windlass_sync::Latch;

/// A listener that is out of descriptors for as long as it says.
struct Exhausted {
    inner: TcpListener,
    refusals: AtomicUsize,
    refused: Arc<Latch>,
}

impl Exhausted {
    fn check(&self) -> io::Result<()> {
        let take = |left: usize| left.checked_sub(1);
        match self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(_) => {
                self.refused.count_down();
                Err(io::Error::from_raw_os_error(24))
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
        let refused = Arc::new(Latch::new(4));
        let listener = Exhausted { inner, refusals: AtomicUsize::new(4), refused: refused.clone() };
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
        let refused = Arc::new(Latch::new(3));
        let listener = Exhausted { inner, refusals: AtomicUsize::new(3), refused };
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

#[test]
fn an_error_that_does_not_go_away_ends_the_server() {
    struct Broken;

    impl Listener for Broken {
        type Stream = TcpStream;
        type Addr = SocketAddr;

        async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            Err(io::Error::other("the runtime has shut down"))
        }

        fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            unreachable!("nobody has told it to end")
        }

        fn refuse_new(&self) -> io::Result<bool> {
            unreachable!("nobody has told it to end")
        }

        fn local_addr(&self) -> io::Result<SocketAddr> {
            unreachable!("nobody asks")
        }
    }

    run(|| async {
        assert!(Drain::new().serve(Broken, echo).await.is_err());
    });
}
