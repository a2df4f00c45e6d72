//! What only Windows has: handles that can be waited for, and callbacks of its thread pool.
#![cfg(windows)]

mod common;

use std::io::ErrorKind;
use std::net::TcpStream as StdStream;
use std::os::windows::io::{
    AsHandle, AsRawHandle, AsSocket, BorrowedSocket, FromRawHandle, OwnedHandle,
};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use common::{poll_once, run, tcp_pair, within_deadline};
use windlass_net::{Async, OsEvent, TcpListener, TcpStream, UdpSocket, WaitHandle};
use windlass_runtime::{Runtime, spawn};
use windows_sys::Win32::System::Threading::{
    CreateWaitableTimerW, GetCurrentProcess, GetProcessHandleCount, SetEvent, SetWaitableTimer,
};

fn open_handles() -> u32 {
    let mut count = 0;
    // SAFETY: the handle is that of this process, and there is room for a number.
    assert_ne!(unsafe { GetProcessHandleCount(GetCurrentProcess(), &mut count) }, 0);
    count
}

fn process(script: &str) -> Child {
    Command::new("cmd").args(["/C", script]).spawn().unwrap()
}

/// A waitable timer that resets itself.
fn timer() -> OwnedHandle {
    // SAFETY: null is allowed for the attributes and for the name.
    let timer = unsafe { CreateWaitableTimerW(std::ptr::null(), 0, std::ptr::null()) };
    assert!(!timer.is_null());
    // SAFETY: it is new.
    unsafe { OwnedHandle::from_raw_handle(timer) }
}

fn set_timer(timer: &OwnedHandle, after: Duration) {
    let due = -((after.as_nanos() / 100) as i64);
    // SAFETY: the timer is open, and the time outlives the call.
    let set =
        unsafe { SetWaitableTimer(timer.as_raw_handle(), &due, 0, None, std::ptr::null(), 0) };
    assert_ne!(set, 0);
}

#[test]
fn a_process_is_waited_for() {
    run(|| async {
        let mut process = WaitHandle::new(process("exit 7"));
        process.wait().await.unwrap();
        // It stays signalled.
        process.wait().await.unwrap();
        assert_eq!(process.get_mut().wait().unwrap().code(), Some(7));
    });
}

#[test]
fn a_thread_is_waited_for_by_several() {
    run(|| async {
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let _ = ended.recv();
        });
        let thread = Arc::new(WaitHandle::new(thread));
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let thread = thread.clone();
                spawn(async move { thread.wait().await.unwrap() })
            })
            .collect();
        assert!(poll_once(&mut Box::pin(thread.wait())).await.is_none());
        drop(end);
        for wait in waiting {
            wait.await.unwrap();
        }
    });
}

#[test]
fn a_waitable_timer_is_waited_for_again_and_again() {
    run(|| async {
        let timer = WaitHandle::new(timer());
        for _ in 0..5 {
            set_timer(timer.get_ref(), Duration::from_millis(5));
            timer.wait().await.unwrap();
            assert!(poll_once(&mut Box::pin(timer.wait())).await.is_none(), "it resets itself");
        }
    });
}

#[test]
fn foreign_code_signals_an_event_by_its_handle() {
    run(|| async {
        let event = OsEvent::new(false).unwrap();
        for _ in 0..100 {
            let theirs = event.as_handle().try_clone_to_owned().unwrap();
            let foreign = std::thread::spawn(move || {
                // SAFETY: the handle is open.
                assert_ne!(unsafe { SetEvent(theirs.as_raw_handle()) }, 0);
            });
            event.wait().await.unwrap();
            foreign.join().unwrap();
            assert!(!event.is_set().unwrap());
        }
    });
}

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
                    windlass_runtime::resume_on_pool().await.unwrap();
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
        panic!("{} handles before, {} after", before, open_handles());
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

/// Runs a closure when it is woken: on the thread that has the event.
struct OnWake(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        if let Some(action) = self.0.lock().unwrap().take() {
            action();
        }
    }
}

fn on_wake(action: impl FnOnce() + Send + 'static) -> Waker {
    Waker::from(Arc::new(OnWake(Mutex::new(Some(Box::new(action))))))
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
                std::task::Poll::Ready(stream) => action(stream),
                std::task::Poll::Pending => panic!("woken for nothing"),
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
