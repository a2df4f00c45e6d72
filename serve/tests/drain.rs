//! Servers from their first connection to their last.

mod common;

use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::{ask, echo, listener, run};
use windlass_net::TcpStream;
use windlass_runtime::task::JoinHandle;
use windlass_runtime::{spawn, yield_now};
use windlass_serve::{Drain, DrainReport, Switch};
use windlass_sync::AutoResetEvent;

type Serving = JoinHandle<io::Result<DrainReport>>;

async fn echo_server(drain: Drain) -> (SocketAddr, Switch, Serving) {
    let (listener, address) = listener().await;
    let switch = drain.switch();
    (address, switch, spawn(drain.serve(listener, echo)))
}

#[test]
fn connections_are_told_and_waited_for() {
    run(|| async {
        let (address, switch, serving) = echo_server(Drain::new()).await;
        let mut clients = Vec::new();
        for _ in 0..50 {
            let client = TcpStream::connect(address).await.unwrap();
            ask(&client).await.unwrap();
            clients.push(client);
        }
        switch.flip();
        for client in clients {
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        }
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.accepted(), 50);
        assert!(TcpStream::connect(address).await.is_err());
    });
}

/// The connections are in the queue before the server accepts its first, and it has been told to end by then.
#[test]
fn what_is_in_the_queue_is_served() {
    run(|| async {
        let (listener, address) = listener().await;
        let mut clients = Vec::new();
        for _ in 0..100 {
            let client = TcpStream::connect(address).await.unwrap();
            client.write_all(b"?").await.unwrap();
            clients.push(client);
        }
        let drain = Drain::new().limit(1).grace(Duration::ZERO);
        drain.switch().flip();
        let serving = spawn(drain.serve(listener, |stream, _, _| async move {
            stream.read_exact(&mut [0]).await.unwrap();
            stream.write_all(b"!").await.unwrap();
        }));
        for client in clients {
            client.read_exact(&mut [0]).await.unwrap();
        }
        assert_eq!(serving.await.unwrap().unwrap().accepted(), 100);
    });
}

#[test]
fn any_future_tells_it_to_end_and_the_second_one_ends_it_at_once() {
    run(|| async {
        let (listener, address) = listener().await;
        let events = Arc::new((AutoResetEvent::new(false), AutoResetEvent::new(false)));
        let (first, second) = (events.clone(), events.clone());
        let drain = Drain::new()
            .deadline(Duration::MAX)
            .on(async move { first.0.wait().await })
            .on(async move { second.1.wait().await });
        let begun = drain.token().clone();
        let serving = spawn(drain.serve(listener, |stream, _, _| async move {
            stream.write_all(b"!").await.unwrap();
            pending::<()>().await;
        }));
        let client = TcpStream::connect(address).await.unwrap();
        client.read_exact(&mut [0]).await.unwrap();
        events.0.set();
        begun.cancelled().await;
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(!serving.is_finished());
        events.1.set();
        let report = serving.await.unwrap().unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        let name = format!("connection of {}", client.local_addr().unwrap());
        assert_eq!(report.aborted()[0].name(), Some(name.as_str()));
        assert_eq!(report.aborted()[0].location().file(), file!());
        assert!(report.to_string().contains(&name), "{report}");
    });
}

#[test]
fn those_that_do_not_end_in_time_are_aborted_and_named() {
    run(|| async {
        // On a crowded machine, a short time is too short for the others too.
        for millis in [20, 100, 500, 2_500, 12_500] {
            if only_the_deaf_are_aborted(Duration::from_millis(millis)).await {
                return;
            }
        }
        panic!("others are aborted too");
    });
}

async fn only_the_deaf_are_aborted(deadline: Duration) -> bool {
    let (listener, address) = listener().await;
    let drain = Drain::new().deadline(deadline).grace(Duration::ZERO);
    let switch = drain.switch();
    let count = AtomicUsize::new(0);
    let serving = spawn(drain.serve(listener, move |stream, _, told| {
        // Every other one is deaf, and says so.
        let is_deaf = count.fetch_add(1, Ordering::SeqCst) % 2 == 1;
        async move {
            stream.write_all(if is_deaf { b"d" } else { b"p" }).await.unwrap();
            if is_deaf {
                pending::<()>().await;
            }
            told.cancelled().await;
        }
    }));
    let (mut clients, mut deaf) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let client = TcpStream::connect(address).await.unwrap();
        let mut kind = [0];
        client.read_exact(&mut kind).await.unwrap();
        if kind == *b"d" {
            deaf.push(format!("connection of {}", client.local_addr().unwrap()));
        }
        clients.push(client);
    }
    assert_eq!(deaf.len(), 10);
    switch.flip();
    let report = serving.await.unwrap().unwrap();
    let aborted: Vec<_> = report.aborted().iter().filter_map(|one| one.name()).collect();
    assert!(deaf.iter().all(|name| aborted.contains(&name.as_str())), "{report}");
    for client in clients {
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    }
    aborted.len() == deaf.len()
}

