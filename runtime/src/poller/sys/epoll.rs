//! epoll: an inner instance with the sources, edge-triggered, inside an outer one that only the
//! poller's thread waits on.
//!
//! The inner instance is in the outer one as `EPOLLONESHOT`: that is the gate. It is level-triggered,
//! so arming it while events wait fires it at once. Workers harvest the inner instance without
//! touching the outer one.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;

use super::Woken;
use crate::poller::source::Readiness;
use crate::primitives::plain::{AtomicBool, Ordering as Plain};

/// A borrowed file descriptor.
pub type Descriptor<'a> = BorrowedFd<'a>;
/// The number of a file descriptor.
pub type RawDescriptor = RawFd;

/// The number of a borrowed descriptor.
pub(crate) fn raw(fd: Descriptor<'_>) -> RawDescriptor {
    fd.as_raw_fd()
}

/// Events taken in one harvest.
const HARVEST: usize = 256;

/// The tokens in the inner instance that are no source's.
const SEAT: u64 = u64::MAX;
const SEAT_TIMER: u64 = u64::MAX - 1;
/// Tokens in the outer instance.
const GATE: u64 = 0;
const KICK: u64 = 1;
const TIMER: u64 = 2;

pub(crate) struct Selector {
    inner: OwnedFd,
    outer: OwnedFd,
    kick: OwnedFd,
    /// Interrupts a worker that waits on the inner instance. Edge-triggered, so never emptied.
    seat: OwnedFd,
    /// In the outer instance: the alarm.
    timer: Timer,
    /// In the inner instance, where the kernel is old.
    seat_timer: Timer,
    /// The kernel has no `epoll_pwait2`: timers time the waits.
    is_old: AtomicBool,
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed; the results are new descriptors or errors.
        let (inner, outer, kick, seat) = unsafe {
            (
                owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?,
                owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?,
                owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?,
                owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?,
            )
        };
        let edge = libc::EPOLLIN | libc::EPOLLET;
        control(&inner, libc::EPOLL_CTL_ADD, seat.as_raw_fd(), edge, SEAT)?;
        // Shut until it is armed.
        control(&outer, libc::EPOLL_CTL_ADD, inner.as_raw_fd(), libc::EPOLLONESHOT, GATE)?;
        control(&outer, libc::EPOLL_CTL_ADD, kick.as_raw_fd(), libc::EPOLLIN, KICK)?;
        Ok(Self {
            inner,
            outer,
            kick,
            seat,
            timer: Timer::new(TIMER),
            seat_timer: Timer::new(SEAT_TIMER),
            is_old: AtomicBool::new(false),
        })
    }

    pub(crate) fn register(&self, fd: Descriptor<'_>, token: u64) -> io::Result<()> {
        let read = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP;
        let interest = read | libc::EPOLLOUT | libc::EPOLLET;
        control(&self.inner, libc::EPOLL_CTL_ADD, fd.as_raw_fd(), interest, token)
    }

    pub(crate) fn deregister(&self, fd: RawDescriptor) {
        // Fails only if the descriptor is closed already, which has taken it off too.
        let _ = control(&self.inner, libc::EPOLL_CTL_DEL, fd, 0, 0);
    }

    pub(crate) fn harvest(&self, events: &mut Events) -> io::Result<usize> {
        events.len = 0;
        let (room, most) = events.room();
        // SAFETY: there is room for so many events, and the kernel writes no more.
        let taken = unsafe { libc::epoll_wait(self.inner.as_raw_fd(), room, most, 0) };
        events.filled(taken)
    }

    pub(crate) fn sit(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<usize> {
        events.len = 0;
        let (room, most) = events.room();
        // SAFETY: there is room for so many events.
        let taken = unsafe { self.wait_on(&self.inner, &self.seat_timer, room, most, timeout) };
        events.filled(taken)
    }

    pub(crate) fn kick_seat(&self) {
        write(&self.seat);
    }

    pub(crate) fn arm_gate(&self) -> io::Result<()> {
        let interest = libc::EPOLLIN | libc::EPOLLONESHOT;
        control(&self.outer, libc::EPOLL_CTL_MOD, self.inner.as_raw_fd(), interest, GATE)
    }

    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<Woken> {
        let mut room = [const { MaybeUninit::<libc::epoll_event>::uninit() }; 3];
        let (first, most) = (room.as_mut_ptr().cast(), room.len() as libc::c_int);
        // SAFETY: there is room for so many events.
        let taken = unsafe { self.wait_on(&self.outer, &self.timer, first, most, timeout) };
        let taken = match usize::try_from(taken) {
            Ok(taken) => taken,
            // The caller computes the time anew and waits again.
            Err(_) => uninterrupted(io::Error::last_os_error()).map(|()| 0)?,
        };
        let mut woken = Woken::default();
        for event in &room[..taken] {
            // SAFETY: the kernel has filled the first `taken` places.
            match unsafe { event.assume_init_ref() }.u64 {
                GATE => woken.gate = true,
                KICK => {
                    woken.kicked = true;
                    drain(&self.kick);
                }
                _ => {}
            }
        }
        Ok(woken)
    }

    /// Waits on one of the two instances, with the timer that belongs to it.
    ///
    /// # Safety
    ///
    /// There is room for `most` events from `room` on.
    unsafe fn wait_on(
        &self,
        epoll: &OwnedFd,
        timer: &Timer,
        room: *mut libc::epoll_event,
        most: libc::c_int,
        timeout: Option<Duration>,
    ) -> libc::c_int {
        // Without a time there is no need for the newer call, nor for a timer.
        let Some(timeout) = timeout else {
            // SAFETY: the caller says so.
            return unsafe { libc::epoll_wait(epoll.as_raw_fd(), room, most, -1) };
        };
        if !self.is_old.load(Plain::Relaxed) {
            let spec = timespec(timeout);
            // SAFETY: as above; `spec` outlives the call, and a null signal mask is allowed.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    epoll.as_raw_fd(),
                    room,
                    most,
                    &raw const spec,
                    std::ptr::null::<libc::sigset_t>(),
                    0_usize,
                )
            } as libc::c_int;
            if taken >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
                return taken;
            }
            self.is_old.store(true, Plain::Relaxed);
        }
        // A kernel before 5.11. Without a timer either, times are rounded up to milliseconds.
        let millis = match timer.set(epoll, Some(timeout)) {
            Ok(()) => -1,
            Err(_) => libc::c_int::try_from(timeout.as_nanos().div_ceil(1_000_000))
                .unwrap_or(libc::c_int::MAX),
        };
        // SAFETY: as above.
        let taken = unsafe { libc::epoll_wait(epoll.as_raw_fd(), room, most, millis) };
        let _ = timer.set(epoll, None);
        taken
    }

    pub(crate) fn alarm(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.timer.set(&self.outer, timeout)
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.outer.as_fd()
    }

    pub(crate) fn kick(&self) {
        write(&self.kick);
    }
}

