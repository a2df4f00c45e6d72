//! Names that users of tokio and of std type without looking them up: where windlass has the thing,
//! it has the name. The rest is in the table of `docs/tokio.md`.

mod util;

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use util::PATIENCE;
use windlass::net::{TcpListener, TcpSocket, TcpStream};
use windlass::sync::CancellationToken;
use windlass::task::{self, AbortOnDropHandle, JoinSet, TaskTracker};
use windlass::timer::{Duration, Instant, MissedTickBehavior, interval, sleep};
use windlass::{Handle, Runtime};

#[windlass::test]
async fn tasks_are_spawned_through_the_module() {
    assert_eq!(task::spawn(async { 1 }).await.unwrap(), 1);
    assert_eq!(task::spawn_blocking(|| 2).await.unwrap(), 2);
    assert_eq!(Handle::current().compute(|| 3).await.unwrap(), 3);
}

#[windlass::test]
async fn a_set_takes_local_tasks_and_closures_for_a_runtime() {
    let mut set = JoinSet::new();
    let local = Rc::new(1);
    set.spawn_local(async move { *local });
    set.spawn_blocking_on(|| 2, &Handle::current());
    set.spawn_pinned(|| async { *Rc::new(3) });
    let mut results = vec![set.join_next().await.unwrap().unwrap()];
    let second = loop {
        // The task ends before its result lies there, so it is asked for until it does.
        if let Some(result) = set.try_join_next_with_id() {
            break result.unwrap();
        }
        task::yield_now().await;
    };
    results.push(second.1);
    results.push(set.join_next().await.unwrap().unwrap());
    results.sort_unstable();
    assert_eq!(results, [1, 2, 3]);
    assert!(set.try_join_next_with_id().is_none() && set.is_empty());
}

#[windlass::test]
async fn a_set_that_is_dropped_ends_its_local_tasks() {
    struct CountOnDrop(Rc<Cell<u32>>);
    impl Drop for CountOnDrop {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let mut set = JoinSet::new();
    for _ in 0..3 {
        let guard = CountOnDrop(dropped.clone());
        set.spawn_local(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
    }
    task::yield_now().await;
    assert_eq!(dropped.get(), 0);
    drop(set);
    while dropped.get() < 3 {
        task::yield_now().await;
    }
}

#[windlass::test]
async fn a_tracker_waits_for_local_tasks_closures_and_cloned_tokens() {
    let tracker = TaskTracker::new();
    let same = tracker.clone();
    assert!(TaskTracker::ptr_eq(&tracker, &same));
    let local = Rc::new(Cell::new(false));
    let set = local.clone();
    tracker.spawn_local(async move { set.set(true) });
    same.spawn_blocking_on(|| (), &Handle::current());
    let token = tracker.token();
    let clone = token.clone();
    drop(token);
    tracker.close();
    let early = windlass::timer::timeout(Duration::from_millis(1), tracker.wait()).await;
    assert!(early.is_err(), "the clone of a token counts");
    drop(clone);
    tracker.wait().await;
    assert!(local.get());
}

#[windlass::test]
async fn a_token_may_be_owned_by_what_it_ends() {
    let token = CancellationToken::new();
    let until = token.clone().run_until_cancelled_owned(std::future::pending::<()>());
    let task = windlass::spawn(until);
    let done = token.clone().run_until_cancelled_owned(async { 7 }).await;
    token.cancel();
    assert_eq!((done, task.await.unwrap()), (Some(7), None));
}

#[windlass::test]
async fn a_handle_may_abort_its_task_when_it_is_dropped() {
    let begin = || {
        let token = CancellationToken::new();
        let guard = token.clone().drop_guard();
        let task = windlass::spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        (token, AbortOnDropHandle::new(task))
    };
    let (dropped, task) = begin();
    drop(task);
    dropped.cancelled().await;

    let (dropped, mut task) = begin();
    let waited = windlass::timer::timeout(Duration::from_millis(1), &mut task).await;
    assert!(waited.is_err() && !dropped.is_cancelled(), "it may be awaited again");
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());

    let (dropped, task) = begin();
    let (id, task) = (task.id(), task.detach());
    windlass::yield_now().await;
    assert!(!dropped.is_cancelled() && task.id() == id);
    task.abort();
}

#[windlass::test]
async fn a_runtime_may_be_shut_down_in_the_background_by_one_of_its_tasks() {
    let runtime = Runtime::new().unwrap();
    let waits = runtime.spawn(std::future::pending::<()>());
    let (handle, (sender, receiver)) = (runtime.handle().clone(), std::sync::mpsc::channel());
    let ends = handle.spawn_blocking(move || {
        let runtime: Runtime = receiver.recv().unwrap();
        runtime.shutdown_background();
    });
    sender.send(runtime).unwrap();
    assert!(waits.await.unwrap_err().is_cancelled());
    ends.await.unwrap();
}

#[windlass::test(virtual_time = true)]
async fn timers_know_whether_they_have_elapsed_and_ticks_are_moved() {
    let start = windlass::timer::now();
    let mut hour = sleep(Duration::from_secs(3600));
    assert!(!hour.is_elapsed());
    (&mut hour).await;
    assert!(hour.is_elapsed());
    assert!(!sleep(Duration::MAX).is_elapsed());
    assert!(windlass::timer::now() - start >= Duration::from_secs(3600));

    let mut ticks = interval(Duration::from_secs(60));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let first: Instant = ticks.tick().await;
    ticks.reset_immediately();
    assert_eq!(ticks.tick().await, first);
    ticks.reset_after(Duration::from_secs(5));
    assert_eq!(ticks.tick().await, first + Duration::from_secs(5));
    assert_eq!(ticks.tick().await, first + Duration::from_secs(65));
}

#[windlass::test]
async fn halves_have_the_addresses_and_the_readiness_of_their_stream() -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    assert!(socket.reuseaddr()?);
    socket.bind("127.0.0.1:0".parse().unwrap())?;
    let listener: TcpListener = socket.listen(8)?;
    let mut client = TcpStream::connect(listener.local_addr()?).await?;
    let (server, _) = listener.accept().await?;
    let (near, far) = (client.local_addr()?, client.peer_addr()?);
    {
        let (reader, writer) = client.split();
        assert_eq!((reader.local_addr()?, reader.peer_addr()?), (near, far));
        assert_eq!((writer.local_addr()?, writer.peer_addr()?), (near, far));
        writer.writable().await?;
        assert_eq!(writer.try_write(b"x")?, 1);
    }
    let (reader, writer) = server.into_split();
    assert_eq!((reader.local_addr()?, reader.peer_addr()?), (far, near));
    assert_eq!((writer.local_addr()?, writer.peer_addr()?), (far, near));
    windlass::timer::timeout(PATIENCE, reader.readable()).await??;
    assert_eq!(reader.try_read(&mut [0; 2])?, 1);
    writer.writable().await
}
