//! A small program with a bit of everything, for `scripts/faults`: one of its system calls fails each time it is run.
//!
//! It ends in one of three ways: everything was right (0), something failed with an
//! error that says what (3), or something is wrong (any other status): a result, a
//! panic, a thread or a descriptor that is left.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use windlass::net::{TcpListener, TcpStream, UdpSocket};
use windlass::timer::sleep;
use windlass::{Builder, compute, join};

fn main() -> ExitCode {
    println!("begun");
    let before = census();
    let mut failed = false;
    // A second runtime finds the process as the first one did.
    for _ in 0..2 {
        for part in [threaded, manual] {
            if let Err(error) = part() {
                println!("failed: {error}");
                failed = true;
            }
            wait_until("threads and descriptors are left", || census() <= before);
        }
    }
    if failed { ExitCode::from(3) } else { ExitCode::SUCCESS }
}

fn threaded() -> io::Result<()> {
    let runtime = Builder::new().workers(2).max_blocking(2).build()?;
    let result = runtime.block_on(everything());
    let report = runtime.shutdown(Duration::from_secs(30));
    assert!(report.is_clean(), "{report}");
    result
}

async fn everything() -> io::Result<()> {
    let tasks: Vec<_> = (0..10).map(|number| windlass::spawn(async move { number })).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("a task that nobody aborts");
    }
    assert_eq!(sum, 45);

    let start = Instant::now();
    sleep(Duration::from_millis(2)).await;
    assert!(start.elapsed() >= Duration::from_millis(2), "a timer is early");

    let (left, right) = compute(|| join(|| 1, || 2)).await.expect("a computation");
    assert_eq!(left + right, 3);

    // Without a thread for it, the closure is cancelled or the error is told.
    match windlass::spawn_blocking(|| 7).await {
        Ok(number) => assert_eq!(number, 7),
        Err(error) => return Err(io::Error::other(error.to_string())),
    }

    let datagrams = UdpSocket::bind("127.0.0.1:0").await?;
    datagrams.connect(datagrams.local_addr()?).await?;
    datagrams.send(b"to myself").await?;
    let mut buffer = [0; 16];
    assert_eq!(datagrams.recv(&mut buffer).await?, 9);

    echo().await
}

/// A server that goes on after an error of `accept`, and a client.
async fn echo() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = windlass::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let mut buffer = [0; 64];
                    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                        if stream.write_all(&buffer[..count]).await.is_err() {
                            break;
                        }
                    }
                    return;
                }
                Err(error) if windlass::is_shutdown_error(&error) => return,
                Err(error) => {
                    println!("accept failed: {error}");
                    sleep(Duration::from_millis(1)).await;
                }
            }
        }
    });
    let client = match TcpStream::connect(address).await {
        Ok(client) => client,
        Err(error) => {
            server.abort();
            return Err(error);
        }
    };
    for round in 0..5_u8 {
        // Behind an error of the server's registration the connection is closed.
        client.write_all(&[round; 32]).await?;
        let mut back = [0; 32];
        client.read_exact(&mut back).await?;
        assert_eq!(back, [round; 32]);
    }
    drop(client);
    server.await.map_err(|error| io::Error::other(error.to_string()))
}

/// A loop that this thread drives, with a timer and a task of another thread.
fn manual() -> io::Result<()> {
    let mut tasks = Builder::new().build_manual()?;
    let sleeps = tasks.spawn_local(sleep(Duration::from_millis(1)));
    let handle = tasks.handle().clone();
    let spawner = std::thread::Builder::new().spawn(move || handle.spawn(async { 1 }))?;
    let start = Instant::now();
    while !sleeps.is_finished() || !spawner.is_finished() {
        assert!(start.elapsed() < Duration::from_secs(30), "a manual loop comes to no end");
        match tasks.ready_tasks(Some(Duration::from_millis(10))) {
            Ok(ready) => ready.for_each(windlass::manual::Runnable::run),
            // Told once; what is ready comes again.
            Err(error) => println!("a look at the loop failed: {error}"),
        }
    }
    drop(spawner.join().expect("a thread that only spawns"));
    Ok(())
}

/// Threads and descriptors of this process.
fn census() -> (usize, usize) {
    // Without a descriptor for the look there is no look.
    let entries = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
    (entries("/proc/self/task"), entries("/proc/self/fd"))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
