//! The system calls that std has no function for, each behind a safe one.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// An epoll instance, level-triggered, for reading only.
pub(crate) struct Epoll(OwnedFd);

/// Room for the events of one wait.
pub(crate) struct Events(Vec<libc::epoll_event>);

impl Events {
    pub(crate) fn with_capacity(capacity: usize) -> Events {
        Events(Vec::with_capacity(capacity))
    }

    /// The tokens of what is readable.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|event| event.u64)
    }
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        // SAFETY: no preconditions.
        let fd = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
        Ok(Epoll(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Watches a descriptor until it is closed.
    pub(crate) fn add(&self, source: &impl AsFd, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: token };
        let (epoll, source) = (self.0.as_raw_fd(), source.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open, and `event` lives through the call.
        checked(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, source, &mut event) })?;
        Ok(())
    }

    /// Waits until something is readable; no events when the time is up. `None` waits for ever.
    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let millis = timeout.map_or(-1, |time| i32::try_from(time.as_millis()).unwrap_or(i32::MAX));
        let Events(list) = events;
        list.clear();
        let room = i32::try_from(list.capacity()).unwrap_or(i32::MAX);
        let filled = uninterrupted(|| {
            // SAFETY: the list has room for as many events as the kernel is told.
            checked(unsafe {
                libc::epoll_wait(self.0.as_raw_fd(), list.as_mut_ptr(), room, millis)
            })
        })?;
        // SAFETY: the kernel has written that many events, and they fit.
        unsafe { list.set_len(filled as usize) };
        Ok(())
    }

    /// The same for a time to the nanosecond, as far as the kernel can.
    pub(crate) fn wait_for(&self, events: &mut Events, time: Duration) -> io::Result<()> {
        if time > Duration::ZERO {
            let mut ready =
                libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let time = libc::timespec {
                tv_sec: time.as_secs() as libc::time_t,
                tv_nsec: time.subsec_nanos() as libc::c_long,
            };
            uninterrupted(|| {
                // SAFETY: one entry, and a time, both of which live through the call; no mask of signals.
                checked(unsafe { libc::ppoll(&mut ready, 1, &time, std::ptr::null()) })
            })?;
        }
        self.wait(events, Some(Duration::ZERO))
    }
}

/// Has the timers of the calling thread go off as soon as the kernel can, and not some 50 µs later.
pub(crate) fn sharpen_timers() -> io::Result<()> {
    // SAFETY: this option takes a number of nanoseconds and touches no memory.
    checked(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) })?;
    Ok(())
}

/// Raises the soft limit of open descriptors to the hard one.
pub(crate) fn raise_open_files() -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is writable memory of the right type.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` is filled in.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(())
}

/// Leaves the calling thread, and all threads and processes that it starts from now on, one CPU:
/// the last of those it may use.
pub(crate) fn pin_to_one_cpu() -> io::Result<()> {
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a set of CPUs is plain bits, and none of them set is the empty set.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `allowed` is writable memory of the size that is given.
    checked(unsafe { libc::sched_getaffinity(0, size, &mut allowed) })?;
    let mut cpus = (0..libc::CPU_SETSIZE as usize).rev();
    // SAFETY: every number is below the size of the set.
    let last = cpus.find(|&cpu| unsafe { libc::CPU_ISSET(cpu, &allowed) });
    let last = last.ok_or_else(|| io::Error::other("no CPU to run on"))?;
    // SAFETY: as above, zeroed and in range.
    let one = unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(last, &mut one);
        one
    };
    // SAFETY: `one` is a set of the size that is given.
    checked(unsafe { libc::sched_setaffinity(0, size, &one) })?;
    Ok(())
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID).expect("every thread has a CPU clock")
}

/// CPU time of all threads of another process, those that have ended included.
pub(crate) fn process_cpu(pid: u32) -> io::Result<Duration> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut id = 0;
    // SAFETY: `id` is writable memory of the right type.
    let rc = unsafe { libc::clock_getcpuclockid(pid, &mut id) };
    if rc == 0 { clock(id) } else { Err(io::Error::from_raw_os_error(rc)) }
}

fn clock(id: libc::clockid_t) -> io::Result<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable memory of the right type.
    checked(unsafe { libc::clock_gettime(id, &mut time) })?;
    // Neither part of a CPU time is ever negative.
    Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Has the kernel end this process when the thread that started it ends. `parent` is the process
/// that did: where it is gone already, there is an error.
pub(crate) fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: this option takes a signal number and touches no memory.
    checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(io::Error::other("the process that started this one is gone"))
    }
}

/// Has the kernel end this process by SIGALRM after a time (in whole seconds), unless it ends
/// before. No thread has to watch it.
pub(crate) fn end_after(limit: Duration) {
    // SAFETY: no preconditions; nobody handles the signal.
    unsafe { libc::alarm(u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1)) };
}

/// Calls again what a signal has interrupted.
fn uninterrupted(mut call: impl FnMut() -> io::Result<libc::c_int>) -> io::Result<libc::c_int> {
    loop {
        match call() {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn checked(rc: libc::c_int) -> io::Result<libc::c_int> {
    if rc == -1 { Err(io::Error::last_os_error()) } else { Ok(rc) }
}
