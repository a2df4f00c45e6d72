//! A thread pool of the OS that belongs to one poller, and the timer of its next deadline.
//!
//! The pool's waits and its timers are members of a cleanup group, which ends them all and waits for
//! their callbacks. Its threads run nothing but callbacks of the poller, so they keep the role of the
//! poller's thread for life: what they wake goes into the lane.

use std::ffi::c_void;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windows_sys::Win32::Foundation::FILETIME;
#[cfg(test)]
use windows_sys::Win32::System::Threading::SetThreadpoolThreadMaximum;
use windows_sys::Win32::System::Threading::{
    CloseThreadpool, CloseThreadpoolCleanupGroup, CloseThreadpoolCleanupGroupMembers,
    CreateThreadpool, CreateThreadpoolCleanupGroup, CreateThreadpoolTimer, PTP_CALLBACK_INSTANCE,
    PTP_CLEANUP_GROUP, PTP_POOL, PTP_TIMER, SetThreadpoolThreadMinimum, SetThreadpoolTimer,
    TP_CALLBACK_ENVIRON_V3, TP_CALLBACK_PRIORITY_NORMAL,
};

use super::event::Event;
use crate::context::{self, Role};
use crate::primitives::{Arc, AtomicUsize, Ordering};
#[cfg(test)]
use crate::primitives::{Mutex, plain::AtomicBool};

windlass_sync::thread_cell!(static POOL_OF_THREAD: PTP_POOL = 0);

pub(super) struct Threadpool {
    group: PTP_CLEANUP_GROUP,
    callbacks: Callbacks,
    /// Makes the OS refuse whatever is created, for tests.
    #[cfg(test)]
    pub(super) refuses: AtomicBool,
}

impl Threadpool {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: the argument is reserved and must be null.
        let pool = unsafe { CreateThreadpool(std::ptr::null()) };
        if pool == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes no arguments.
        let group = unsafe { CreateThreadpoolCleanupGroup() };
        // Its drop closes it even if there is no group.
        let this = Self {
            group,
            callbacks: Callbacks::new(pool),
            #[cfg(test)]
            refuses: AtomicBool::new(false),
        };
        if group == 0 {
            return Err(io::Error::last_os_error());
        }
        // One thread that stays saves the start of one for the first event after a pause.
        // SAFETY: the pool is open.
        if unsafe { SetThreadpoolThreadMinimum(pool, 1) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(this)
    }

    /// Returns the environment for callbacks of members of the group.
    pub(super) fn of_group(&self) -> TP_CALLBACK_ENVIRON_V3 {
        self.environment(self.group)
    }

    /// Returns the environment for callbacks that end by themselves.
    pub(super) fn of_pool(&self) -> TP_CALLBACK_ENVIRON_V3 {
        self.environment(0)
    }

    fn environment(&self, group: PTP_CLEANUP_GROUP) -> TP_CALLBACK_ENVIRON_V3 {
        let priority = TP_CALLBACK_PRIORITY_NORMAL;
        // There is no such priority, so the OS refuses it.
        #[cfg(test)]
        let priority = if self.refuses.load(Ordering::Relaxed) { i32::MAX } else { priority };
        TP_CALLBACK_ENVIRON_V3 {
            Version: 3,
            Pool: self.callbacks.pool,
            CleanupGroup: group,
            CallbackPriority: priority,
            Size: size_of::<TP_CALLBACK_ENVIRON_V3>() as u32,
            ..TP_CALLBACK_ENVIRON_V3::default()
        }
    }

    /// Has all callbacks share one thread.
    #[cfg(test)]
    pub(super) fn limit_to_one_thread(&self) {
        // SAFETY: the pool is open.
        unsafe { SetThreadpoolThreadMaximum(self.callbacks.pool, 1) };
    }

    /// Returns the part that callbacks enter first.
    pub(super) fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    /// Returns true on a thread that runs callbacks of this pool.
    pub(super) fn is_own_thread(&self) -> bool {
        POOL_OF_THREAD.with(std::cell::Cell::get) == self.callbacks.pool
    }

    /// Returns true if no callback runs, except for some that have just begun and some that are about to return.
    pub(super) fn is_idle(&self) -> bool {
        // Acquire pairs with the Release of those that have ended.
        self.callbacks.running.load(Ordering::Acquire) == 0
    }

    /// Ends all members of the group. Returns when the last callback has returned, including those that are due. The
    /// caller guarantees that, from before the call on, nobody creates, uses or closes a member.
    pub(super) fn close_members(&self) {
        // SAFETY: the group is open. The caller guarantees that nobody else uses its members.
        unsafe { CloseThreadpoolCleanupGroupMembers(self.group, 0, std::ptr::null_mut()) };
    }
}

