//! epoll: one instance with the sources, edge-triggered, and an eventfd that makes a wait return.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::Duration;

use super::CpuTimes;
use super::policy::{EPOLL_EVENTS, SHORT_SLICE};
use crate::poller::source::Readiness;
use crate::primitives::plain::{AtomicBool, Ordering as Plain};

pub(crate) use super::cpu_clock::cpu_time_of_thread;
pub(crate) use super::fd::{number, peer};

/// A borrowed file descriptor.
pub type Descriptor<'a> = BorrowedFd<'a>;
/// The number of a file descriptor.
pub type RawDescriptor = RawFd;

/// Returns the number of a borrowed descriptor.
pub(crate) fn raw(fd: Descriptor<'_>) -> RawDescriptor {
    fd.as_raw_fd()
}

/// The tokens that belong to no source.
const KICK: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

pub(crate) struct Selector {
    epoll: OwnedFd,
    /// Edge-triggered, so never emptied.
    kick: OwnedFd,
    /// The alarm. On old kernels it also times the waits.
    alarm: Alarm,
    /// True if the kernel has no `epoll_pwait2`, so that the alarm times the waits.
    is_old: AtomicBool,
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed; the results are new descriptors or errors.
        let (epoll, kick) = unsafe {
            (
                owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?,
                owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?,
            )
        };
        let edge = libc::EPOLLIN | libc::EPOLLET;
        control(&epoll, libc::EPOLL_CTL_ADD, kick.as_raw_fd(), edge, KICK)?;
        Ok(Self { epoll, kick, alarm: Alarm::default(), is_old: AtomicBool::new(false) })
    }

    pub(crate) fn register(&self, fd: Descriptor<'_>, token: u64) -> io::Result<()> {
        let read = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP;
        let interest = read | libc::EPOLLOUT | libc::EPOLLET;
        control(&self.epoll, libc::EPOLL_CTL_ADD, fd.as_raw_fd(), interest, token)
    }

    pub(crate) fn deregister(&self, fd: RawDescriptor) {
        // Fails only if the descriptor is closed already, which has removed it too.
        let _ = control(&self.epoll, libc::EPOLL_CTL_DEL, fd, 0, 0);
    }

    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.len = 0;
        let (room, most) = (events.buffer.as_mut_ptr().cast(), EPOLL_EVENTS as libc::c_int);
        // SAFETY: there is room for `most` events from `room` on, and the kernel writes no more.
        let taken = unsafe { self.wait_into(room, most, timeout) };
        match usize::try_from(taken) {
            Ok(taken) => events.len = taken,
            // The caller computes the time-out anew and waits again.
            Err(_) => uninterrupted(io::Error::last_os_error())?,
        }
        Ok(())
    }

    /// # Safety
    ///
    /// There is room for `most` events from `room` on.
    unsafe fn wait_into(
        &self,
        room: *mut libc::epoll_event,
        most: libc::c_int,
        timeout: Option<Duration>,
    ) -> libc::c_int {
        let epoll = self.epoll.as_raw_fd();
        // Without a time-out, or with one of zero, neither the newer call nor the alarm is needed.
        let timeout = match timeout {
            // SAFETY: the caller guarantees it.
            None => return unsafe { libc::epoll_wait(epoll, room, most, -1) },
            // SAFETY: as above.
            Some(Duration::ZERO) => return unsafe { libc::epoll_wait(epoll, room, most, 0) },
            Some(timeout) => timeout,
        };
        if !self.is_old.load(Plain::Relaxed) {
            let spec = timespec(timeout);
            // SAFETY: as above; `spec` outlives the call, and a null signal mask is allowed.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    epoll,
                    room,
                    most,
                    &raw const spec,
                    std::ptr::null::<libc::sigset_t>(),
                    0_usize,
                )
            } as libc::c_int;
            if taken >= 0 || !is_missing(&io::Error::last_os_error()) {
                return taken;
            }
            self.is_old.store(true, Plain::Relaxed);
        }
        // A kernel before 5.11, or a sandbox that does not know the call. If there is no timer either, times are
        // rounded up to milliseconds.
        let millis = match self.alarm(Some(timeout)) {
            Ok(()) => -1,
            Err(_) => libc::c_int::try_from(timeout.as_nanos().div_ceil(1_000_000))
                .unwrap_or(libc::c_int::MAX),
        };
        // SAFETY: as above.
        let taken = unsafe { libc::epoll_wait(epoll, room, most, millis) };
        let _ = self.alarm(None);
        taken
    }

    pub(crate) fn kick(&self) {
        let one = 1_u64.to_ne_bytes();
        // Fails only if the counter is full, and then it has been readable for a long time.
        // SAFETY: the buffer is eight bytes long and outlives the call.
        let _ = unsafe { libc::write(self.kick.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    pub(crate) fn alarm(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.alarm.set(&self.epoll, timeout)
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.epoll.as_fd()
    }
}

/// Returns true for the error of a kernel that does not know a call, or of a sandbox that does not allow it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// The events of one wait.
pub(crate) struct Events {
    buffer: Box<[MaybeUninit<libc::epoll_event>]>,
    len: usize,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![const { MaybeUninit::uninit() }; EPOLL_EVENTS].into(), len: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> + '_ {
        // SAFETY: the kernel has filled the first `len` places.
        let filled = self.buffer[..self.len].iter().map(|event| unsafe { event.assume_init_ref() });
        filled.filter(|event| event.u64 < ALARM).map(|event| {
            let flags = event.events as libc::c_int;
            let any = |wanted: libc::c_int| flags & wanted != 0;
            let readiness = Readiness {
                read: any(libc::EPOLLIN | libc::EPOLLPRI),
                write: any(libc::EPOLLOUT),
                // A read stops at the mark of urgent data, whatever comes after it.
                read_ends: any(libc::EPOLLRDHUP | libc::EPOLLPRI),
                broken: any(libc::EPOLLHUP | libc::EPOLLERR),
            };
            (event.u64, readiness)
        })
    }
}

/// # Safety
///
/// `fd` is negative, or a new descriptor that nobody else owns.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller guarantees it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn control(
    epoll: &OwnedFd,
    operation: libc::c_int,
    fd: RawFd,
    interest: libc::c_int,
    token: u64,
) -> io::Result<()> {
    let mut event = libc::epoll_event { events: interest as u32, u64: token };
    // SAFETY: `event` outlives the call.
    match unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &raw mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn uninterrupted(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

/// A timerfd in the epoll instance, made when it is first set.
#[derive(Default)]
struct Alarm(OnceLock<OwnedFd>);

impl Alarm {
    /// Sets the timer to go off once, or stops it. Setting it also takes an old expiry back.
    fn set(&self, epoll: &OwnedFd, time: Option<Duration>) -> io::Result<()> {
        let fd = match (self.0.get(), time) {
            (Some(fd), _) => fd,
            (None, None) => return Ok(()),
            // One thread at a time waits, and only that one sets it. If descriptors have run out, the next call tries
            // again.
            (None, Some(_)) => {
                let made = Self::make(epoll)?;
                self.0.get_or_init(|| made)
            }
        };
        let stopped = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would stop it. The shortest possible time goes off at once.
        let value = time.map_or(stopped, |time| timespec(time.max(Duration::from_nanos(1))));
        let setting = libc::itimerspec { it_interval: stopped, it_value: value };
        let (fd, none) = (fd.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: `setting` outlives the call, and the old setting is not asked for.
        match unsafe { libc::timerfd_settime(fd, 0, &raw const setting, none) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn make(epoll: &OwnedFd) -> io::Result<OwnedFd> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no pointers are passed; the result is a new descriptor or an error.
        let timer = unsafe { owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))? };
        control(epoll, libc::EPOLL_CTL_ADD, timer.as_raw_fd(), libc::EPOLLIN, ALARM)?;
        Ok(timer)
    }
}

/// Has the kernel wake the current thread on time, and not up to 50 µs later.
pub(crate) fn keep_time() {
    // Fails only on kernels without timer slack, which are punctual by themselves.
    // SAFETY: no pointers are passed.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Calls `f`, in which the current thread may wait, and has the kernel wake it on time meanwhile. The thread belongs to
/// the program, so it gets its own timer slack back.
pub(crate) fn keeping_time<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: no pointers are passed.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    keep_time();
    let result = f();
    // There is none where the kernel knows none, as for threads with real-time priority. Zero would be its default.
    if let Ok(slack @ 1..) = libc::c_ulong::try_from(slack) {
        // SAFETY: no pointers are passed.
        let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack) };
    }
    result
}

