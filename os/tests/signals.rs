//! Signals, sent by this process to itself. Each test has a signal of its own, since all tests share the process.
#![cfg(unix)]

mod common;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use common::os::{install_handler, install_long_handler, signal_self, signal_to};
use common::{role, run, runtime, this_binary, wait_until, within_deadline};
use futures_lite::{AsyncBufReadExt, StreamExt, io::BufReader};
use windlass_os::signal::ctrl_c;
use windlass_os::signal::unix::{SignalKind, signal};
use windlass_sync::Latch;

#[test]
fn a_signal_before_the_first_wait_is_not_lost() {
    run(|| async {
        let mut signals = signal(SignalKind::hangup()).unwrap();
        signal_self(libc::SIGHUP);
        assert_eq!(signals.recv().await, Some(()));
        signal_self(libc::SIGHUP);
        assert_eq!(signals.next().await, Some(()));
    });
}

#[test]
fn all_listeners_of_all_runtimes_hear_of_each_signal() {
    within_deadline(|| {
        const ROUNDS: usize = 50;
        let runtimes = [runtime(), runtime(), runtime()];
        let heard: Arc<Vec<Latch>> = Arc::new((0..ROUNDS).map(|_| Latch::new(9)).collect());
        for runtime in &runtimes {
            let _entered = runtime.handle().enter();
            for _ in 0..3 {
                let mut signals = signal(SignalKind::user_defined1()).unwrap();
                let heard = heard.clone();
                drop(runtime.spawn(async move {
                    for latch in heard.iter() {
                        signals.recv().await.unwrap();
                        latch.count_down();
                    }
                }));
            }
        }
        for latch in heard.iter() {
            signal_self(libc::SIGUSR1);
            latch.wait_blocking();
        }
    });
}

