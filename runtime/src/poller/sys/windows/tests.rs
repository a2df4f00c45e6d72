//! Tests of what the OS refuses, and of callbacks that are held up. The OS is asked for something that it does not
//! have, or given a pool of one thread, so that the refusal or the delay is real.

use std::ffi::c_void;
use std::io;
use std::net::UdpSocket;
use std::os::windows::io::{AsHandle, AsRawHandle, AsSocket, FromRawHandle, OwnedHandle};
use std::ptr;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant, SystemTime};

use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;
use windows_sys::Win32::System::Threading::{
    CreateSemaphoreW, PTP_CALLBACK_INSTANCE, ReleaseSemaphore, TrySubmitThreadpoolCallback,
};

use super::event::Event;
use super::{Descriptor, Shared};
use crate::poller::Registration;
use crate::poller::source::Direction;
use crate::primitives::Arc;
use crate::primitives::plain::Ordering;
use crate::{Builder, Runtime, context, resume_on_pool, spawn};

const DEADLINE: Duration = Duration::from_secs(60);

/// A thread that waits for nothing is nearly always done by then; one that waits never is.
const A_WHILE: Duration = Duration::from_millis(200);

fn runtime() -> Runtime {
    Builder::new().workers(2).build().unwrap()
}

fn shared() -> Arc<Shared> {
    context::with_pool(|pool| pool.poller().selector.shared.clone())
}

fn refuse(on: bool) {
    shared().pool.refuses.store(on, Ordering::Relaxed);
}

#[track_caller]
fn is_refused<T>(result: io::Result<T>) {
    let error = result.err().expect("an error");
    assert_eq!(error.raw_os_error(), Some(ERROR_INVALID_PARAMETER as i32));
}

#[test]
fn a_work_item_that_is_refused_is_an_error_at_the_await() {
    let runtime = runtime();
    runtime.block_on(async {
        resume_on_pool().await.unwrap();
        refuse(true);
        for _ in 0..10 {
            is_refused(resume_on_pool().await);
            is_refused(spawn(resume_on_pool()).await.unwrap());
        }
        // A thread that waits for a work item goes on before its callback has returned.
        wait_until(|| shared().members.lock().works == 0);
        refuse(false);
        resume_on_pool().await.unwrap();
    });
    assert!(runtime.shutdown(DEADLINE).is_clean());
}

