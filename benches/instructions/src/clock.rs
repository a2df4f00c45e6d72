//! A clock that does not depend on how fast the machine is.
//!
//! The scheduler looks at the clock to decide when to look at the shared queues, when to wake a second
//! worker and for how long to search. Under valgrind, where everything takes fifty times as long, or on
//! a busy machine it would decide otherwise, and other instructions would be counted. So the thread
//! that is measured gets a clock of its own: each reading is half a microsecond after the last one,
//! whatever happened in between. All other threads keep the kernel's.
//!
//! This works because std reads the clock through libc's `clock_gettime`, and the linker takes the
//! program's own function of that name where it has one.

use std::cell::Cell;

/// What passes between two readings, in nanoseconds: some 16 short polls, which is how often a busy
/// worker reads the clock.
const STEP: i64 = 500;

const SECOND: i64 = 1_000_000_000;

thread_local! {
    /// The last reading of this thread's own clock, in nanoseconds.
    static OWN: Cell<Option<i64>> = const { Cell::new(None) };
}

/// From now on the calling thread has a clock of its own, which starts at the kernel's time.
pub(crate) fn detach() {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable memory of the right type.
    unsafe { kernels(libc::CLOCK_MONOTONIC, &mut now) };
    OWN.set(Some(now.tv_sec * SECOND + now.tv_nsec));
}

/// Takes the place of libc's function in this program.
///
/// # Safety
///
/// `time` must be writable, as libc demands too.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    let own = if clock == libc::CLOCK_MONOTONIC { next() } else { None };
    match own {
        Some(now) => {
            // SAFETY: the caller vouches for it.
            unsafe { *time = libc::timespec { tv_sec: now / SECOND, tv_nsec: now % SECOND } };
            0
        }
        // SAFETY: the caller vouches for it.
        None => unsafe { kernels(clock, time) },
    }
}

fn next() -> Option<i64> {
    OWN.try_with(|own| {
        let now = own.get()? + STEP;
        own.set(Some(now));
        Some(now)
    })
    .ok()
    .flatten()
}

/// # Safety
///
/// As for `clock_gettime`.
unsafe fn kernels(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    // SAFETY: the call takes a number and a pointer that the caller vouches for.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as libc::c_int }
}
