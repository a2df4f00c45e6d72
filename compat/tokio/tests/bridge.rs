//! A tokio runtime beside ours: what calls tokio works on each of our threads, and the other way round.

#[path = "../../../tests/util/mod.rs"]
mod util;

use std::net::SocketAddr;
use std::panic::catch_unwind;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle as SideHandle;
use util::{PATIENCE, text_of, wait_for, within_patience};
use windlass::{Builder, Handle, Runtime};
use windlass_tokio::BuilderExt;

fn bridged(workers: usize) -> Runtime {
    Builder::new().workers(workers).thread_name("ours").with_tokio().build().unwrap()
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// Uses tokio's time, sockets, files and tasks.
async fn use_tokio() {
    tokio::time::sleep(Duration::from_millis(1)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    });
    assert_eq!(echo(address).await, *b"hello");
    server.await.unwrap();
    assert!(tokio::fs::metadata("Cargo.toml").await.unwrap().is_file());
}

async fn echo(address: SocketAddr) -> [u8; 5] {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes).await.unwrap();
    bytes
}

#[test]
fn tokio_works_on_workers_in_block_on_and_on_blocking_threads() {
    let runtime = bridged(2);
    runtime.block_on(use_tokio());
    wait_for(runtime.spawn(use_tokio())).unwrap();
    let blocking = runtime.spawn_blocking(|| {
        windlass::block_on(use_tokio());
        SideHandle::current().block_on(use_tokio());
    });
    wait_for(blocking).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn futures_run_on_our_workers_and_spawned_ones_aside_with_our_runtime_at_hand() {
    let runtime = bridged(2);
    let names = runtime.spawn(async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        // Or on a spare, if the OS keeps a worker from running.
        let here = thread_name();
        let aside = tokio::spawn(async {
            let back = windlass::spawn(async { thread_name() }).await.unwrap();
            windlass::timer::sleep(Duration::from_millis(1)).await;
            (thread_name(), back)
        });
        let (aside, back) = aside.await.unwrap();
        let blocking = tokio::task::spawn_blocking(|| Handle::try_current().is_some());
        (here, aside, back, blocking.await.unwrap())
    });
    let (here, aside, back, blocking) = wait_for(names).unwrap();
    let is_ours = |name: &str| name.starts_with("ours-") && name != "ours-tokio";
    assert!(is_ours(&here), "{here}");
    assert_eq!(aside, "ours-tokio");
    assert!(is_ours(&back), "what is spawned there runs on a worker, and not on {back}");
    assert!(blocking, "tokio's blocking threads know our runtime too");
    let metrics = runtime.metrics();
    assert_eq!(metrics.tasks_spawned, 2);
}

/// A worker lives in one poll of tokio's, whose budget was never renewed: after 128 messages it was over.
#[test]
fn the_budget_of_tokio_does_not_end() {
    let runtime = bridged(1);
    let sum = runtime.spawn(async {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        (0..10_000_u64).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        let mut sum = 0;
        while let Some(number) = receiver.recv().await {
            sum += number;
        }
        sum
    });
    assert_eq!(wait_for(sum).unwrap(), 49_995_000);
}

#[test]
fn processes_and_signals_work() {
    let runtime = bridged(1);
    let output = runtime.spawn(async {
        let _ctrl_c = tokio::signal::ctrl_c();
        let name = std::env::current_exe().unwrap();
        tokio::process::Command::new(name).arg("--list").output().await.unwrap()
    });
    let output = wait_for(output).unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("processes_and_signals_work"));
}

#[test]
fn blocking_on_tokio_is_refused_on_a_worker_and_allowed_where_blocking_is() {
    let runtime = bridged(1);
    let refused = runtime.spawn(async {
        let refused = catch_unwind(|| SideHandle::current().block_on(async {}));
        text_of(&*refused.unwrap_err()).to_owned()
    });
    let message = within_patience("a nested block_on", move || wait_for(refused)).unwrap();
    assert!(message.contains("block the current thread"), "{message}");
    let blocking: [fn(); 3] = [
        || SideHandle::current().block_on(async {}),
        || assert!(tokio::sync::mpsc::channel::<()>(1).1.blocking_recv().is_none()),
        || drop(tokio::runtime::Runtime::new().unwrap()),
    ];
    for blocks in blocking {
        let error = wait_for(runtime.spawn(async move { blocks() })).unwrap_err();
        let payload = error.into_panic();
        let message = text_of(&*payload);
        assert!(message.contains("windlass::task::block_in_place"), "says what to do: {message}");
    }
    let error = wait_for(runtime.spawn(async { panic!("another") })).unwrap_err();
    assert_eq!(text_of(&*error.into_panic()), "another");
    let allowed = runtime.spawn(async {
        let spawned = || SideHandle::current().block_on(async { tokio::spawn(async { 1 }).await });
        let ours = windlass::task::block_in_place(spawned).unwrap();
        let theirs = tokio::task::block_in_place(spawned).unwrap();
        // And a worker is one again afterwards.
        let refused = catch_unwind(|| SideHandle::current().block_on(async {})).is_err();
        (ours + theirs, refused)
    });
    assert_eq!(within_patience("in place", move || wait_for(allowed)).unwrap(), (2, true));
}