impl Drop for Threadpool {
    fn drop(&mut self) {
        // SAFETY: both are open, and the group is empty: nobody keeps a pool whose members were not closed. The pool
        // itself waits for a callback that is just returning.
        unsafe {
            if self.group != 0 {
                CloseThreadpoolCleanupGroup(self.group);
            }
            CloseThreadpool(self.callbacks.pool);
        }
    }
}

/// The part of a pool that its callbacks share.
#[derive(Clone)]
pub(super) struct Callbacks {
    pool: PTP_POOL,
    running: Arc<AtomicUsize>,
    /// Callbacks that have begun go no further while it is locked, for tests.
    #[cfg(test)]
    pub(super) held: Arc<Mutex<()>>,
}

impl Callbacks {
    fn new(pool: PTP_POOL) -> Self {
        Self {
            pool,
            running: Arc::default(),
            #[cfg(test)]
            held: Arc::default(),
        }
    }

    /// Sets the role of the current thread, before a callback does anything else, and counts the callback as running.
    #[must_use]
    pub(super) fn enter(&self) -> Running {
        if POOL_OF_THREAD.with(|cell| cell.replace(self.pool)) != self.pool {
            context::set_role(Role::Poller);
        }
        self.running.fetch_add(1, Ordering::Relaxed);
        let running = Running(self.running.clone());
        #[cfg(test)]
        drop(self.held.lock());
        running
    }
}

/// A callback, until it has nothing left to do but to return.
pub(super) struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `Threadpool::is_idle`.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// The timer of the next deadline: it sets an event. A member of the pool's group.
pub(super) struct Alarm(PTP_TIMER);

impl Alarm {
    /// The event must live until the members of the pool's group are closed.
    pub(super) fn new(pool: &Threadpool, event: &Arc<Event>) -> io::Result<Self> {
        let context = Arc::as_ptr(event).cast_mut().cast();
        let environment = pool.of_group();
        // SAFETY: `ring` takes the context for what it is; the environment outlives the call.
        let timer = unsafe { CreateThreadpoolTimer(Some(ring), context, &environment) };
        if timer == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(timer))
    }

    /// Makes the timer go off once after this time, or not at all. Must not be used after the members were closed.
    pub(super) fn set(&self, timeout: Option<Duration>) {
        let due = timeout.map(relative);
        let due = due.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the timer is open; `due` is null, which stops it, or points to this frame.
        unsafe { SetThreadpoolTimer(self.0, due, 0, 0) };
    }
}

unsafe extern "system" fn ring(_: PTP_CALLBACK_INSTANCE, context: *mut c_void, _: PTP_TIMER) {
    // SAFETY: the event outlives the timer's callbacks, as `Alarm::new` requires.
    let event = unsafe { &*context.cast::<Event>() };
    event.set();
}

/// Returns a time from now on in the OS's form: negative, in units of 100 ns, here rounded up. One that it can't
/// express is cut to the longest.
fn relative(timeout: Duration) -> FILETIME {
    let units = timeout.as_nanos().div_ceil(100);
    filetime(-i64::try_from(units).unwrap_or(i64::MAX))
}

/// From the OS's epoch, the year 1601, to that of Unix.
const EPOCH: Duration = Duration::from_secs(11_644_473_600);

/// Returns a time of the wall clock in the OS's form: positive, in units of 100 ns since its epoch, rounded up. A time
/// that it can't express is cut to the last; one before the epoch of Unix is past anyway.
pub(super) fn absolute(time: SystemTime) -> FILETIME {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_add(EPOCH);
    filetime(i64::try_from(since.as_nanos().div_ceil(100)).unwrap_or(i64::MAX))
}

fn filetime(units: i64) -> FILETIME {
    FILETIME { dwLowDateTime: units as u32, dwHighDateTime: (units >> 32) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(FILETIME { dwLowDateTime: low, dwHighDateTime: high }: FILETIME) -> i64 {
        (u64::from(high) << 32 | u64::from(low)) as i64
    }

    #[test]
    fn times_are_rounded_up_and_cut_never_wrapped() {
        assert_eq!(units(relative(Duration::from_nanos(1))), -1);
        assert_eq!(units(relative(Duration::from_nanos(101))), -2);
        assert_eq!(units(relative(Duration::from_secs(1))), -10_000_000);
        assert_eq!(units(relative(Duration::MAX)), -i64::MAX);
    }

    #[test]
    fn times_of_the_wall_clock_are_counted_from_the_epoch_of_the_os() {
        const UNIX: i64 = 116_444_736_000_000_000;
        assert_eq!(units(absolute(UNIX_EPOCH)), UNIX);
        assert_eq!(units(absolute(UNIX_EPOCH + Duration::from_nanos(200))), UNIX + 2);
        assert_eq!(units(absolute(UNIX_EPOCH - Duration::from_secs(1))), UNIX);
    }
}