/// Has the kernel divide the current thread's share of the CPU into many short time slices instead of a few long ones.
/// A thread with shorter slices gets a CPU sooner when it is woken, and others wait for less time behind it. Kernels
/// before 6.12 ignore it, so errors are ignored too.
pub(crate) fn take_short_slices() {
    // SAFETY: a plain struct of integers.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::sched_attr>() as u32;
    let this_thread = 0;
    // SAFETY: writes at most `size` bytes.
    let got = unsafe {
        libc::syscall(libc::SYS_sched_getattr, this_thread, &raw mut attributes, size, 0_u32)
    };
    // With another policy the field means something else.
    if got == 0 && attributes.sched_policy == libc::SCHED_OTHER as u32 {
        attributes.sched_runtime = SHORT_SLICE.as_nanos() as u64;
        // SAFETY: reads the struct, which contains its size.
        unsafe {
            libc::syscall(libc::SYS_sched_setattr, this_thread, &raw const attributes, 0_u32)
        };
    }
}

/// The kernel's account of how long the current thread ran, and how long it waited for a CPU.
pub(crate) struct RunDelay(Option<File>);

impl RunDelay {
    /// Opens the account of the current thread. Without `/proc`, the account says nothing.
    pub(crate) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Returns the CPU time that all threads of the process have had, in nanoseconds. The accounts of threads lag
    /// behind by up to a tick while a thread runs; this one does not.
    pub(crate) fn cpu_time_of_process() -> Option<u64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` outlives the call.
        let got = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
        (got == 0).then_some(seconds.ok()? * 1_000_000_000 + nanos.ok()?)
    }

    pub(crate) fn read(&self) -> Option<CpuTimes> {
        let mut text = [0; 64];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
        Some(CpuTimes { ran: numbers.next()??, waited: numbers.next()?? })
    }
}

/// Returns a time-out in the kernel's form. One that can't be expressed is cut to the longest.
fn timespec(timeout: Duration) -> libc::timespec {
    // Well within the range of every clock of the kernel, which adds it to the time of day.
    const LONGEST: u64 = i32::MAX as u64;
    libc::timespec {
        // `time_t` is deprecated where libc is musl.
        tv_sec: timeout.as_secs().min(LONGEST) as _,
        tv_nsec: timeout.subsec_nanos().into(),
    }
}
