//! Signals: one handler for the process, which counts them and wakes the runtimes that listen.
//!
//! # The handler
//!
//! It may interrupt anything, so it takes no lock and allocates nothing. It adds one to the signal's count, writes a
//! byte to the *inlet* of each runtime that listens, and calls the handler that was installed before it. Counts,
//! inlets' pipes and former handlers are never freed, because a handler may use them at any time.
//!
//! # The listeners
//!
//! An inlet is a pair of sockets: the handler writes to one, and the other is registered with a runtime's poller. All
//! listeners of a runtime share one. A listener remembers the last count that it has seen, and has received a signal if
//! the count differs now. So a signal that arrives between two waits, or before the first, is not lost. Several that
//! arrive before the listener checks become one, as in the OS itself.
//!
//! The count is incremented before the byte is written, and [`Registration::until`] checks it after the waiter is in
//! the list. A listener that wakes up empties the socket before it checks the count. The bytes that it removes may
//! include one that the poller has not noticed yet and that other listeners wait for, so it makes all of them check
//! again.
//!
//! Sockets outlive their runtimes, and are reused by the next one. After a byte from an earlier time, or from the
//! handler of a forked child, the count is unchanged, and the wake-up has no effect.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use libc::{c_int, c_void, siginfo_t};
use windlass_runtime::io::{Direction, Registration};
use windlass_sync::primitives::{Arc, AtomicPtr, AtomicU32, Mutex, Ordering};

use super::check;

/// More signals than any of the systems has.
const SIGNALS: usize = 128;

/// The number of times that each signal has arrived.
static COUNTS: [AtomicU32; SIGNALS] = [const { AtomicU32::new(0) }; SIGNALS];
/// The action before the handler was installed, by signal; null where it is not installed.
static FORMER: [AtomicPtr<libc::sigaction>; SIGNALS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS];
/// The head of the list of pairs of sockets that the handler writes to.
static SOCKETS: AtomicPtr<Sockets> = AtomicPtr::new(ptr::null_mut());
/// The runtimes' inlets. Also locked to install the handler.
static INLETS: Mutex<Inlets> = Mutex::new(Inlets { used: Vec::new(), free: Vec::new() });

/// Signals that report faults, which would be raised again when the handler returns, and those that no process may
/// handle.
const FORBIDDEN: [c_int; 5] =
    [libc::SIGKILL, libc::SIGSTOP, libc::SIGILL, libc::SIGFPE, libc::SIGSEGV];

/// A pair of sockets, never freed.
#[derive(Debug)]
struct Sockets {
    read: UnixStream,
    write: UnixStream,
    /// The next pair in the handler's list.
    next: *const Sockets,
}

// SAFETY: `next` points to another of them, is never changed, and none of them is ever freed.
unsafe impl Send for Sockets {}
// SAFETY: as above.
unsafe impl Sync for Sockets {}

struct Inlets {
    used: Vec<std::sync::Weak<Inlet>>,
    free: Vec<&'static Sockets>,
}

/// The way for signals into a runtime.
#[derive(Debug)]
struct Inlet {
    /// `None` after the inlet was given up.
    registration: Option<Registration>,
    sockets: &'static Sockets,
}

/// Receives one signal. It belongs to the runtime that is current when it is created.
#[derive(Debug)]
pub(crate) struct Listener {
    inlet: Arc<Inlet>,
    signal: usize,
    /// The count that it has reported.
    heard: u32,
}

