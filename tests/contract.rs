//! The names of hooks, task-locals, fork-join on a runtime by name, readiness by hand and serving,
//! used as a program outside would: what compiles here must go on compiling. `api.rs` has the rest.

mod util;

use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use util::{PATIENCE, wait_until};
use windlass::net::{Interest, ReadyGuard, TcpListener, TcpStream, UdpSocket};
use windlass::serve::{Drain, DrainReport, Listener, Switch};
use windlass::task::{self, JoinHandle, TaskTracker};
use windlass::{Builder, Handle, Runtime, Scope, TaskMeta, is_shutdown_error, worker_index};

/// One that the test ends by itself.
fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().unwrap()
}

#[test]
fn hooks() {
    let seen: Arc<[AtomicUsize; 6]> = Arc::default();
    let count = |index: usize| {
        let seen = seen.clone();
        move || {
            seen[index].fetch_add(1, Ordering::SeqCst);
        }
    };
    let (spawned, ended) = (count(4), count(5));
    let runtime = Builder::new()
        .workers(2)
        .thread_names(|index| format!("web-{index}"))
        .on_thread_start(count(0))
        .on_thread_stop(count(1))
        .on_park(count(2))
        .on_unpark(count(3))
        .on_task_spawn(move |task: &TaskMeta<'_>| {
            let _ = (task.id(), task.name(), task.location());
            spawned();
        })
        .on_task_end(move |_: &TaskMeta<'_>| ended())
        .build()
        .unwrap();
    let names = runtime.handle().broadcast(|index| {
        assert_eq!(worker_index(), Some(index));
        std::thread::current().name().map(str::to_owned)
    });
    assert_eq!(names, [Some("web-0".to_owned()), Some("web-1".to_owned())]);
    runtime.block_on(runtime.spawn(async {})).unwrap();
    wait_until("a worker has fallen asleep", || seen[2].load(Ordering::SeqCst) > 0);
    // The guard of `enter` does not keep the runtime from being shut down.
    let entered = runtime.enter();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    drop(entered);
    let seen: Vec<usize> = seen.iter().map(|count| count.load(Ordering::SeqCst)).collect();
    assert!(seen[0] >= 2 && seen[0] == seen[1] && seen[3] > 0, "{seen:?}");
    assert_eq!(seen[4..], [1, 1]);
}

windlass::task_local! {
    static USER: u32;
    static NAME: String;
}

#[test]
fn task_locals_and_ids() {
    let runtime = runtime(2);
    let task = runtime.spawn(USER.scope(7, async {
        task::yield_now().await;
        let name = NAME.sync_scope("x".to_owned(), || NAME.with(String::len) + NAME.get().len());
        assert!(NAME.try_with(String::len).is_err() && NAME.try_get().is_err());
        let (a, b) = windlass::join(|| USER.get(), || 1);
        (task::id(), a + b + name as u32)
    }));
    let id = task.id();
    assert_eq!(runtime.block_on(task).unwrap(), (id, 10));
    assert!(task::try_id().is_none());
}

#[test]
fn tasks_that_stay_or_block_or_are_tracked() {
    let runtime = runtime(1);
    runtime.block_on(async {
        let local = Rc::new(1);
        assert_eq!(task::spawn_local(async move { *local }).await.unwrap(), 1);
        let pinned: JoinHandle<i32> = task::spawn_pinned(|| async {
            let local = Rc::new(2);
            task::yield_now().await;
            *local
        });
        assert_eq!(pinned.await.unwrap(), 2);
    });
    let blocks = runtime.spawn(async {
        assert!(task::has_budget_remaining());
        task::unconstrained(task::consume_budget()).await;
        task::cooperative(async {}).await;
        task::block_in_place(|| windlass::block_on(async { 3 }))
    });
    assert_eq!(runtime.block_on(blocks).unwrap(), 3);

    let tracker = TaskTracker::new();
    let _entered = runtime.enter();
    // Dropping the handle detaches, without a warning.
    tracker.spawn(async {});
    tracker.spawn_on(async {}, runtime.handle());
    tracker.spawn_blocking(|| ());
    let token = tracker.token();
    assert!(!tracker.is_empty() && tracker.len() <= 4 && !tracker.is_closed());
    assert!(tracker.close() && tracker.reopen() && tracker.close());
    drop(token);
    runtime.block_on(tracker.track_future(async {}));
    runtime.block_on(tracker.wait());
}