/// The events of one harvest.
pub(crate) struct Events {
    buffer: Box<[MaybeUninit<libc::epoll_event>]>,
    len: usize,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![const { MaybeUninit::uninit() }; HARVEST].into(), len: 0 }
    }

    fn room(&mut self) -> (*mut libc::epoll_event, libc::c_int) {
        (self.buffer.as_mut_ptr().cast(), HARVEST as libc::c_int)
    }

    /// The kernel has filled so many places, or failed.
    fn filled(&mut self, taken: libc::c_int) -> io::Result<usize> {
        match usize::try_from(taken) {
            Ok(taken) => {
                self.len = taken;
                Ok(taken)
            }
            Err(_) => uninterrupted(io::Error::last_os_error()).map(|()| 0),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> + '_ {
        // SAFETY: the kernel has filled the first `len` places.
        let filled = self.buffer[..self.len].iter().map(|event| unsafe { event.assume_init_ref() });
        filled.filter(|event| event.u64 < SEAT_TIMER).map(|event| {
            let flags = event.events as libc::c_int;
            let any = |wanted: libc::c_int| flags & wanted != 0;
            let readiness = Readiness {
                read: any(libc::EPOLLIN | libc::EPOLLPRI),
                write: any(libc::EPOLLOUT),
                // A read stops at the mark of urgent data, whatever lies behind it.
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
    // SAFETY: the caller says so.
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

/// Adds one to an eventfd.
fn write(eventfd: &OwnedFd) {
    let one = 1_u64.to_ne_bytes();
    // Fails only if the counter is full, and then it has been readable for a long time.
    // SAFETY: the buffer is eight bytes long and outlives the call.
    let _ = unsafe { libc::write(eventfd.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// Empties an eventfd, so that it is not ready any more.
fn drain(fd: &OwnedFd) {
    let mut count = [0_u8; 8];
    // SAFETY: the buffer is eight bytes long and outlives the call.
    let _ = unsafe { libc::read(fd.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
}

/// A timerfd inside an epoll instance, made when it is first set.
struct Timer {
    token: u64,
    fd: OnceLock<OwnedFd>,
}

impl Timer {
    fn new(token: u64) -> Self {
        Self { token, fd: OnceLock::new() }
    }

    /// Sets the timer to go off once, or stops it. Setting it also takes an old expiry back.
    fn set(&self, epoll: &OwnedFd, time: Option<Duration>) -> io::Result<()> {
        let fd = match (self.fd.get(), time) {
            (Some(fd), _) => fd,
            (None, None) => return Ok(()),
            // Whoever waits on an instance is alone with it. If descriptors have run out, the next call tries
            // again.
            (None, Some(_)) => {
                let made = self.make(epoll)?;
                self.fd.get_or_init(|| made)
            }
        };
        let stopped = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would stop it; the shortest time there is goes off at once.
        let value = time.map_or(stopped, |time| timespec(time.max(Duration::from_nanos(1))));
        let setting = libc::itimerspec { it_interval: stopped, it_value: value };
        let (fd, none) = (fd.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: `setting` outlives the call, and the old setting is not asked for.
        match unsafe { libc::timerfd_settime(fd, 0, &raw const setting, none) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn make(&self, epoll: &OwnedFd) -> io::Result<OwnedFd> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no pointers are passed; the result is a new descriptor or an error.
        let timer = unsafe { owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))? };
        control(epoll, libc::EPOLL_CTL_ADD, timer.as_raw_fd(), libc::EPOLLIN, self.token)?;
        Ok(timer)
    }
}

/// Has the kernel wake the current thread on time, and not up to 50 µs later.
pub(crate) fn keep_time() {
    // Fails only on kernels without timer slack, which are punctual by themselves.
    // SAFETY: no pointers are passed.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// The shortest turn that the kernel grants, in nanoseconds.
const SHORT_TURN: u64 = 100_000;

/// Has the current thread take its share of the CPU in many short turns instead of a few long ones. Who is
/// woken and asks for less is let in at once, and others have to wait for less. Kernels before 6.12 don't
/// know of it and change nothing, so nor do we if anything fails.
pub(crate) fn take_short_turns() {
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
        attributes.sched_runtime = SHORT_TURN;
        // SAFETY: reads the struct, which tells its size.
        unsafe {
            libc::syscall(libc::SYS_sched_setattr, this_thread, &raw const attributes, 0_u32)
        };
    }
}

/// How often the kernel has given the current thread's CPU to another that was to run.
pub(crate) fn times_preempted() -> u64 {
    // SAFETY: a plain struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: writes the struct. It can't fail with these arguments.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nivcsw as u64
}

/// A time-out as the kernel wants it; one that it can't express is cut to the longest.
fn timespec(timeout: Duration) -> libc::timespec {
    // Well within the range of every clock of the kernel, which adds it to the time of day.
    const LONGEST: u64 = i32::MAX as u64;
    libc::timespec {
        tv_sec: timeout.as_secs().min(LONGEST) as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    }
}