#[test]
fn connections_beyond_the_limit_wait() {
    run(|| async {
        let open = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let (listener, address) = listener().await;
        let drain = Drain::new().limit(3);
        let switch = drain.switch();
        let seen = open.clone();
        let serving = spawn(drain.serve(listener, move |stream, peer, told| {
            let seen = seen.clone();
            async move {
                let now = seen.0.fetch_add(1, Ordering::SeqCst) + 1;
                seen.1.fetch_max(now, Ordering::SeqCst);
                echo(stream, peer, told).await;
                seen.0.fetch_sub(1, Ordering::SeqCst);
            }
        }));
        let mut clients = Vec::new();
        for _ in 0..30 {
            clients.push(spawn(async move {
                let client = TcpStream::connect(address).await.unwrap();
                for _ in 0..5 {
                    ask(&client).await.unwrap();
                }
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
        switch.flip();
        assert_eq!(serving.await.unwrap().unwrap().accepted(), 30);
        assert!(open.1.load(Ordering::SeqCst) <= 3);
    });
}

#[test]
fn a_connection_that_panics_is_counted_and_the_server_lives() {
    run(|| async {
        let (listener, address) = listener().await;
        let drain = Drain::new();
        let switch = drain.switch();
        let serving = spawn(drain.serve(listener, |stream, _, _| async move {
            let mut order = [0];
            stream.read_exact(&mut order).await.unwrap();
            assert!(order[0] != b'p', "on purpose");
            stream.write_all(b"!").await.unwrap();
        }));
        for order in [b"p", b"x", b"p", b"x"] {
            let client = TcpStream::connect(address).await.unwrap();
            client.write_all(order).await.unwrap();
            let answered = client.read(&mut [0]).await.unwrap_or(0) == 1;
            assert_eq!(answered, order == b"x");
        }
        switch.flip();
        assert_eq!(serving.await.unwrap().unwrap().panicked(), 2);
    });
}

/// It counted twice.
#[test]
fn a_connection_that_panics_with_a_hold_is_counted_once() {
    run(|| async {
        let (listener, address) = listener().await;
        let drain = Drain::new();
        let switch = drain.switch();
        let holds = switch.clone();
        let serving = spawn(drain.serve(listener, move |stream, _, _| {
            let held = holds.hold("its own");
            async move {
                let (_stream, _held) = (stream, held);
                panic!("on purpose");
            }
        }));
        let client = TcpStream::connect(address).await.unwrap();
        let _ = client.read(&mut [0]).await;
        switch.flip();
        assert_eq!(serving.await.unwrap().unwrap().panicked(), 1);
    });
}

#[test]
fn what_is_held_is_waited_for_and_named_if_that_is_in_vain() {
    run(|| async {
        let (_, switch, serving) = echo_server(Drain::new().grace(Duration::ZERO)).await;
        let held = switch.hold("goodbye");
        switch.flip();
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(!serving.is_finished());
        drop(held);
        assert!(serving.await.unwrap().unwrap().is_clean());

        let (_, switch, serving) = echo_server(Drain::new()).await;
        let _held = switch.hold("goodbye");
        switch.flip();
        switch.flip();
        let report = serving.await.unwrap().unwrap();
        assert_eq!(report.aborted()[0].name(), Some("goodbye"));
        assert_eq!((report.accepted(), report.panicked()), (0, 0));
    });
}

/// It is ready at the first poll, and so waits for no timer.
#[test]
fn what_is_held_does_not_hold_up_a_drain_that_is_to_end_at_once() {
    run(|| async {
        let (listener, _) = listener().await;
        let drain = Drain::new();
        let switch = drain.switch();
        let _held = switch.hold("goodbye");
        let mut serving = pin!(drain.serve(listener, echo));
        switch.flip();
        switch.flip();
        let polled = serving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Ok(report)) = polled else { panic!("it waits: {polled:?}") };
        assert_eq!(report.aborted()[0].name(), Some("goodbye"));
    });
}

#[test]
fn what_is_held_does_not_count_as_a_connection() {
    run(|| async {
        let (address, switch, serving) = echo_server(Drain::new().limit(1)).await;
        let held = switch.hold("housekeeping");
        for _ in 0..2 {
            ask(&TcpStream::connect(address).await.unwrap()).await.unwrap();
        }
        switch.flip();
        drop(held);
        assert_eq!(serving.await.unwrap().unwrap().accepted(), 2);
    });
}

#[test]
fn dropping_the_server_closes_all_it_has() {
    run(|| async {
        let (address, _switch, serving) = echo_server(Drain::new()).await;
        let client = TcpStream::connect(address).await.unwrap();
        ask(&client).await.unwrap();
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        assert!(TcpStream::connect(address).await.is_err());
    });
}

/// In the moment after the last look at the queue, and before the listener is closed, nobody gets in.
#[cfg(target_os = "linux")]
#[test]
fn nobody_connects_behind_the_back_of_a_server_that_ends() {
    use windlass_net::TcpListener;
    use windlass_serve::Listener;

    struct Observed(TcpListener);

    impl Listener for Observed {
        type Stream = TcpStream;
        type Addr = SocketAddr;

        async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            self.0.accept().await
        }

        fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            let last_look = self.0.try_accept();
            assert!(last_look.is_err());
            let address = self.0.local_addr()?;
            let late = std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
            assert!(late.is_err(), "it would be reset");
            last_look
        }

        fn refuse_new(&self) -> io::Result<bool> {
            self.0.refuse_new()
        }

        fn local_addr(&self) -> io::Result<SocketAddr> {
            self.0.local_addr()
        }
    }

    run(|| async {
        let (inner, _) = listener().await;
        let drain = Drain::new().grace(Duration::ZERO);
        drain.switch().flip();
        assert!(drain.serve(Observed(inner), echo).await.unwrap().is_clean());
    });
}

#[cfg(unix)]
#[test]
fn local_connections_are_drained_too() {
    use windlass_net::unix::{UnixListener, UnixStream};

    run(|| async {
        let path = std::env::temp_dir().join(format!("windlass-drain-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).await.unwrap();
        let drain = Drain::new();
        drain.switch().flip();
        let serving = spawn(drain.serve(listener, |stream, _, told| async move {
            assert!(told.is_cancelled());
            stream.write_all(b"!").await.unwrap();
        }));
        client.read_exact(&mut [0]).await.unwrap();
        assert!(serving.await.unwrap().unwrap().is_clean());
        std::fs::remove_file(&path).unwrap();
    });
}
