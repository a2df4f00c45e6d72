//! What the OS refuses. It is asked for something that it has not, so the refusal is its own.

use std::io;
use std::net::UdpSocket;
use std::os::windows::io::AsSocket;
use std::time::{Duration, SystemTime};

use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;

use super::event::Event;
use super::{Descriptor, Shared};
use crate::poller::Registration;
use crate::poller::source::Direction;
use crate::primitives::Arc;
use crate::primitives::plain::Ordering;
use crate::{Builder, Runtime, context, resume_on_pool, spawn};

const DEADLINE: Duration = Duration::from_secs(60);

fn runtime() -> Runtime {
    Builder::new().workers(2).build().unwrap()
}

fn shared() -> Arc<Shared> {
    context::with_pool(|pool| pool.poller().bell.selector.shared.clone())
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
        assert_eq!(shared().members.lock().works, 0);
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