#[test]
fn the_last_signal_of_a_storm_is_heard_by_all() {
    within_deadline(|| {
        let runtime = runtime();
        let over = Arc::new(AtomicBool::new(false));
        let listeners: Vec<_> = (0..8)
            .map(|_| {
                let over = over.clone();
                let _entered = runtime.handle().enter();
                let mut signals = signal(SignalKind::user_defined2()).unwrap();
                runtime.spawn(async move {
                    let mut count = 0_u32;
                    while !over.load(Ordering::SeqCst) {
                        signals.recv().await.unwrap();
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        let senders: Vec<_> = (0..2)
            .map(|_| std::thread::spawn(|| (0..20_000).for_each(|_| signal_self(libc::SIGUSR2))))
            .collect();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        over.store(true, Ordering::SeqCst);
        signal_self(libc::SIGUSR2);
        for listener in listeners {
            assert!(runtime.block_on(listener).unwrap() > 0);
        }
    });
}

#[test]
fn listeners_come_and_go_beside_others() {
    run(|| async {
        let mut stays = signal(SignalKind::window_change()).unwrap();
        for _ in 0..100 {
            let mut goes = signal(SignalKind::window_change()).unwrap();
            assert!(common::poll_once(&mut Box::pin(goes.recv())).await.is_none());
            drop(goes);
            signal_self(libc::SIGWINCH);
            stays.recv().await.unwrap();
        }
    });
}

#[test]
fn a_shutdown_ends_the_wait_and_leaves_other_runtimes_alone() {
    within_deadline(|| {
        let (first, second) = (runtime(), runtime());
        let listen = |runtime: &windlass_runtime::Runtime| {
            let _entered = runtime.handle().enter();
            signal(SignalKind::io()).unwrap()
        };
        let (mut of_first, mut of_second) = (listen(&first), listen(&second));
        // It waits on the second runtime for a signal by way of the first.
        let waiting = second.spawn(async move { of_first.recv().await });
        assert!(first.shutdown(common::DEADLINE).is_clean());
        assert_eq!(second.block_on(waiting).unwrap(), None);
        signal_self(libc::SIGIO);
        assert_eq!(second.block_on(of_second.recv()), Some(()));
        // The sockets of the first serve the third.
        let third = runtime();
        let mut of_third = listen(&third);
        signal_self(libc::SIGIO);
        assert_eq!(third.block_on(of_third.recv()), Some(()));
        assert_eq!(second.block_on(of_second.recv()), Some(()));
    });
}

static CALLED: AtomicU32 = AtomicU32::new(0);
static CALLED_LONG: AtomicU32 = AtomicU32::new(0);

extern "C" fn former(signal: libc::c_int) {
    assert_eq!(signal, libc::SIGVTALRM);
    CALLED.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn former_long(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    assert_eq!(signal, libc::SIGPROF);
    assert!(!info.is_null());
    CALLED_LONG.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn handlers_that_were_there_before_are_called() {
    run(|| async {
        install_handler(libc::SIGVTALRM, former);
        install_long_handler(libc::SIGPROF, former_long);
        let mut short = signal(SignalKind::from_raw(libc::SIGVTALRM)).unwrap();
        let mut long = signal(SignalKind::from_raw(libc::SIGPROF)).unwrap();
        for round in 1..=3 {
            signal_self(libc::SIGVTALRM);
            short.recv().await.unwrap();
            signal_self(libc::SIGPROF);
            long.recv().await.unwrap();
            // The listener is woken before the former handler has returned.
            wait_until("both were called", || {
                CALLED.load(Ordering::SeqCst) == round
                    && CALLED_LONG.load(Ordering::SeqCst) == round
            });
        }
    });
}

#[test]
fn signals_that_nobody_may_handle_are_refused() {
    run(|| async {
        let numbers = [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, 0, -1, 127, 1000, i32::MAX];
        for number in numbers {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{number}");
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_listeners_share_their_descriptors() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    run(move || async move {
        let first = signal(SignalKind::alarm()).unwrap();
        let before = descriptors();
        let listeners: Vec<_> = (0..1000).map(|_| signal(SignalKind::alarm()).unwrap()).collect();
        // Tests beside this one open some, too.
        assert!(descriptors() < before + 500);
        drop((first, listeners));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn runtimes_that_come_and_go_share_their_descriptors() {
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    within_deadline(move || {
        let before = descriptors();
        for _ in 0..300 {
            let runtime = windlass_runtime::Builder::new().workers(1).build().unwrap();
            let _entered = runtime.handle().enter();
            drop(signal(SignalKind::quit()).unwrap());
        }
        // Two for each would be 600; tests beside this one open some, too.
        assert!(descriptors() < before + 300);
    });
}

#[test]
fn a_signal_is_heard_while_all_workers_are_stuck() {
    within_deadline(|| {
        let runtime = runtime();
        let heard = Arc::new(AtomicBool::new(false));
        let stuck = Arc::new(Latch::new(2));
        for _ in 0..2 {
            let (heard, stuck) = (heard.clone(), stuck.clone());
            drop(runtime.spawn(async move {
                stuck.count_down();
                wait_until("the signal was heard", || heard.load(Ordering::SeqCst));
            }));
        }
        let listening = {
            let _entered = runtime.handle().enter();
            let mut signals = signal(SignalKind::from_raw(libc::SIGURG)).unwrap();
            runtime.spawn(async move {
                signals.recv().await.unwrap();
                heard.store(true, Ordering::SeqCst);
            })
        };
        stuck.wait_blocking();
        signal_self(libc::SIGURG);
        runtime.block_on(listening).unwrap();
    });
}

#[test]
fn waiting_futures_and_listeners_may_be_dropped_anywhere() {
    run(|| async {
        let mut futures: Vec<_> = (0..10).map(|_| ctrl_c()).collect();
        for future in &mut futures {
            assert!(common::poll_once(future).await.is_none());
        }
        futures.truncate(5);
        signal_self(libc::SIGINT);
        for future in futures {
            future.await.unwrap();
        }
    });
}

/// What a child does: it says that it is ready, and ends after two signals of its own accord.
#[test]
fn child() {
    if role().as_deref() != Some("interrupted twice") {
        return;
    }
    runtime().block_on(async {
        let mut term = signal(SignalKind::terminate()).unwrap();
        let int = ctrl_c();
        eprintln!("ready");
        int.await.unwrap();
        eprintln!("interrupted");
        term.recv().await.unwrap();
        eprintln!("terminated");
    });
    std::process::exit(42);
}

#[test]
fn a_process_that_listens_is_not_ended_by_the_signal() {
    run(|| async {
        let mut child =
            this_binary("child", "interrupted twice").stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut expect = async |text: &str| {
            while let Some(line) = lines.next().await {
                if line.unwrap() == text {
                    return;
                }
            }
            panic!("the child never said: {text}");
        };
        expect("ready").await;
        signal_to(child.id().unwrap(), libc::SIGINT);
        expect("interrupted").await;
        signal_to(child.id().unwrap(), libc::SIGTERM);
        expect("terminated").await;
        assert_eq!(child.wait().await.unwrap().code(), Some(42));
    });
}