/// One worker, for which a spare stands in after a millisecond in a poll.
fn with_a_worker_soon_stuck() -> Runtime {
    let builder = Builder::new().workers(1).stuck_after(Duration::from_millis(1));
    builder.with_tokio().build().unwrap()
}

/// A crate that blocks our worker holds up neither our tasks nor tokio's time.
#[test]
fn a_spare_has_tokio_at_hand() {
    let runtime = with_a_worker_soon_stuck();
    let (done, blocks) = mpsc::channel();
    let stuck = runtime.spawn(async move { blocks.recv_timeout(PATIENCE).unwrap() });
    let other = runtime.spawn(async move {
        use_tokio().await;
        done.send(()).unwrap();
    });
    wait_for(other).unwrap();
    wait_for(stuck).unwrap();
}

/// The `block_on` of a crate that knows neither of us, on tokio's time: the only worker is stuck, and its stand-in serves
/// what the blocked future waits for.
#[test]
fn a_worker_that_blocks_on_what_tokio_drives_holds_up_nobody() {
    let runtime = with_a_worker_soon_stuck();
    let (tell, address) = mpsc::channel();
    let server = runtime.spawn(async move {
        let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        tell.send(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        // Until then, the other task is certain to block.
        windlass::timer::sleep(Duration::from_millis(20)).await;
        stream.write_all(&bytes).await.unwrap();
    });
    let address = address.recv_timeout(PATIENCE).unwrap();
    let stuck = runtime.spawn(async move {
        futures_lite::future::block_on(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            echo(address).await
        })
    });
    assert_eq!(wait_for(stuck).unwrap(), *b"hello");
    wait_for(server).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn two_runtimes_have_a_tokio_each() {
    let (a, b) = (bridged(1), Builder::new().workers(1).with_tokio().build().unwrap());
    let id = |runtime: &Runtime| wait_for(runtime.spawn(async { SideHandle::current().id() }));
    assert_ne!(id(&a).unwrap(), id(&b).unwrap());
    drop(a);
    wait_for(b.spawn(use_tokio())).unwrap();
}

#[windlass::test(tokio = true)]
async fn the_attributes_switch_it_on() {
    use_tokio().await;
    windlass::spawn(use_tokio()).await.unwrap();
}

#[test]
fn the_global_runtime_may_have_it() {
    const NAME: &str = "the_global_runtime_may_have_it";
    if !util::is_child() {
        return util::passes_in_child(NAME, &[]);
    }
    Builder::new().with_tokio().build_global().unwrap();
    windlass::block_on(use_tokio());
    wait_for(windlass::spawn(use_tokio())).unwrap();
}

#[test]
fn a_manual_loop_has_none() {
    let error = Builder::new().with_tokio().build_manual().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn many_tasks_wait_for_tokio_at_once() {
    let runtime = bridged(2);
    let tasks: Vec<_> = (0..2_000)
        .map(|number| {
            runtime.spawn(async move {
                tokio::time::sleep(Duration::from_millis(number % 7)).await;
                tokio::spawn(async move { windlass::spawn(async move { number }).await.unwrap() })
                    .await
                    .unwrap()
            })
        })
        .collect();
    let sum: u64 = tasks.into_iter().map(|task| wait_for(task).unwrap()).sum();
    assert_eq!(sum, 1_999_000);
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

/// The parent limits the address space; the child uses it up, but for less than a thread's stack.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_is_not_to_be_had_is_an_error_that_says_so() {
    const NAME: &str = "a_thread_that_is_not_to_be_had_is_an_error_that_says_so";
    const LIMITED: &str = "the address space is limited";
    if !util::is_child() {
        let limited = |arguments: &[&str]| {
            std::process::Command::new("sh")
                .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\""])
                .arg(std::env::current_exe().unwrap())
                .args(arguments)
                .env("WINDLASS_TEST_CHILD", "1")
                .output()
                .unwrap()
        };
        // Where programs can't start at all under the limit (a sanitizer's), nothing can be shown.
        if !limited(&["--list"]).status.success() {
            println!("skipped: this program does not start in a limited address space");
            return;
        }
        let output = limited(&["--exact", NAME, "--nocapture", "--test-threads=1"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(LIMITED), "{text}{output:?}");
        return;
    }
    println!("{LIMITED}");
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(4096);
    for size in [64 << 20, 1 << 20] {
        loop {
            let mut block = Vec::new();
            if block.try_reserve_exact(size).is_err() {
                break;
            }
            blocks.push(block);
        }
    }
    blocks.pop();
    let error = Builder::new().workers(1).with_tokio().build().unwrap_err();
    assert!(error.to_string().contains("tokio"), "{error}");
    drop(blocks);
    // Nothing is left behind, and the next attempt succeeds.
    let runtime = Builder::new().workers(1).with_tokio().build().unwrap();
    wait_for(runtime.spawn(async { tokio::task::yield_now().await })).unwrap();
}

#[test]
fn a_bridged_block_on_inside_of_another_is_allowed_as_without() {
    let (outer, inner) = (bridged(1), bridged(1));
    outer.block_on(async {
        let id = SideHandle::current().id();
        inner.block_on(async { assert_ne!(SideHandle::current().id(), id) });
        assert_eq!(SideHandle::current().id(), id);
    });
}