#[test]
fn a_wait_or_a_timer_that_is_refused_is_an_error_and_leaves_nothing_behind() {
    let runtime = runtime();
    runtime.block_on(async {
        let (event, socket) = (Event::new().unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let time = SystemTime::now() + Duration::from_millis(5);
        let register = || {
            [
                Registration::unready(Descriptor::Handle(event.handle())),
                Registration::unready(Descriptor::WallTime(time)),
                Registration::unready(Descriptor::Socket(socket.as_socket())),
            ]
        };
        refuse(true);
        for _ in 0..10 {
            register().into_iter().for_each(is_refused);
        }
        refuse(false);
        let [handle, clock, socket] = register().map(Result::unwrap);
        event.set();
        handle.ready(Direction::Read).await.unwrap();
        clock.ready(Direction::Read).await.unwrap();
        socket.ready(Direction::Write).await.unwrap();
    });
    assert!(runtime.shutdown(DEADLINE).is_clean());
}

#[track_caller]
fn wait_until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "it does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A signal that shows whether the OS has taken it, because there is no room for a second one.
struct Semaphore(OwnedHandle);

impl Semaphore {
    fn new() -> Self {
        // SAFETY: null is allowed for the attributes and for the name.
        let handle = unsafe { CreateSemaphoreW(ptr::null(), 0, 1, ptr::null()) };
        assert!(!handle.is_null(), "{}", io::Error::last_os_error());
        // SAFETY: the handle is new, and nobody else has it.
        Self(unsafe { OwnedHandle::from_raw_handle(handle) })
    }

    /// Returns false if there is a signal that nobody has taken.
    fn release(&self) -> bool {
        // SAFETY: the handle is open, and null is allowed.
        unsafe { ReleaseSemaphore(self.0.as_raw_handle(), 1, ptr::null_mut()) != 0 }
    }
}

/// Reports that it was woken, and returns only when it is told to.
struct Stuck {
    begun: mpsc::Sender<()>,
    goes_on: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Stuck {
    fn wake(self: std::sync::Arc<Self>) {
        self.begun.send(()).unwrap();
        let _ = self.goes_on.lock().unwrap().recv();
    }
}

/// The OS has taken a signal, and has no thread to report it. A shutdown used to wait for that, whatever its deadline.
/// The signal is known when there is a thread again.
#[test]
fn a_shutdown_keeps_its_deadline_while_the_pool_has_no_thread_for_what_is_due() {
    let runtime = runtime();
    let entered = runtime.enter();
    let shared = shared();
    shared.pool.limit_to_one_thread();
    let (event, semaphore) = (Event::new().unwrap(), Semaphore::new());
    let (begun, begins) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let waker = Waker::from(std::sync::Arc::new(Stuck { begun, goes_on: Mutex::new(goes_on) }));
    let stuck = Registration::unready(Descriptor::Handle(event.handle())).unwrap();
    assert!(stuck.poll_ready(Direction::Read, &mut Context::from_waker(&waker)).is_pending());
    event.set();
    begins.recv_timeout(DEADLINE).unwrap();
    let due = Registration::unready(Descriptor::Handle(semaphore.0.as_handle())).unwrap();
    assert!(semaphore.release());
    wait_until(|| semaphore.release());
    drop(entered);

    let (done, is_done) = mpsc::channel();
    // Time enough for the runtime's own threads to end.
    std::thread::spawn(move || done.send(runtime.shutdown(Duration::from_secs(1))));
    let report = is_done.recv_timeout(DEADLINE);
    // Lets the thread that ends the pool instead get as far as it can.
    std::thread::sleep(A_WHILE);
    let (done, is_known) = mpsc::channel();
    std::thread::spawn(move || done.send(due.end(Direction::Read)));
    let early = is_known.recv_timeout(A_WHILE);
    // Whatever the result, nobody goes on before this.
    drop(go_on);
    assert!(!report.expect("the deadline is kept").is_clean(), "a callback is in its waker");
    assert!(shared.members.lock().ended, "it has not come so far");
    assert_eq!(early, Err(RecvTimeoutError::Timeout), "there is no thread to tell of the signal");
    assert!(is_known.recv_timeout(DEADLINE).unwrap(), "the signal is lost");
}

unsafe extern "system" fn occupy(_: PTP_CALLBACK_INSTANCE, context: *mut c_void) {
    // SAFETY: the event is the test's, which lives until this has returned.
    let event = unsafe { &*context.cast::<Event>() };
    let _ = event.wait(true);
}

/// Nothing is in a waker, and still a callback that is due has no thread to begin on. In a destructor of a thread-local
/// it never gets one, and a loop that was dropped there used to wait for it for ever.
#[test]
fn a_loop_is_dropped_in_bounded_time_while_no_thread_can_begin() {
    let tasks = Builder::new().build_manual().unwrap();
    let entered = tasks.handle().enter();
    let shared = shared();
    shared.pool.limit_to_one_thread();
    // The thread is taken by something that the pool does not know about.
    let taken: &'static Event = Box::leak(Box::new(Event::new().unwrap()));
    let context = ptr::from_ref(taken).cast_mut().cast();
    let environment = shared.pool.of_pool();
    // SAFETY: `occupy` takes the context for what it is; the environment outlives the call.
    let submitted = unsafe { TrySubmitThreadpoolCallback(Some(occupy), context, &environment) };
    assert_ne!(submitted, 0, "{}", io::Error::last_os_error());
    let semaphore = Semaphore::new();
    let due = Registration::unready(Descriptor::Handle(semaphore.0.as_handle())).unwrap();
    assert!(semaphore.release());
    wait_until(|| semaphore.release());
    drop(entered);
    let (dropped, is_dropped) = mpsc::channel();
    let watch = std::thread::spawn(move || {
        let in_time = is_dropped.recv_timeout(DEADLINE).is_ok();
        taken.set();
        in_time
    });
    drop(tasks);
    let _ = dropped.send(());
    assert!(watch.join().unwrap(), "it has waited for the thread");
    drop((due, shared));
}

/// What callbacks look at is dropped with the registration, so the registration outlasts a callback that has begun.
#[test]
fn a_registration_does_not_end_before_its_callback() {
    let runtime = runtime();
    let entered = runtime.enter();
    let shared = shared();
    let event = Event::new().unwrap();
    event.set();
    for descriptor in [Descriptor::Handle(event.handle()), Descriptor::WallTime(SystemTime::now())]
    {
        let held = shared.pool.callbacks().held.lock();
        let registration = Registration::unready(descriptor).unwrap();
        wait_until(|| !shared.pool.is_idle());
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || done.send(registration.end(Direction::Read)));
        if is_done.recv_timeout(A_WHILE).is_ok() {
            // The callback would look at something that is gone.
            std::mem::forget(held);
            panic!("{descriptor:?} has ended");
        }
        drop(held);
        assert!(is_done.recv_timeout(DEADLINE).unwrap(), "{descriptor:?}");
    }
    drop((entered, shared));
    assert!(runtime.shutdown(DEADLINE).is_clean());
}
