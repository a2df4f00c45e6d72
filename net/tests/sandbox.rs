//! A sandbox, or an old kernel, without the newer system calls: everything works, less finely perhaps.
//!
//! Children without `pidfd_open` are in the tests of `windlass-os`.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/seccomp.rs"]
mod seccomp;

use std::time::{Duration, Instant};

use common::{runtime, within_deadline};
use windlass_net::TcpStream;
use windlass_runtime::{compute, join, timer};

/// Sockets, timers and a computation, on a runtime that is built where these calls are refused.
fn works_without(calls: &'static [libc::c_long]) {
    for error in [libc::ENOSYS, libc::EPERM] {
        within_deadline(move || {
            // For this thread, and those of the runtime.
            seccomp::refuse(calls, error);
            runtime().block_on(async {
                let address = common::echo_server().await;
                let stream = TcpStream::connect(address).await.unwrap();
                for micros in [0, 1, 300, 1_500, 20_000] {
                    let start = Instant::now();
                    timer::sleep(Duration::from_micros(micros)).await;
                    assert!(start.elapsed() >= Duration::from_micros(micros), "a timer is early");
                    stream.write_all(b"ping").await.unwrap();
                    let mut back = [0; 4];
                    stream.read_exact(&mut back).await.unwrap();
                    assert_eq!(&back, b"ping");
                }
                // Long enough for workers to ask for short time slices.
                let sums = compute(|| join(|| sum(1_000_000), || sum(2_000_000))).await.unwrap();
                assert_eq!(sums, (499_999_500_000, 1_999_999_000_000));
            });
        });
    }
}

fn sum(numbers: u64) -> u64 {
    if numbers <= 1_000 {
        return (0..numbers).sum();
    }
    let half = numbers / 2;
    let (low, high) = join(|| sum(half), || sum(numbers - half));
    low + high + half * (numbers - half)
}

#[test]
fn without_epoll_pwait2_the_alarm_times_the_waits() {
    works_without(&[libc::SYS_epoll_pwait2]);
}

#[test]
fn without_epoll_pwait2_and_timerfd_milliseconds_do() {
    works_without(&[libc::SYS_epoll_pwait2, libc::SYS_timerfd_create]);
}

#[test]
fn without_sched_setattr_and_io_uring_nothing_is_missed() {
    works_without(&[libc::SYS_sched_setattr, libc::SYS_io_uring_setup]);
}

/// As where `/proc` and `/sys` are not mounted, or not to be read.
#[test]
fn without_files_of_the_system_nothing_is_missed() {
    works_without(&[libc::SYS_openat, libc::SYS_sched_getaffinity]);
}
