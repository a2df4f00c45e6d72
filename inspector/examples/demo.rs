//! A program to look into: a busy server in small, with a task that gets stuck now and then.
//!
//!     cargo run --release -p windlass-inspector --example demo
//!     cargo run --release -p windlass-inspector --example demo -- 100000      with as many idle tasks
//!
//! It prints the URL of its inspector, and runs until its standard input ends.

use std::io::Read;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use windlass::net::{TcpListener, TcpStream};
use windlass::sync::{AutoResetEvent, Latch};
use windlass::{inspector, lock, task, timer};

fn main() -> std::io::Result<()> {
    let idle = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    let runtime = windlass::Builder::new()
        .workers(2)
        .thread_name("demo")
        .report_long_polls(Duration::from_millis(100))
        // The inspector shows them.
        .on_long_poll(|_| {})
        .build()?;
    let inspector = runtime.block_on(async {
        let inspector = inspector::serve("127.0.0.1:0").await?;
        start(idle).await?;
        Ok::<_, std::io::Error>(inspector)
    })?;
    println!("{}", inspector.url());
    // Until whoever started us closes the pipe.
    let _ = std::io::stdin().read(&mut [0]);
    let _ = runtime.shutdown(Duration::from_secs(1));
    Ok(())
}

async fn start(idle: usize) -> std::io::Result<()> {
    let named = |name: &str| task::Builder::new().name(name);

    // Connections that talk, and some that wait.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    named("echo server").spawn(async move {
        while let Ok((stream, _peer)) = listener.accept().await {
            windlass::spawn(echo(stream));
        }
    });
    for number in 0..8 {
        named(&format!("client {number}")).spawn(async move {
            let stream = TcpStream::connect(address).await?;
            let mut buffer = [0; 64];
            loop {
                stream.write_all(&buffer).await?;
                stream.read_exact(&mut buffer).await?;
                timer::sleep(Duration::from_millis(2 * number + 1)).await;
            }
            #[allow(unreachable_code)]
            std::io::Result::Ok(())
        });
    }

    // A cache that blocks its worker: this is what the findings name.
    named("cache refresh").spawn(async {
        loop {
            timer::sleep(Duration::from_millis(250)).await;
            thread::sleep(Duration::from_millis(30));
        }
    });
    // A task that is stuck for a few seconds, again and again.
    named("report \"2026\"\n<b>stuck</b>").spawn(async {
        loop {
            timer::sleep(Duration::from_secs(2)).await;
            thread::sleep(Duration::from_secs(6));
        }
    });

    // Computations.
    named("thumbnails").spawn(async {
        loop {
            timer::sleep(Duration::from_millis(40)).await;
            let _ = windlass::compute(|| fib(24)).await;
        }
    });

    // A closure that blocks, on a thread of its own, as it should.
    named("export").spawn(async {
        loop {
            let _ = windlass::spawn_blocking(|| thread::sleep(Duration::from_millis(1_500))).await;
        }
    });

    // Tasks that wait for each other: a chain, and a circle.
    let slow = named("slow query").spawn(timer::sleep(Duration::from_secs(3_600)));
    let handler = named("handler").spawn(async { slow.await.is_ok() });
    named("request 17").spawn(async { handler.await.is_ok() });
    circle();

    // Tasks that wait, for all sorts of things.
    let never = Arc::new((AutoResetEvent::new(false), Latch::new(1), lock::Mutex::new(())));
    std::mem::forget(never.2.try_lock());
    for number in 0..idle {
        let never = never.clone();
        windlass::spawn(async move {
            match number % 4 {
                0 => never.0.wait().await,
                1 => never.1.wait().await,
                2 => drop(never.2.lock().await),
                _ => timer::sleep(Duration::from_secs(600 + number as u64)).await,
            }
        });
    }
    Ok(())
}

async fn echo(stream: TcpStream) {
    let mut buffer = [0; 64];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            break;
        }
    }
}

/// Spawns two tasks, each of which waits for the end of the other.
fn circle() {
    let (to_first, from_second) = windlass::channel::bounded::<task::JoinHandle<()>>(1);
    let first = task::Builder::new().name("ping").spawn(async move {
        if let Ok(second) = from_second.recv().await {
            let _ = second.await;
        }
    });
    let second = task::Builder::new().name("pong").spawn(async move {
        let _ = first.await;
    });
    let _ = to_first.try_send(second);
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = windlass::join(|| fib(n - 1), || fib(n - 2));
    a + b
}
