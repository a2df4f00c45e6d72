//! A signal that has a thread copy its registers and a part of its stack, for another thread to read.
//!
//! # Why a copy
//!
//! The handler may interrupt anything: `malloc`, `dlopen`, another handler. An unwinder that runs there takes locks on
//! some systems (`dl_iterate_phdr`), and follows whatever it finds on the stack. So the handler only copies, and the
//! unwinder runs elsewhere, on the copy, where a corrupt stack makes a short trace and nothing worse.
//!
//! The handler makes two system calls (`gettid`, `process_vm_readv`) and touches atomics and the static [`Sample`]. It
//! takes no lock, allocates nothing, restores `errno`, and ends after a bounded number of steps. The kernel copies the
//! stack with `process_vm_readv`, which stops at a page that is not mapped, so it does not matter which stack the
//! thread is on. Where that call is refused, the handler copies what lies within the bounds of the thread's own stack,
//! which the thread recorded when it began.
//!
//! # Protocol
//!
//! `STATE` holds the id of the thread that is asked, and a step:
//!
//! ```text
//!    requester: IDLE → ASKED      (Release: the bounds are written)      then sends the signal
//!    handler:   ASKED → COPYING   (Acquire), only with its own thread's id
//!    handler:   COPYING → DONE    (Release: the sample is written)
//!    requester: DONE → IDLE       (Acquire), or at its deadline ASKED → IDLE
//! ```
//!
//! The sample is the requester's in IDLE, ASKED and DONE, and the handler's in COPYING. There is one requester at a
//! time, which holds a lock that no handler takes. A signal that comes late, or from anybody else, finds no request for
//! its thread and changes nothing. After ASKED → IDLE has failed, the requester waits for DONE, which is a few
//! microseconds of the thread's time away.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::time::Instant;

use libc::{c_int, c_void, siginfo_t, ucontext_t};

use super::policy::{ANSWER_LOOK, ANSWER_TIMEOUT, COPIED_PIECE, COPIED_STACK};
use crate::primitives::plain::{AtomicU64 as PlainU64, Ordering as Plain};
use crate::primitives::{AtomicU64, Mutex, Ordering};

const IDLE: u64 = 0;
const ASKED: u64 = 1;
const COPYING: u64 = 2;
const DONE: u64 = 3;
/// Unit of the thread's id in `STATE`.
const THREAD: u64 = 4;

static STATE: AtomicU64 = AtomicU64::new(IDLE);
static SAMPLE: Shared = Shared(UnsafeCell::new(Sample {
    registers: Registers::NONE,
    bounds: (0, 0),
    length: 0,
    stack: [0; COPIED_STACK],
}));
/// Held by the requester.
static REQUEST: Mutex<()> = Mutex::new(());

/// The registers and the stack of a thread at one moment.
pub(super) struct Sample {
    pub(super) registers: Registers,
    /// The bounds of the thread's own stack, as the thread has recorded them.
    bounds: (usize, usize),
    /// How much of `stack` is filled, from the stack pointer upwards.
    length: usize,
    stack: [u8; COPIED_STACK],
}

impl Sample {
    /// Returns the part of the stack that was copied, which begins at the stack pointer.
    pub(super) fn stack(&self) -> &[u8] {
        &self.stack[..self.length]
    }
}

struct Shared(UnsafeCell<Sample>);

// SAFETY: whoever uses it owns it by the protocol above.
unsafe impl Sync for Shared {}

/// The registers that unwinding needs, by their DWARF numbers.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    pub(super) values: [u64; Registers::COUNT],
    pub(super) pc: u64,
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    pub(super) const COUNT: usize = 17;
    pub(super) const SP: usize = 7;
    /// Where the return address of a frame is found.
    pub(super) const RETURN: usize = 16;
    pub(super) const NONE: Self = Self { values: [0; Self::COUNT], pc: 0 };

    fn of(context: &ucontext_t) -> Self {
        use libc::{
            REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RAX, REG_RBP,
            REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RIP, REG_RSI, REG_RSP,
        };
        const IN_ORDER: [c_int; Registers::COUNT] = [
            REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
            REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
        ];
        let registers = &context.uc_mcontext.gregs;
        let mut values = [0; Self::COUNT];
        for (value, register) in values.iter_mut().zip(IN_ORDER) {
            *value = registers[register as usize] as u64;
        }
        Self { values, pc: values[Self::RETURN] }
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    pub(super) const COUNT: usize = 32;
    pub(super) const SP: usize = 31;
    /// Where the return address of a frame is found.
    pub(super) const RETURN: usize = 30;
    pub(super) const NONE: Self = Self { values: [0; Self::COUNT], pc: 0 };

    fn of(context: &ucontext_t) -> Self {
        let machine = &context.uc_mcontext;
        let mut values = [0; Self::COUNT];
        values[..31].copy_from_slice(&machine.regs);
        values[Self::SP] = machine.sp;
        Self { values, pc: machine.pc }
    }
}

