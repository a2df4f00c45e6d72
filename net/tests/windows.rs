//! What only Windows has: callbacks of its thread pool, beside all that can happen meanwhile. For handles and the
//! wall clock see `windows_handles`.
#![cfg(windows)]

mod common;

use std::future::Future;
use std::io::ErrorKind;
use std::net::TcpStream as StdStream;
use std::os::windows::io::{AsSocket, BorrowedSocket};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use common::windows::{event, open_handles, set};
use common::{on_wake, poll_once, run, tcp_pair, within_deadline};
use windlass_net::{Async, OsEvent, TcpListener, TcpStream, UdpSocket, WaitHandle, WallTimer};
use windlass_runtime::{Runtime, resume_on_pool};

#[test]
fn waits_sockets_and_runtimes_leave_no_handle_behind() {
    within_deadline(|| {
        let some_of_everything = || {
            let runtime = common::runtime();
            runtime.block_on(async {
                let (thread, event) = (OsEvent::new(false).unwrap(), OsEvent::new(false).unwrap());
                for _ in 0..20 {
                    assert!(poll_once(&mut Box::pin(event.wait())).await.is_none());
                    thread.set().unwrap();
                    thread.wait().await.unwrap();
                    resume_on_pool().await.unwrap();
                    let (a, b) = tcp_pair().await;
                    a.write_all(b"x").await.unwrap();
                    b.read_exact(&mut [0]).await.unwrap();
                    drop(a);
                    assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
                }
            });
            assert!(runtime.shutdown(common::DEADLINE).is_clean());
        };
        some_of_everything();
        // The OS keeps some for later, and gives those of threads back when it likes.
        let before = open_handles();
        for _ in 0..20 {
            some_of_everything();
        }
        for _ in 0..100 {
            if open_handles() <= before + 10 {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{before} handles before, {} after", open_handles());
    });
}

/// More waits come back at a time than are kept for later.
#[test]
fn a_crowd_of_sockets_comes_and_goes() {
    run(|| async {
        for _ in 0..2 {
            let mut crowd = Vec::new();
            for _ in 0..1100 {
                crowd.push(UdpSocket::bind("127.0.0.1:0").await.unwrap());
            }
            let (first, last) = (&crowd[0], &crowd[crowd.len() - 1]);
            first.send_to(b"x", last.local_addr().unwrap()).await.unwrap();
            let (n, from) = last.recv_from(&mut [0; 2]).await.unwrap();
            assert_eq!((n, from), (1, first.local_addr().unwrap()));
        }
    });
}

/// A socket that several own.
struct Shared(Arc<StdStream>);

impl AsSocket for Shared {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.0.as_socket()
    }
}

#[test]
fn a_socket_is_registered_once_at_a_time() {
    run(|| async {
        let (a, _b) = tcp_pair().await;
        let a = Arc::new(a.into_std().unwrap());
        let first = Async::new(Shared(a.clone())).unwrap();
        let second = Async::new(Shared(a.clone()));
        assert_eq!(second.err().unwrap().kind(), ErrorKind::AlreadyExists);
        drop(first);
        drop(Async::new(Shared(a)).unwrap());
    });
}

/// A pair of which the second end waits, with `action` as its waker.
fn wake_by_callback(runtime: &Runtime, action: impl FnOnce(TcpStream) + Send + 'static) {
    let (a, b) = runtime.block_on(tcp_pair());
    let wait = Box::into_pin(Box::new(async move {
        assert_eq!(b.read(&mut [0]).await.unwrap(), 1);
        b
    }));
    let wait = Arc::new(Mutex::new(Some(wait)));
    let waker = on_wake({
        let wait = wait.clone();
        move || {
            let mut wait = wait.lock().unwrap().take().unwrap();
            let mut cx = Context::from_waker(Waker::noop());
            match wait.as_mut().poll(&mut cx) {
                Poll::Ready(stream) => action(stream),
                Poll::Pending => panic!("woken for nothing"),
            }
        }
    });
    let mut cx = Context::from_waker(&waker);
    assert!(wait.lock().unwrap().as_mut().unwrap().as_mut().poll(&mut cx).is_pending());
    windlass_sync::block_on(a.write_all(b"x")).unwrap();
    // The other end stays open until the callback has done what it does.
    std::mem::forget(a);
}

#[test]
fn a_callback_may_end_the_registration_it_came_for() {
    within_deadline(|| {
        let runtime = common::runtime();
        for _ in 0..50 {
            let (done, wait) = mpsc::channel();
            wake_by_callback(&runtime, move |stream| {
                drop(stream);
                done.send(()).unwrap();
            });
            wait.recv().unwrap();
        }
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

#[test]
fn a_callback_may_end_the_runtime() {
    within_deadline(|| {
        for _ in 0..10 {
            let runtime = common::runtime();
            let shared = Arc::new(Mutex::new(None));
            let (done, wait) = mpsc::channel();
            wake_by_callback(&runtime, {
                let shared = shared.clone();
                move |stream| {
                    let runtime: Runtime = loop {
                        match shared.lock().unwrap().take() {
                            Some(runtime) => break runtime,
                            None => std::thread::yield_now(),
                        }
                    };
                    drop(runtime);
                    drop(stream);
                    done.send(()).unwrap();
                }
            });
            *shared.lock().unwrap() = Some(runtime);
            wait.recv().unwrap();
        }
    });
}

#[test]
fn sockets_outlive_their_runtime() {
    within_deadline(|| {
        for _ in 0..20 {
            let runtime = common::runtime();
            let (a, b) = runtime.block_on(tcp_pair());
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            windlass_sync::block_on(a.write_all(b"x")).unwrap();
            assert!(runtime.shutdown(common::DEADLINE).is_clean());
            assert!(windlass_sync::block_on(b.read(&mut [0])).is_err());
            let mut b = b.into_std().unwrap();
            b.set_nonblocking(false).unwrap();
            std::io::Read::read_exact(&mut b, &mut [0]).unwrap();
            drop((a, listener));
        }
    });
}

type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One wait for each kind of callback, and how it is brought about. They borrow nothing.
fn one_of_each(runtime: &Runtime) -> [(Wait, Box<dyn FnOnce() + Send>); 4] {
    let (a, b) = runtime.block_on(tcp_pair());
    let theirs = event();
    let handle = theirs.try_clone().unwrap();
    let due = SystemTime::now() + Duration::from_millis(20);
    [
        (
            Box::pin(async move { drop(b.read(&mut [0]).await) }),
            Box::new(move || windlass_sync::block_on(a.write_all(b"x")).unwrap()),
        ),
        (
            Box::pin(async move { drop(WaitHandle::new(handle).wait().await) }),
            Box::new(move || set(&theirs)),
        ),
        (Box::pin(async move { drop(WallTimer::at(due).await) }), Box::new(|| ())),
        // The work item is under way with the first poll.
        (Box::pin(async { drop(resume_on_pool().await) }), Box::new(|| ())),
    ]
}

/// A panic must not get out of a callback, where it would meet the OS.
#[test]
fn a_waker_that_panics_in_a_callback_harms_nobody() {
    within_deadline(|| {
        let runtime = common::runtime();
        let entered = runtime.enter();
        for _ in 0..5 {
            for (mut wait, bring_about) in one_of_each(&runtime) {
                let (done, woken) = mpsc::channel();
                let waker = on_wake(move || {
                    done.send(()).unwrap();
                    // Without the message of a panic.
                    std::panic::resume_unwind(Box::new("on purpose"));
                });
                if wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    bring_about();
                    woken.recv().unwrap();
                }
            }
            runtime.block_on(async {
                let (a, b) = tcp_pair().await;
                a.write_all(b"x").await.unwrap();
                b.read_exact(&mut [0]).await.unwrap();
                resume_on_pool().await.unwrap();
            });
        }
        drop(entered);
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

/// A wait whose callback is in its waker, which does `action`.
fn in_its_waker(runtime: &Runtime, kind: usize, action: impl FnOnce() + Send + 'static) -> Wait {
    let _entered = runtime.enter();
    let (begun, begins) = mpsc::channel();
    let waker = on_wake(move || {
        begun.send(()).unwrap();
        action();
    });
    loop {
        let (mut wait, bring_about) = one_of_each(runtime).into_iter().nth(kind).unwrap();
        // A work item may be quicker than the poll.
        if wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            bring_about();
            begins.recv().unwrap();
            return wait;
        }
    }
}

#[test]
fn a_clean_shutdown_outlasts_the_callbacks_with_their_wakers() {
    within_deadline(|| {
        for kind in 0..4 {
            let runtime = common::runtime();
            let returned = Arc::new(AtomicBool::new(false));
            let wait = in_its_waker(&runtime, kind, {
                let returned = returned.clone();
                move || {
                    std::thread::sleep(Duration::from_millis(100));
                    returned.store(true, Ordering::Relaxed);
                }
            });
            drop(wait);
            assert!(runtime.shutdown(common::DEADLINE).is_clean(), "kind {kind}");
            assert!(returned.load(Ordering::Relaxed), "kind {kind}");
        }
    });
}

/// Neither who ends the wait waits for user code, nor who ends the runtime beyond the deadline.
#[test]
fn a_waker_that_does_not_return_holds_up_nobody_for_ever() {
    within_deadline(|| {
        for kind in 0..4 {
            let runtime = common::runtime();
            let (go_on, goes_on) = mpsc::channel::<()>();
            let (returned, returns) = mpsc::channel();
            let wait = in_its_waker(&runtime, kind, move || {
                let _ = goes_on.recv();
                returned.send(()).unwrap();
            });
            drop(wait);
            assert!(!runtime.shutdown(Duration::from_millis(10)).is_clean(), "kind {kind}");
            drop(go_on);
            returns.recv().unwrap();
        }
    });
}
