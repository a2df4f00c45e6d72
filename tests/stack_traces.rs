//! The stack of a stuck worker: with names, of whatever the worker is in, and without any harm to it.
#![cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

#[path = "../net/tests/common/seccomp.rs"]
mod seccomp;
mod util;

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, wait_for};
use windlass::{Builder, LongPoll, Runtime, StackTrace};

const AFTER: Duration = Duration::from_millis(250);
/// Naming frames takes long, on a crowded machine.
const LONG: Duration = Duration::from_secs(60);

/// Blocks until the gate is open, with more patience than the gate itself has.
fn wait_at(gate: &Gate) {
    let start = Instant::now();
    while !gate.is_open() && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn reporting(workers: usize) -> (Runtime, Receiver<LongPoll>) {
    let (sender, receiver) = mpsc::channel();
    let send = move |report: &LongPoll| drop(sender.send(report.clone()));
    let builder = Builder::new().workers(workers).report_long_polls(AFTER).on_long_poll(send);
    (builder.build().unwrap(), receiver)
}

/// The next report on the task `name`.
#[track_caller]
fn report_on(reports: &Receiver<LongPoll>, name: &str) -> LongPoll {
    let deadline = Instant::now() + LONG;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let report = reports.recv_timeout(left).expect("a report within patience");
        if report.name() == Some(name) {
            return report;
        }
    }
}

/// The stack of the task `name` from its next report, if that has one.
#[track_caller]
fn stack_of(reports: &Receiver<LongPoll>, name: &str) -> Option<StackTrace> {
    report_on(reports, name).stack().cloned()
}

/// Tries up to three times: a thread that gets no CPU for seconds has no stack, and each poll is reported once.
#[track_caller]
fn in_three_attempts<T>(attempt: impl FnMut() -> Option<T>) -> T {
    std::iter::repeat_with(attempt).take(3).flatten().next().expect("one of three attempts")
}

fn has(stack: &StackTrace, function: &str) -> bool {
    stack.frames().iter().any(|frame| frame.function().is_some_and(|name| name.contains(function)))
}

fn spawn_named<F>(runtime: &Runtime, name: &str, f: F) -> windlass::task::JoinHandle<()>
where
    F: FnOnce() + Send + 'static,
{
    windlass::task::Builder::new().name(name).spawn_on(async move { f() }, runtime.handle())
}

#[inline(never)]
fn function_that_waits(gate: &Gate) {
    wait_at(gate);
    std::hint::black_box(());
}

#[inline(never)]
fn function_around(gate: &Gate) {
    function_that_waits(gate);
    std::hint::black_box(());
}

#[test]
fn the_stack_names_the_functions_down_to_the_task() {
    let stack = in_three_attempts(|| {
        let (runtime, reports) = reporting(2);
        let gate = OpenOnDrop(Gate::new());
        let inner = gate.0.clone();
        let task = spawn_named(&runtime, "deep", move || function_around(&inner));
        let stack = stack_of(&reports, "deep");
        gate.0.open();
        wait_for(task).unwrap();
        stack
    });
    let position = |name: &str| {
        let is_it = |function: &str| function.contains(name);
        stack.frames().iter().position(|frame| frame.function().is_some_and(is_it))
    };
    let (inner, outer) = (position("function_that_waits"), position("function_around"));
    assert!(inner.is_some() && inner < outer, "{stack}");
    assert!(!has(&stack, "windlass_runtime::sched"), "{stack}");
    let frame = &stack.frames()[inner.unwrap()];
    assert!(frame.file().is_some_and(|file| file.ends_with("stack_traces.rs")), "{stack}");
    assert!(frame.line().is_some() && frame.address() != 0);
}

#[inline(never)]
fn function_that_spins(stop: &AtomicBool) {
    while !stop.load(SeqCst) {
        std::hint::spin_loop();
    }
}

#[test]
fn a_worker_that_computes_is_interrupted_in_its_middle() {
    let stack = in_three_attempts(|| {
        let (runtime, reports) = reporting(2);
        let stop = Arc::new(AtomicBool::new(false));
        let inner = stop.clone();
        let task = spawn_named(&runtime, "spins", move || function_that_spins(&inner));
        let stack = stack_of(&reports, "spins");
        stop.store(true, SeqCst);
        wait_for(task).unwrap();
        stack
    });
    assert!(has(&stack, "function_that_spins"), "{stack}");
}

