//! The public names, used as a program outside would: what compiles here must go on compiling.

use std::io;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use windlass::manual;
use windlass::net::{Async, TcpListener, TcpStream, UdpSocket, resolve};
use windlass::sync::{AutoResetEvent, CancellationToken, Latch, ManualResetEvent, os};
use windlass::task::{self, JoinError, JoinHandle, JoinSet};
use windlass::timer::{
    Elapsed, MissedTick, Timer, WallTimer, interval, sleep, sleep_until, timeout, timeout_at,
};
use windlass::{Builder, EnterGuard, Handle, Metrics, Runtime, Scope, ShutdownReport};

const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(10);

#[test]
fn the_runtime_and_its_free_functions() {
    let runtime: Runtime = Builder::new()
        .workers(2)
        .thread_name("web")
        .stack_size(1 << 20)
        .max_blocking(4)
        .stuck_after(Duration::from_millis(20))
        .build()
        .unwrap();
    let handle: &Handle = runtime.handle();
    let _guard: EnterGuard<'_> = handle.enter();
    assert_eq!(runtime.block_on(async { Handle::current().spawn(async { 1 }).await.unwrap() }), 1);
    assert_eq!(handle.block_on(handle.spawn_blocking(|| 2)).unwrap(), 2);
    assert_eq!(runtime.block_on(runtime.spawn(async { 3 })).unwrap(), 3);

    windlass::block_on(async {
        let task: JoinHandle<u8> = windlass::spawn(async { 4 });
        assert_eq!(task.await.unwrap(), 4);
        assert_eq!(windlass::spawn_blocking(|| 5).await.unwrap(), 5);
        assert_eq!(windlass::compute(|| windlass::join(|| 6, || 7)).await.unwrap(), (6, 7));
        windlass::yield_now().await;
        windlass::spawn(windlass::resume_on_pool()).await.unwrap().unwrap();
    });
    let mut parts = [0; 2];
    let (left, right) = parts.split_at_mut(1);
    windlass::scope(|s: &Scope<'_>| {
        s.spawn(|s| {
            left[0] = 1;
            s.spawn(|_| right[0] = 2);
        });
    });
    assert_eq!(parts, [1, 2]);

    let metrics: Metrics = runtime.metrics();
    assert!(!format!("{metrics:?}").is_empty());
    let _: Metrics = handle.metrics();
    let report: ShutdownReport = {
        drop(_guard);
        runtime.shutdown(LONG)
    };
    assert!(!report.to_string().is_empty());
}

#[test]
fn tasks() {
    windlass::block_on(async {
        let named = task::Builder::new().name("x").spawn(async { 1 });
        let _ = (named.id(), named.is_finished(), named.abort_handle());
        assert_eq!(named.await.unwrap(), 1);

        let aborted = windlass::spawn(std::future::pending::<()>());
        aborted.abort();
        let error: JoinError = aborted.await.unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());

        let thrown = windlass::spawn(async { std::panic::resume_unwind(Box::new("on purpose")) });
        let thrown: Result<(), _> = thrown.await;
        assert!(thrown.unwrap_err().into_panic().is::<&str>());

        let mut set = JoinSet::new();
        set.spawn(async { 2 });
        assert_eq!(set.join_next().await.unwrap().unwrap(), 2);
    });
}

#[test]
fn a_manual_loop() {
    let mut main_loop: manual::Loop = Builder::new().build_manual().unwrap();
    let local = std::rc::Rc::new(1);
    let mut task = main_loop.spawn_local(async move { *local });
    let _: &Handle = main_loop.handle();
    for runnable in main_loop.ready_tasks(Some(Duration::ZERO)).unwrap() {
        runnable.run();
    }
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = std::future::Future::poll(std::pin::Pin::new(&mut task), &mut cx);
    assert!(matches!(polled, Poll::Ready(Ok(1))));
}

#[test]
fn sync() {
    let latch = Latch::new(3);
    latch.count_down();
    assert!(latch.try_count_down(2));
    latch.wait_blocking();
    assert!(latch.wait_timeout(SHORT));

    let auto = AutoResetEvent::new(true);
    assert!(auto.is_set());
    auto.reset();
    auto.set();
    auto.wait_blocking();
    assert!(!auto.wait_timeout(SHORT));

    let manual = ManualResetEvent::new(false);
    manual.set();
    manual.wait_blocking();
    assert!(manual.wait_timeout(SHORT) && manual.is_set());
    manual.reset();

    let token = CancellationToken::new();
    let child = token.child_token();
    token.cancel();
    assert!(child.is_cancelled());

    windlass::block_on(async {
        latch.wait().await;
        auto.set();
        auto.wait().await;
        manual.set();
        manual.wait().await;
        child.cancelled().await;
        let event = os::Event::new(false).unwrap();
        event.set().unwrap();
        event.wait().await.unwrap();
        let (sender, receiver) = windlass::channel::bounded(1);
        sender.send(1).await.unwrap();
        assert_eq!(receiver.recv().await.unwrap(), 1);
        *windlass::lock::Mutex::new(0).lock().await += 1;
    });
}