impl Listener {
    /// Listens from now on. The handler stays installed for as long as the process lives.
    pub(crate) fn new(signal: c_int) -> io::Result<Self> {
        let index = usize::try_from(signal).ok().filter(|index| (1..SIGNALS).contains(index));
        let Some(index) = index.filter(|_| !FORBIDDEN.contains(&signal)) else {
            let message = format!("signal {signal} can't be listened for");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        // Dropped after the lock is released: the last owner of an inlet takes it.
        let mut others = Vec::new();
        let inlet = {
            let mut inlets = INLETS.lock();
            let inlet = inlets.of_current_runtime(&mut others)?;
            let installed = install(signal, index);
            drop(inlets);
            installed.map(|()| inlet)?
        };
        Ok(Self { inlet, signal: index, heard: count(index) })
    }

    /// Waits for a signal that it has not reported yet.
    pub(crate) async fn heard(&mut self) -> io::Result<()> {
        let (inlet, signal, heard) = (&*self.inlet, self.signal, self.heard);
        let registration = inlet.registration.as_ref().expect("it has not been dropped");
        let news = || {
            inlet.empty(registration);
            Some(count(signal)).filter(|count| *count != heard)
        };
        self.heard = registration.until(Direction::Read, news).await?;
        Ok(())
    }
}

fn count(signal: usize) -> u32 {
    // Acquire pairs with the Release in `handle`: everything that the signal's sender did before is visible, as far as
    // the OS orders the two.
    COUNTS[signal].load(Ordering::Acquire)
}

impl Inlets {
    /// Returns the current runtime's inlet, and collects the others that it finds in `others`.
    fn of_current_runtime(&mut self, others: &mut Vec<Arc<Inlet>>) -> io::Result<Arc<Inlet>> {
        self.used.retain(|inlet| inlet.strong_count() > 0);
        others.extend(self.used.iter().filter_map(std::sync::Weak::upgrade));
        let is_current = |inlet: &&Arc<Inlet>| {
            inlet.registration.as_ref().is_some_and(|it| it.is_current() && !it.is_gone())
        };
        if let Some(inlet) = others.iter().find(is_current) {
            return Ok(inlet.clone());
        }
        let sockets = match self.free.pop() {
            Some(sockets) => sockets,
            None => Sockets::publish()?,
        };
        match Registration::new(sockets.read.as_fd()) {
            Ok(registration) => {
                let inlet = Arc::new(Inlet { registration: Some(registration), sockets });
                self.used.push(Arc::downgrade(&inlet));
                Ok(inlet)
            }
            Err(error) => {
                self.free.push(sockets);
                Err(error)
            }
        }
    }
}

impl Inlet {
    fn empty(&self, registration: &Registration) {
        let mut bytes = [0; 64];
        let mut taken = false;
        loop {
            match (&self.sockets.read).read(&mut bytes) {
                Ok(1..) => taken = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        if taken {
            registration.wake_all();
        }
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        // The registration is dropped first, because the next runtime may take the sockets at once.
        self.registration = None;
        INLETS.lock().free.push(self.sockets);
    }
}

impl Sockets {
    /// Creates a pair that the handler writes to from now on.
    fn publish() -> io::Result<&'static Self> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        // Nobody else changes it: the caller has the lock.
        let next = SOCKETS.load(Ordering::Relaxed);
        let sockets: &'static Self = Box::leak(Box::new(Self { read, write, next }));
        // Release pairs with the Acquire in `handle`.
        SOCKETS.store(ptr::from_ref(sockets).cast_mut(), Ordering::Release);
        Ok(sockets)
    }
}

/// Installs the handler, unless it is installed. The caller holds the lock.
fn install(signal: c_int, index: usize) -> io::Result<()> {
    if !FORMER[index].load(Ordering::Relaxed).is_null() {
        return Ok(());
    }
    let before = action(signal, None)?;
    // This comes first, because the handler may run as soon as it is installed. Release pairs with the Acquire in
    // `handle`.
    let former = Box::into_raw(Box::new(before));
    FORMER[index].store(former, Ordering::Release);
    let mut ours = before;
    ours.sa_sigaction = handle as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
    // The former handler may count on its mask and its stack, so both stay.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | (before.sa_flags & libc::SA_ONSTACK);
    match action(signal, Some(&ours)) {
        Ok(replaced) => {
            if replaced.sa_sigaction != before.sa_sigaction {
                // Somebody was quicker. The value stored before is leaked, because a handler may be using it.
                FORMER[index].store(Box::into_raw(Box::new(replaced)), Ordering::Release);
            }
            Ok(())
        }
        Err(error) => {
            FORMER[index].store(ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: it came from a box, and no handler was installed that could have seen it.
            drop(unsafe { Box::from_raw(former) });
            Err(error)
        }
    }
}

/// Returns a signal's action, and puts another in its place.
fn action(signal: c_int, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::uninit();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `new` is null or valid, with a handler that is safe for signals, and there is room for the old one.
    check(unsafe { libc::sigaction(signal, new, old.as_mut_ptr()) })?;
    // SAFETY: the call has succeeded, so it is filled in.
    Ok(unsafe { old.assume_init() })
}

/// The handler. It may interrupt anything, so it uses only atomics, `write` and the former handler.
extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let index = signal as usize;
    // SAFETY: it returns the place of this thread's errno, which is valid for as long as the thread.
    let errno = unsafe { errno() };
    // SAFETY: as above.
    let saved = unsafe { errno.read() };
    // Release pairs with the Acquire in `count`.
    COUNTS[index].fetch_add(1, Ordering::Release);
    // Acquire pairs with the Release in `publish`.
    let mut next = SOCKETS.load(Ordering::Acquire).cast_const();
    // SAFETY: the list ends in null, and its entries are never freed.
    while let Some(sockets) = unsafe { next.as_ref() } {
        // If a socket is full, it has already woken its runtime, or has none. SAFETY: there is one byte, and the socket
        // is never closed.
        unsafe { libc::write(sockets.write.as_raw_fd(), [1_u8].as_ptr().cast(), 1) };
        next = sockets.next;
    }
    // Acquire pairs with the Release in `install`.
    let former = FORMER[index].load(Ordering::Acquire);
    // SAFETY: it is null, or never freed once a handler was installed.
    if let Some(former) = unsafe { former.as_ref() } {
        call(former, signal, info, context);
    }
    // SAFETY: as above.
    unsafe { errno.write(saved) };
}

/// Calls the handler that was installed before. Default actions are not performed: that is what the listener wants.
fn call(former: &libc::sigaction, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = former.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        return;
    }
    if former.sa_flags & libc::SA_SIGINFO != 0 {
        type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        // SAFETY: the flag says that it is a handler of this type.
        let handler: Handler = unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: it is a handler, and without the flag it has this type.
        let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}

/// Returns the address of the thread's error number.
unsafe fn errno() -> *mut c_int {
    // SAFETY: takes nothing, and may be called anywhere.
    unsafe {
        #[cfg(target_os = "linux")]
        return libc::__errno_location();
        #[cfg(any(target_os = "macos", target_os = "freebsd"))]
        return libc::__error();
        #[cfg(any(target_os = "netbsd", target_os = "openbsd"))]
        return libc::__errno();
    }
}