/// Reads, sleeps and futexes go on as if there had been no signal.
#[test]
fn system_calls_of_the_worker_do_not_notice() {
    let (runtime, reports) = reporting(4);
    let stack = in_three_attempts(|| {
        let (mut reader, mut writer) = UnixStream::pair().unwrap();
        let reads = spawn_named(&runtime, "reads", move || {
            let mut byte = [0];
            // Not `read_exact`, which tries again.
            assert_eq!(reader.read(&mut byte).expect("not interrupted"), 1);
        });
        let stack = stack_of(&reports, "reads");
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        wait_for(reads).unwrap();
        stack
    });
    assert!(!stack.frames().is_empty());

    in_three_attempts(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let inner = stop.clone();
        let sleeps = spawn_named(&runtime, "sleeps", move || {
            while !inner.load(SeqCst) {
                let (start, time) = (Instant::now(), Duration::from_millis(100));
                std::thread::sleep(time);
                assert!(start.elapsed() >= time, "the sleep is as long as it was to be");
            }
        });
        let stack = stack_of(&reports, "sleeps");
        stop.store(true, SeqCst);
        wait_for(sleeps).unwrap();
        stack
    });

    in_three_attempts(|| {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let inner = lock.clone();
        let locks = spawn_named(&runtime, "locks", move || drop(inner.lock().unwrap()));
        let stack = stack_of(&reports, "locks");
        drop(held);
        wait_for(locks).unwrap();
        stack
    });
}

#[test]
fn a_worker_in_malloc_or_in_the_loader_is_asked_without_harm() {
    in_three_attempts(ask_in_malloc_and_in_the_loader);
}

fn ask_in_malloc_and_in_the_loader() -> Option<()> {
    let (runtime, reports) = reporting(2);
    let stop = Arc::new(AtomicBool::new(false));
    let inner = stop.clone();
    let allocates = spawn_named(&runtime, "allocates", move || {
        let mut kept: Vec<Vec<u8>> = Vec::new();
        while !inner.load(SeqCst) {
            kept.push(vec![1; 1 + kept.len() % 5000]);
            if kept.len() > 200 {
                kept.clear();
            }
        }
    });
    let inner = stop.clone();
    let loads = spawn_named(&runtime, "loads", move || {
        while !inner.load(SeqCst) {
            // SAFETY: a library without constructors that matter, opened and closed.
            unsafe {
                let library = libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW);
                if !library.is_null() {
                    libc::dlclose(library);
                }
            }
        }
    });
    let mut missing = std::collections::HashSet::from(["allocates", "loads"]);
    while !missing.is_empty() {
        let report = reports.recv_timeout(LONG).expect("a report within patience");
        if report.stack().is_none() {
            eprintln!("no stack: {report}");
            break;
        }
        missing.remove(report.name().unwrap_or_default());
    }
    stop.store(true, SeqCst);
    wait_for(allocates).unwrap();
    wait_for(loads).unwrap();
    missing.is_empty().then_some(())
}

/// A thread that blocks all signals is left alone, and reported without a stack.
#[test]
fn a_worker_that_blocks_signals_is_reported_without_a_stack() {
    let (runtime, reports) = reporting(2);
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let task = spawn_named(&runtime, "deaf", move || {
        // SAFETY: both sets are valid for the calls.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
            wait_at(&inner);
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
    });
    let report = report_on(&reports, "deaf");
    assert!(report.stack().is_none(), "{report}");
    gate.0.open();
    wait_for(task).unwrap();
}

/// In a sandbox without these calls. The filter is for a thread of the test's own, and for what it starts.
fn report_without(call: libc::c_long) -> LongPoll {
    let test = move || {
        seccomp::refuse(&[call], libc::EPERM);
        let (runtime, reports) = reporting(2);
        let gate = OpenOnDrop(Gate::new());
        let inner = gate.0.clone();
        let task = spawn_named(&runtime, "filtered", move || function_around(&inner));
        let report = report_on(&reports, "filtered");
        gate.0.open();
        wait_for(task).unwrap();
        report
    };
    std::thread::spawn(test).join().unwrap()
}

#[test]
fn without_process_vm_readv_the_handler_copies_the_stack() {
    let without = || report_without(libc::SYS_process_vm_readv).stack().cloned();
    let stack = in_three_attempts(without);
    assert!(has(&stack, "function_that_waits") && has(&stack, "function_around"), "{stack}");
}