#[test]
fn timers() {
    windlass::block_on(async {
        sleep(SHORT).await;
        sleep_until(Instant::now() + SHORT).await;
        let mut again = Timer::new(SHORT);
        for _ in 0..2 {
            (&mut again).await;
        }
        let mut ticks = interval(SHORT);
        ticks.set_missed_tick(MissedTick::Skip);
        ticks.tick().await;
        let late: Result<(), Elapsed> = timeout(SHORT, std::future::pending()).await;
        assert_eq!(io::Error::from(late.unwrap_err()).kind(), io::ErrorKind::TimedOut);
        assert_eq!(timeout_at(Instant::now() + LONG, async { 1 }).await.unwrap(), 1);
        WallTimer::at(SystemTime::now() + SHORT).await.unwrap();
    });
}

#[test]
fn sockets() -> io::Result<()> {
    windlass::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address: SocketAddr = listener.local_addr()?;
        let server = windlass::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await?;
            AsyncWriteExt::write_all(&mut stream, &bytes).await?;
            let (reader, writer) = stream.into_split();
            let stream = reader.reunite(writer).unwrap();
            let std_stream = stream.into_std()?;
            drop(TcpStream::from_std(std_stream)?);
            let second = listener.incoming().next().await.unwrap()?;
            second.writable().await?;
            assert_eq!(second.try_write(b"!")?, 1);
            io::Result::Ok(())
        });
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        assert!(stream.nodelay()?);
        stream.write_all(b"ping").await?;
        stream.readable().await?;
        let mut bytes = [0; 4];
        stream.peek(&mut bytes).await?;
        {
            let (mut reader, _writer) = stream.split();
            AsyncReadExt::read_exact(&mut reader, &mut bytes).await?;
        }
        assert_eq!(&bytes, b"ping");
        stream.shutdown(std::net::Shutdown::Write)?;
        let addresses: Vec<SocketAddr> = resolve(("127.0.0.1", address.port())).await?.collect();
        let second = TcpStream::connect(&addresses[..]).await?;
        assert_eq!(second.read(&mut bytes).await?, 1);
        let _ = (second.try_read(&mut bytes), second.readable_timeout(SHORT).await);
        server.await.unwrap()?;

        let one = UdpSocket::bind("127.0.0.1:0").await?;
        let other = UdpSocket::bind("127.0.0.1:0").await?;
        one.send_to(b"a", other.local_addr()?).await?;
        assert_eq!(other.peek_from(&mut bytes).await?.0, 1);
        let (count, from): (usize, SocketAddr) = other.recv_from(&mut bytes).await?;
        assert_eq!((count, from), (1, one.local_addr()?));
        other.connect(from).await?;
        other.send(b"b").await?;
        assert_eq!(one.recv(&mut bytes).await?, 1);

        let any = Async::new(std::net::UdpSocket::bind("127.0.0.1:0")?)?;
        any.writable().await?;
        let late = any.readable_timeout(SHORT).await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        let itself = any.get_ref().local_addr()?;
        any.write_with(|socket| socket.send_to(b"c", itself)).await?;
        assert_eq!(any.read_with(|socket| socket.recv(&mut bytes)).await?, 1);
        Ok(())
    })
}

#[cfg(unix)]
#[test]
fn local_sockets() -> io::Result<()> {
    use windlass::net::unix::{UnixDatagram, UnixListener, UnixStream, pipe};
    let _: fn(&'static str) -> io::Result<UnixListener> = UnixListener::bind;
    windlass::block_on(async {
        let (one, other) = UnixStream::pair()?;
        one.write_all(b"x").await?;
        let mut bytes = [0; 1];
        other.read_exact(&mut bytes).await?;
        let (one, other) = UnixDatagram::pair()?;
        one.send(b"y").await?;
        assert_eq!(other.recv(&mut bytes).await?, 1);
        let (writer, reader) = pipe()?;
        writer.write_all(b"z").await?;
        assert_eq!(reader.read(&mut bytes).await?, 1);
        Ok(())
    })
}

#[test]
fn signals_processes_files_and_standard_streams() {
    use windlass::fs::{self, File, OpenOptions};
    use windlass::io::{CopyOptions, copy, copy_bidirectional, stderr, stdin, stdout};
    use windlass::process::{Child, Command};
    use windlass::signal::ctrl_c;

    windlass::block_on(async {
        let path = std::env::temp_dir().join(format!("windlass-api-{}", std::process::id()));
        fs::write(&path, "1").await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), b"1");
        let file: File = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
        assert_eq!(file.write_at(b"2", 1).await.unwrap(), 1);
        fs::remove_file(&path).await.unwrap();

        let this = std::env::current_exe().unwrap();
        let output = Command::new(&this).arg("--list").output().await.unwrap();
        assert!(output.status.success());
        let mut child: Child =
            Command::new(&this).arg("--list").stdout(std::process::Stdio::null()).spawn().unwrap();
        let (_id, _ended) = (child.id(), child.try_wait().unwrap());
        assert!(child.wait().await.unwrap().success());

        drop((stdin(), stdout(), stderr(), ctrl_c()));
        let mut copied = Vec::new();
        copy(&mut &b"bytes"[..], &mut copied).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut a = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut b, _) = listener.accept().await.unwrap();
        drop(copy_bidirectional(&mut a, &mut b));
        drop(CopyOptions::new().idle_timeout(LONG).copy_bidirectional(&mut a, &mut b));
    });
}

#[test]
#[cfg(unix)]
fn signals_of_unix() {
    use windlass::signal::unix::{Signal, SignalKind, signal};

    windlass::block_on(async {
        let mut signals: Signal = signal(SignalKind::user_defined1()).unwrap();
        assert!(timeout(SHORT, signals.recv()).await.is_err());
    });
}