/// The address at which a thread can be reached.
#[derive(Default)]
pub(crate) struct ThreadMark {
    /// The kernel's id of the thread; 0 for nobody.
    thread: PlainU64,
    lowest: PlainU64,
    end: PlainU64,
}

impl ThreadMark {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Leaves the mark of the current thread.
    pub(crate) fn set(&self) {
        let (lowest, end) = own_stack().unwrap_or((0, 0));
        self.lowest.store(lowest as u64, Plain::Relaxed);
        self.end.store(end as u64, Plain::Relaxed);
        self.thread.store(current_thread(), Plain::Relaxed);
    }

    /// Takes the mark back, because the thread ends.
    pub(crate) fn clear(&self) {
        self.thread.store(0, Plain::Relaxed);
    }
}

/// Has the marked thread copy its stack, and calls `f` with it. Returns `None` if the thread does not answer.
pub(super) fn sample<R>(mark: &ThreadMark, f: impl FnOnce(&Sample) -> R) -> Option<R> {
    let thread = Some(mark.thread.load(Plain::Relaxed)).filter(|&thread| thread != 0)?;
    let signal = signal()?;
    let _alone = REQUEST.lock();
    if !would_answer(thread, signal) {
        return None;
    }
    let bounds =
        (mark.lowest.load(Plain::Relaxed) as usize, mark.end.load(Plain::Relaxed) as usize);
    // SAFETY: in IDLE the sample is ours.
    unsafe { (*SAMPLE.0.get()).bounds = bounds };
    // Release pairs with the Acquire of the handler: it sees the bounds.
    STATE.store(thread * THREAD + ASKED, Ordering::Release);
    if !send(thread, signal) {
        STATE.store(IDLE, Ordering::Relaxed);
        return None;
    }
    if !wait(thread) {
        return None;
    }
    // SAFETY: in DONE the sample is ours, until we leave that step.
    let result = f(unsafe { &*SAMPLE.0.get() });
    STATE.store(IDLE, Ordering::Relaxed);
    Some(result)
}

/// Waits for the copy. Returns false if the thread has not answered in time.
fn wait(thread: u64) -> bool {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let done = || {
        // Acquire pairs with the Release of the handler: the sample is written.
        STATE.load(Ordering::Acquire) == thread * THREAD + DONE
    };
    let (asked, relaxed) = (thread * THREAD + ASKED, Ordering::Relaxed);
    while !done() {
        // Relaxed: if it succeeds, the handler has touched nothing.
        if Instant::now() >= deadline
            && STATE.compare_exchange(asked, IDLE, relaxed, relaxed).is_ok()
        {
            return false;
        }
        std::thread::sleep(ANSWER_LOOK);
    }
    true
}

/// Returns the signal, and installs its handler when it is first needed: a real-time signal that nobody uses. Returns
/// `None` if there is none, or somebody has replaced the handler.
fn signal() -> Option<c_int> {
    static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
    let signal = (*SIGNAL.get_or_init(install))?;
    (action_of(signal)?.sa_sigaction == handler_address()).then_some(signal)
}

fn handler_address() -> usize {
    handle as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize
}