#[test]
fn without_tgkill_a_worker_is_reported_without_a_stack() {
    let report = report_without(libc::SYS_tgkill);
    assert!(report.stack().is_none(), "{report}");
}

/// In the handler of another signal the trace goes on below it.
#[test]
fn a_worker_in_a_signal_handler_is_asked_without_harm() {
    static GATE: AtomicBool = AtomicBool::new(false);
    static INSIDE: AtomicBool = AtomicBool::new(false);
    extern "C" fn handler_that_spins(_signal: i32) {
        INSIDE.store(true, SeqCst);
        while !GATE.load(SeqCst) {
            std::hint::spin_loop();
        }
    }
    #[inline(never)]
    fn function_that_raises() {
        // SAFETY: the handler is async-signal-safe.
        unsafe {
            libc::signal(libc::SIGUSR1, handler_that_spins as extern "C" fn(i32) as usize);
            libc::raise(libc::SIGUSR1);
        }
        std::hint::black_box(());
    }
    let stack = in_three_attempts(|| {
        GATE.store(false, SeqCst);
        let (runtime, reports) = reporting(2);
        let task = spawn_named(&runtime, "handles", function_that_raises);
        let stack = stack_of(&reports, "handles");
        GATE.store(true, SeqCst);
        wait_for(task).unwrap();
        stack
    });
    assert!(INSIDE.load(SeqCst));
    assert!(has(&stack, "handler_that_spins"), "{stack}");
    assert!(has(&stack, "function_that_raises"), "{stack}");
}

// Two functions side by side, the second of which faults with its first instruction.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".globl windlass_test_before",
    ".type windlass_test_before,@function",
    "windlass_test_before:",
    ".cfi_startproc",
    "ret",
    ".cfi_endproc",
    ".size windlass_test_before, . - windlass_test_before",
    ".globl windlass_test_faults",
    ".type windlass_test_faults,@function",
    "windlass_test_faults:",
    ".cfi_startproc",
    "ud2",
    "ret",
    ".cfi_endproc",
    ".size windlass_test_faults, . - windlass_test_faults",
);

/// What a signal has interrupted was named as if it had made a call, by the instruction before it: that of another
/// function, if it was interrupted at its begin.
#[test]
#[cfg(target_arch = "x86_64")]
fn what_a_signal_has_interrupted_is_named_by_where_it_is() {
    unsafe extern "C" {
        fn windlass_test_faults();
    }
    static GATE: AtomicBool = AtomicBool::new(false);
    extern "C" fn skips_when_told(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        while !GATE.load(SeqCst) {
            std::hint::spin_loop();
        }
        // SAFETY: with SA_SIGINFO it is the context of the thread, which goes on behind the instruction of two bytes.
        unsafe {
            (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] += 2;
        }
    }
    let stack = in_three_attempts(|| {
        GATE.store(false, SeqCst);
        let (runtime, reports) = reporting(2);
        let task = spawn_named(&runtime, "faults", || {
            // SAFETY: the handler is async-signal-safe, zeros are valid, and the function only faults and returns.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_flags = libc::SA_SIGINFO;
                action.sa_sigaction = skips_when_told
                    as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void)
                    as usize;
                libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut());
                windlass_test_faults();
            }
        });
        let stack = stack_of(&reports, "faults");
        GATE.store(true, SeqCst);
        wait_for(task).unwrap();
        stack
    });
    assert!(has(&stack, "skips_when_told"), "{stack}");
    assert!(has(&stack, "windlass_test_faults"), "{stack}");
    assert!(!has(&stack, "windlass_test_before"), "{stack}");
}

#[inline(never)]
fn function_on_64_threads(gate: &Gate) {
    wait_at(gate);
    std::hint::black_box(());
}

#[test]
fn sixty_four_stuck_workers_are_all_asked() {
    let (runtime, reports) = reporting(64);
    let gate = OpenOnDrop(Gate::new());
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let gate = gate.0.clone();
            spawn_named(&runtime, "many", move || function_on_64_threads(&gate))
        })
        .collect();
    let mut with_stack = 0;
    for _ in 0..64 {
        let report = reports.recv_timeout(LONG).expect("a report within patience");
        with_stack += usize::from(report.stack().is_some());
    }
    // One that gets no CPU for seconds has none.
    assert!(with_stack > 32, "{with_stack} of 64");
    gate.0.open();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}