#[test]
fn fork_join_on_a_runtime_by_name() {
    // A spare has no index.
    let one = Builder::new().workers(2).max_spares(0).build().unwrap();
    let other = runtime(1);
    let handle: &Handle = one.handle();
    assert_eq!(handle.workers(), 2);
    assert!(!handle.is_current() && worker_index().is_none());
    let (current, nested) = handle.install(|| {
        // A worker of one that waits for another.
        let nested = other.handle().join(|| handle.install(|| 1), || 2);
        (handle.is_current() && worker_index().is_some(), nested)
    });
    assert!(current);
    assert_eq!(nested, (1, 2));
    let sum = AtomicUsize::new(0);
    let add_one = || {
        sum.fetch_add(1, Ordering::Relaxed);
    };
    handle.scope(|s: &Scope<'_>| {
        for _ in 0..4 {
            s.spawn(|_| add_one());
        }
    });
    // A closure that is not `Send`, and jobs that are spawned by a thread outside.
    let local = Rc::new(1);
    windlass::scope_in_place(|s| {
        for _ in 0..4 {
            s.spawn(|_| add_one());
        }
        sum.fetch_add(*local, Ordering::Relaxed);
    });
    assert_eq!(sum.load(Ordering::Relaxed), 9);
    let mut indices = handle.broadcast(|index| index);
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn readiness_by_hand() -> io::Result<()> {
    fn unwinds<T: UnwindSafe + RefUnwindSafe>(_: &T) {}
    let runtime = runtime(1);
    let stream = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let client = TcpStream::connect(listener.local_addr()?).await?;
        let (server, _) = listener.accept().await?;
        unwinds(&listener);
        unwinds(&client);
        std::future::poll_fn(|cx| client.poll_writable(cx)).await?;
        client.write_all(b"abcd").await?;
        std::future::poll_fn(|cx| server.poll_readable(cx)).await?;
        let mut bytes = [0; 2];
        let guard: ReadyGuard<'_> = server.ready(Interest::READABLE).await?;
        assert_eq!(guard.try_io(|| server.try_read(&mut bytes))?, 2);
        let read = || server.try_read(&mut bytes);
        assert_eq!(server.async_io(Interest::READABLE, read).await?, 2);
        // Into memory that nobody has initialised.
        client.write_all(b"efgh").await?;
        let mut buffer = Vec::with_capacity(16);
        assert_eq!(server.read_uninit(&mut buffer.spare_capacity_mut()[..2]).await?, b"ef");
        assert_eq!((server.read_buf(&mut buffer).await?, &buffer[..]), (2, &b"gh"[..]));
        let would_block = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        assert!(server.try_io(Interest::READABLE, would_block).is_err());
        io::Result::Ok(server)
    });
    let (stream, socket) = (stream?, runtime.block_on(UdpSocket::bind("127.0.0.1:0"))?);
    drop(runtime);
    let error = windlass::block_on(stream.readable()).unwrap_err();
    assert!(is_shutdown_error(&error), "{error}");
    let error = windlass::block_on(socket.recv(&mut [0])).unwrap_err();
    assert!(is_shutdown_error(&error), "{error}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn local_sockets_by_hand() -> io::Result<()> {
    use windlass::net::unix::{UnixSocket, UnixStream};
    let path = std::env::temp_dir().join(format!("windlass-contract-{}", std::process::id()));
    windlass::block_on(async {
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        let listener = socket.listen(8)?;
        let client: UnixStream = UnixSocket::new_stream()?.connect(&path).await?;
        std::fs::remove_file(&path)?;
        let (server, _) = listener.accept().await?;
        assert!(server.peer_cred()?.uid() == client.peer_cred()?.uid());
        UnixSocket::new_datagram()?.datagram().map(drop)
    })
}

#[test]
fn serving() -> io::Result<()> {
    fn is_listener<L: Listener>(_: &L) {}
    let runtime = runtime(1);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        is_listener(&listener);
        let address = listener.local_addr()?;
        let drain = Drain::new().deadline(PATIENCE).grace(Duration::from_millis(1)).limit(8);
        let (switch, token): (Switch, _) = (drain.switch(), drain.token().clone());
        let serving =
            windlass::spawn(drain.serve(listener, |stream: TcpStream, _, told| async move {
                let mut byte = [0];
                while stream.read(&mut byte).await.is_ok_and(|count| count > 0) {
                    let _ = stream.write_all(&byte).await;
                }
                told.cancelled().await;
            }));
        let client = TcpStream::connect(address).await?;
        client.write_all(b"x").await?;
        client.read_exact(&mut [0]).await?;
        let hold = switch.hold("an upgraded connection");
        switch.flip();
        token.cancelled().await;
        drop((client, hold));
        let report: DrainReport = serving.await.unwrap()?;
        assert!(report.is_clean() && report.accepted() == 1 && report.panicked() == 0, "{report}");
        assert!(report.aborted().is_empty() && report.elapsed() < PATIENCE);
        drop(Drain::new().on(async {}));
        Ok(())
    })
}