fn install() -> Option<c_int> {
    // From the top: programs and C libraries count from the bottom.
    (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(|&signal| {
        let is_free = |action: &libc::sigaction| action.sa_sigaction == libc::SIG_DFL;
        if !action_of(signal).is_some_and(|action| is_free(&action)) {
            return false;
        }
        // SAFETY: all zeros is a valid `sigaction`, with an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = handler_address();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // So that nothing interrupts the copy.
        // SAFETY: the set is valid for writes.
        unsafe { libc::sigfillset(&mut action.sa_mask) };
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: both are valid, and the handler keeps the rules for handlers.
        if unsafe { libc::sigaction(signal, &action, before.as_mut_ptr()) } != 0 {
            return false;
        }
        // SAFETY: written by the call, or all zeros.
        let before = unsafe { before.assume_init() };
        if is_free(&before) {
            return true;
        }
        // Another handler was installed first, and is restored.
        // SAFETY: as above.
        unsafe { libc::sigaction(signal, &before, ptr::null_mut()) };
        false
    })
}

fn action_of(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: this only asks for the handler, and the place for the result is valid.
    let asked = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: written by the call.
    (asked == 0).then(|| unsafe { action.assume_init() })
}

/// Returns false if the thread blocks the signal, or has not taken the last one yet: another would only wait there.
fn would_answer(thread: u64, signal: c_int) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")) else {
        return true;
    };
    let bit = 1_u64 << (signal - 1);
    let has = |field: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(field));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|m| m & bit != 0)
    };
    !has("SigBlk:") && !has("SigPnd:")
}

fn send(thread: u64, signal: c_int) -> bool {
    // SAFETY: no pointers are passed. If the thread is gone, so is its id, or another thread of this process has it and
    // answers in its place.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread as c_int, signal) == 0 }
}

fn current_thread() -> u64 {
    // SAFETY: no pointers are passed, and it always succeeds.
    unsafe { libc::syscall(libc::SYS_gettid) as u64 }
}

/// Returns the lowest address and the end of the current thread's stack.
fn own_stack() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are written by the first call, read by the second, and destroyed once.
    let failed = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let failed = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        failed
    };
    (failed == 0).then(|| (lowest.addr(), lowest.addr() + size))
}

/// Handles the signal: copies registers and stack, if this thread was asked to.
extern "C" fn handle(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the address of the thread's own `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let state = current_thread() * THREAD;
    let relaxed = Ordering::Relaxed;
    // Acquire pairs with the Release of `sample`: the bounds are written.
    if STATE.compare_exchange(state + ASKED, state + COPYING, Ordering::Acquire, relaxed).is_ok() {
        // SAFETY: in COPYING the sample is the handler's, which runs once for each ASKED; with SA_SIGINFO the context
        // is that of the interrupted thread.
        unsafe { copy(&mut *SAMPLE.0.get(), &*context.cast::<ucontext_t>()) };
        // Release pairs with the Acquire of `wait`.
        STATE.store(state + DONE, Ordering::Release);
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// Copies what the handler has interrupted. Async-signal-safe.
fn copy(sample: &mut Sample, context: &ucontext_t) {
    sample.registers = Registers::of(context);
    let from = sample.registers.values[Registers::SP] as usize;
    const EMPTY: libc::iovec = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
    let mut pieces = [EMPTY; COPIED_STACK / COPIED_PIECE];
    let mut at = from;
    for piece in &mut pieces {
        let length = COPIED_PIECE - at % COPIED_PIECE;
        *piece = libc::iovec { iov_base: ptr::without_provenance_mut(at), iov_len: length };
        at = at.wrapping_add(length);
    }
    let whole = libc::iovec { iov_base: sample.stack.as_mut_ptr().cast(), iov_len: COPIED_STACK };
    // SAFETY: the kernel writes only to our buffer, no more than its length, and checks what it reads. Called by
    // number, because the C library's own function may be watched by a sanitizer, which takes locks.
    let copied = unsafe {
        libc::syscall(
            libc::SYS_process_vm_readv,
            libc::getpid(),
            &raw const whole,
            1_u64,
            pieces.as_ptr(),
            pieces.len(),
            0_u64,
        )
    };
    sample.length = match usize::try_from(copied) {
        Ok(copied) => copied,
        Err(_) => copy_within_bounds(sample, from),
    };
}

/// Copies the stack where the kernel, or a filter, refuses the call that copies safely. Returns how much was copied.
fn copy_within_bounds(sample: &mut Sample, from: usize) -> usize {
    let (lowest, end) = sample.bounds;
    if !(lowest..end).contains(&from) {
        return 0;
    }
    let length = (end - from).min(COPIED_STACK);
    let stack = ptr::with_exposed_provenance::<u8>(from);
    // SAFETY: from the stack pointer to the end of its stack, all memory is mapped, and the thread does nothing else
    // meanwhile. Our buffer is static.
    unsafe { ptr::copy_nonoverlapping(stack, sample.stack.as_mut_ptr(), length) };
    length
}
