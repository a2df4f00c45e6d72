//! Small things that most models need.

use std::cell::Cell;
use std::future::Future;
use std::io::{self, Write};
use std::panic;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering as Plain};
use std::sync::{Arc, Mutex, Once};
use std::task::{Context, Poll, Wake, Waker};

use loom::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// All threads of a model are one thread of the OS.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// A model that has failed is taken down outside of loom, where a step panics again, and a task
/// catches that. So many are enough.
const MOST_PANICS: usize = 16;

/// Explores a model with at least this many preemptions; `LOOM_MAX_PREEMPTIONS` can ask for more.
///
/// A panic fails the model wherever it happens: tasks catch those of their futures, and loom's
/// findings with them.
pub fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(0).max(preemptions));
    check_with(builder, model);
}

/// As [`check`], for a model that is too large for many preemptions: exactly this many, and one more if
/// `LOOM_MAX_PREEMPTIONS` asks for a deep search, of three or more.
pub fn check_large(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    let deep = builder.preemption_bound.is_some_and(|asked| asked >= 3);
    builder.preemption_bound = Some(preemptions + usize::from(deep));
    check_with(builder, model);
}

fn check_with(mut builder: loom::model::Builder, model: impl Fn() + Sync + Send + 'static) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            report(info);
            let panics = PANICS.replace(PANICS.get() + 1);
            if panics == 0 {
                // Past the test harness, which keeps what a test prints and is lost with it.
                let _ = writeln!(io::stderr(), "{info}");
            } else if panics > MOST_PANICS {
                std::process::abort();
            }
        }));
    });
    builder.max_branches = 10_000;
    builder.check(move || {
        model();
        assert_eq!(PANICS.get(), 0, "a panic was caught by a task");
    });
}

/// The output of a future that is ready.
pub fn output<F: Future + Unpin>(future: &mut F) -> F::Output {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not ready"),
    }
}

/// Keeps the waker of a task's first poll for the model.
#[derive(Clone, Debug, Default)]
pub struct Stash(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
enum Kept {
    #[default]
    NotYet,
    Waker(Waker),
    Taken,
}

impl Stash {
    /// Keeps a waker of the task being polled, at the first poll.
    pub fn keep(&self, cx: &Context<'_>) {
        let mut kept = self.0.lock().unwrap();
        if matches!(*kept, Kept::NotYet) {
            *kept = Kept::Waker(cx.waker().clone());
        }
    }

    /// The waker kept.
    pub fn take(&self) -> Waker {
        match std::mem::replace(&mut *self.0.lock().unwrap(), Kept::Taken) {
            Kept::Waker(waker) => waker,
            other => panic!("no waker to be had: {other:?}"),
        }
    }
}

/// A waker that tells whether it was woken. The flag orders nothing.
#[derive(Debug)]
pub struct Flag(AtomicBool);

impl Flag {
    /// A waker and its flag.
    pub fn new() -> (Arc<Self>, Waker) {
        let flag = Arc::new(Self(AtomicBool::new(false)));
        (flag.clone(), flag.into())
    }

    /// True once the waker was woken.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts the drops of its guards.
#[derive(Clone, Debug, Default)]
pub struct Drops(Arc<AtomicUsize>);

/// Counted when it is dropped.
#[derive(Debug)]
pub struct Guard(Arc<AtomicUsize>);

impl Drops {
    /// A value to be dropped.
    pub fn guard(&self) -> Guard {
        Guard(self.0.clone())
    }

    /// How many were dropped.
    pub fn count(&self) -> usize {
        self.0.load(Plain::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Plain::Relaxed);
    }
}
