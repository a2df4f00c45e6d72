//! Reports what is stuck, on a thread of its own.
//!
//! A thread that notices something queues a [`Suspect`] and continues. The reporting thread looks closer: it asks for
//! the stack, finds the task's name, makes sure that it is still the same poll, and reports it. A callback may block or
//! panic, because it holds up only this thread. Suspects that do not fit into the queue meanwhile are dropped and
//! counted. The thread ends when the queue is empty. It is not one of the runtime's threads: a shutdown does not wait
//! for it, and drops what is queued.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::time::Instant;

use super::limit::Limit;
use super::long_poll::{LongPoll, LongPollKind};
use super::stack_trace::StackTrace;
use super::watch::is_in_code;
use crate::handle::Handle;
use crate::primitives::{Arc, Mutex};
use crate::sched::{Pool, Slot};
use crate::task::{Id, quietly};

use super::policy::{QUEUED_REPORTS, RECENT_REPORTS};

/// A callback for reports.
pub(crate) type Callback = StdArc<dyn Fn(&LongPoll) + Send + Sync>;

/// The reports of one runtime.
pub(crate) struct Reports(StdArc<Shared>);

struct Shared {
    callback: Option<Callback>,
    thread_name: String,
    inner: Mutex<Inner>,
}

struct Inner {
    queue: VecDeque<(Arc<Pool>, Suspect)>,
    /// A thread is there, and will look at the queue once more.
    has_thread: bool,
    closed: bool,
    recent: VecDeque<LongPoll>,
    dropped: u64,
    limit: Limit<ReportKey>,
    /// Where `block_on` was called in a task.
    blocked_on: Limit<ReportKey>,
}

/// The key by which repeated reports are recognised.
type ReportKey = (LongPollKind, Option<&'static Location<'static>>);

/// Something that seems to be stuck.
pub(crate) struct Suspect {
    what: Culprit,
    since: Instant,
}

/// The kind of the suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Culprit {
    /// A worker, and its progress when it was noticed.
    Worker {
        index: usize,
        progress: u64,
    },
    /// The blocking pool, and the number of this time that it is full.
    BlockingPool {
        fill: u64,
    },
    BlockOn {
        task: Id,
        location: &'static Location<'static>,
    },
}

impl Culprit {
    /// Returns true if it has not ended, as far as can be seen.
    fn lasts(self, pool: &Pool) -> bool {
        match self {
            Self::Worker { index, progress } => is_in_code(&pool.slots[index], progress),
            Self::BlockingPool { fill } => pool.blocking.fill().is_some_and(|(_, now)| now == fill),
            Self::BlockOn { .. } => false,
        }
    }
}

impl Suspect {
    pub(super) fn worker(index: usize, progress: u64, since: Instant) -> Self {
        Self { what: Culprit::Worker { index, progress }, since }
    }

    pub(super) fn blocking(fill: u64, since: Instant) -> Self {
        Self { what: Culprit::BlockingPool { fill }, since }
    }

    /// Looks closer. Returns `None` if it is over.
    fn examine(&self, pool: &Pool) -> Option<LongPoll> {
        let report = |kind| LongPoll {
            kind,
            what: self.what,
            since: self.since,
            lasts: true,
            task: None,
            name: None,
            location: None,
            worker: None,
            elapsed: self.since.elapsed(),
            stack: None,
            waiting: 0,
            joiner: None,
        };
        match self.what {
            Culprit::Worker { index, progress } => {
                let slot = &pool.slots[index];
                let polled = slot.innermost();
                let kind = match (polled, slot.activity.is_computing()) {
                    (None, _) => LongPollKind::Job,
                    (Some(_), true) => LongPollKind::Leaf,
                    (Some(_), false) => LongPollKind::Task,
                };
                let unlisted = slot.unlisted().map(|(site, id)| (id, site.get().location, None));
                let described = unlisted.or_else(|| {
                    let (id, origin) = pool.owned.describe(polled?)?;
                    Some((id, origin.location, origin.name))
                });
                let (task, location, name) = match described {
                    Some((id, location, name)) => (Some(id), Some(location), name),
                    None => (None, None, None),
                };
                let joiner = slot.joiner(index).filter(|&other| waits(pool, index, other));
                // If so, all of the above belongs to this poll.
                let is_same = is_in_code(slot, progress);
                is_same.then(|| LongPoll {
                    task,
                    name,
                    location,
                    worker: Some(index),
                    joiner,
                    ..report(kind)
                })
            }
            Culprit::BlockingPool { fill } => {
                let (waiting, _) = pool.blocking.fill().filter(|(_, now)| *now == fill)?;
                Some(LongPoll { waiting, ..report(LongPollKind::BlockingPool) })
            }
            Culprit::BlockOn { task, location } => {
                let (task, location) = (Some(task), Some(location));
                Some(LongPoll { task, location, ..report(LongPollKind::BlockOn) })
            }
        }
    }

    /// Asks for the stack of a worker. Returns `None` if it is not available, or belongs to another poll.
    fn stack(&self, slots: &[Arc<crossbeam_utils::CachePadded<Slot>>]) -> Option<StackTrace> {
        let Culprit::Worker { index, progress } = self.what else { return None };
        let slot = &slots[index];
        StackTrace::of(&slot.mark).filter(|_| is_in_code(slot, progress))
    }
}

/// Returns true if the worker or guest `joiner` waits for what worker `index` runs: it sleeps, or runs
/// something on top of its wait.
fn waits(pool: &Pool, index: usize, joiner: usize) -> bool {
    let others = || pool.fork_slots().nth(joiner);
    let waits = |slot: &Arc<crossbeam_utils::CachePadded<Slot>>| {
        slot.is_asleep() || slot.joiner(joiner) == Some(joiner)
    };
    joiner == index || others().is_some_and(waits)
}

impl Reports {
    pub(crate) fn new(callback: Option<Callback>, thread_name: &str) -> Self {
        let inner = Inner {
            queue: VecDeque::new(),
            has_thread: false,
            closed: false,
            recent: VecDeque::new(),
            dropped: 0,
            limit: Limit::new(),
            blocked_on: Limit::new(),
        };
        let thread_name = format!("{thread_name}-reports");
        Self(StdArc::new(Shared { callback, thread_name, inner: Mutex::new(inner) }))
    }

    /// Has a suspect examined and reported. Never waits for the callback.
    pub(super) fn submit(&self, pool: &Arc<Pool>, suspect: Suspect) {
        let mut inner = self.0.inner.lock();
        if inner.closed || inner.queue.len() >= QUEUED_REPORTS {
            inner.dropped += 1;
            return;
        }
        inner.queue.push_back((pool.clone(), suspect));
        if std::mem::replace(&mut inner.has_thread, true) {
            return;
        }
        drop(inner);
        let shared = self.0.clone();
        let thread = std::thread::Builder::new().name(shared.thread_name.clone());
        if thread.spawn(move || shared.report_all()).is_err() {
            // The next suspect tries again.
            let mut inner = self.0.inner.lock();
            inner.has_thread = false;
            let queue = std::mem::take(&mut inner.queue);
            inner.dropped += queue.len() as u64;
            drop(inner);
            drop(queue);
        }
    }

    /// Reports a task that shares its thread with others and has called `block_on`.
    #[cold]
    pub(crate) fn block_on_in_task(
        &self,
        pool: &Arc<Pool>,
        task: Id,
        location: &'static Location<'static>,
    ) {
        let site = (LongPollKind::BlockOn, Some(location));
        let now = Instant::now();
        // Once for each place, which is stricter than the limit.
        let is_new = self.0.inner.lock().blocked_on.remember(site, now);
        if is_new {
            self.submit(pool, Suspect { what: Culprit::BlockOn { task, location }, since: now });
        }
    }

    /// Drops what is queued, and refuses more, because the runtime ends.
    pub(crate) fn close(&self) {
        let mut inner = self.0.inner.lock();
        inner.closed = true;
        let queue = std::mem::take(&mut inner.queue);
        drop(inner);
        drop(queue);
    }

    /// Returns the latest reports, oldest first, with what is known about them now.
    fn recent(&self, pool: &Pool) -> Vec<LongPoll> {
        let mut recent: Vec<_> = self.0.inner.lock().recent.iter().cloned().collect();
        for report in &mut recent {
            report.lasts = report.what.lasts(pool);
            if report.lasts {
                report.elapsed = report.since.elapsed();
            }
        }
        // If it is over by the next call, it has lasted for at least this long.
        for kept in &mut self.0.inner.lock().recent {
            let seen =
                recent.iter().find(|report| report.since == kept.since && report.what == kept.what);
            kept.elapsed = seen.map_or(kept.elapsed, |report| report.elapsed);
        }
        recent
    }

    /// Returns the number of suspects that were dropped because the queue was full.
    fn dropped(&self) -> u64 {
        self.0.inner.lock().dropped
    }
}

impl Shared {
    /// Reports everything that is queued, on the thread for that.
    fn report_all(&self) {
        while let Some((pool, suspect)) = self.next() {
            // Examining a stack may panic, and the next suspect must be reported nevertheless.
            quietly(|| self.report(pool, &suspect));
        }
    }

    fn next(&self) -> Option<(Arc<Pool>, Suspect)> {
        let mut inner = self.inner.lock();
        let next = inner.queue.pop_front();
        inner.has_thread = next.is_some();
        next
    }

    fn report(&self, pool: Arc<Pool>, suspect: &Suspect) {
        let Some(mut report) = suspect.examine(&pool) else { return };
        let site = (report.kind, report.location);
        let allowed = self.inner.lock().limit.admit(site, Instant::now());
        if self.callback.is_some() || allowed.is_some() {
            report.stack = suspect.stack(&pool.slots);
        }
        // A callback may block forever, and the runtime must not wait for it to be freed.
        drop(pool);
        self.keep(report.clone());
        match (&self.callback, allowed) {
            (Some(callback), _) => quietly(|| callback(&report)),
            (None, Some(left_out)) => quietly(|| crate::events::long_poll(&report, left_out)),
            (None, None) => {}
        }
    }

    fn keep(&self, report: LongPoll) {
        let mut inner = self.inner.lock();
        if inner.recent.len() >= RECENT_REPORTS {
            inner.recent.pop_front();
        }
        inner.recent.push_back(report);
    }
}

impl Handle {
    /// Returns the latest reports of [long polls](crate::Builder::report_long_polls), up to 64, oldest first. All are
    /// kept, wherever they were reported. Those that were left out there, because there were too many, have no stack.
    /// The time of those that [have not ended](LongPoll::lasts) is counted until now; that of others, until a call of
    /// this method last saw them, or until they were reported.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// for report in runtime.handle().long_polls() {
    ///     println!("{report}");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn long_polls(&self) -> Vec<LongPoll> {
        self.pool().reports.recent(self.pool())
    }

    /// Returns the number of long polls that were not reported because too many were waiting: the callback of
    /// [`on_long_poll`](crate::Builder::on_long_poll) blocks, or is slow.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// assert_eq!(runtime.handle().long_polls_dropped(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn long_polls_dropped(&self) -> u64 {
        self.pool().reports.dropped()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::{sched, shutdown};

    /// Nobody had ever seen the queue full.
    #[test]
    fn what_does_not_fit_into_the_queue_is_counted_and_the_rest_is_reported() {
        const PATIENCE: Duration = Duration::from_secs(60);
        const TOO_MANY: usize = 44;
        let pool = Pool::for_tests(1);
        let (tell, told) = mpsc::channel();
        let (open, closed) = mpsc::channel::<()>();
        let closed = std::sync::Mutex::new(closed);
        let reported = StdArc::new(AtomicUsize::new(0));
        let count = reported.clone();
        let callback = move |_: &LongPoll| {
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                tell.send(()).unwrap();
                let _ = closed.lock().unwrap().recv_timeout(PATIENCE);
            }
        };
        let reports = Reports::new(Some(StdArc::new(callback)), "test");
        let submit = || {
            let what = Culprit::BlockOn { task: Id::next(), location: Location::caller() };
            reports.submit(&pool, Suspect { what, since: Instant::now() });
        };
        submit();
        told.recv_timeout(PATIENCE).expect("the callback is called");
        (0..QUEUED_REPORTS).for_each(|_| submit());
        assert_eq!(reports.dropped(), 0);
        (0..TOO_MANY).for_each(|_| submit());
        assert_eq!(reports.dropped(), TOO_MANY as u64);

        open.send(()).unwrap();
        let deadline = Instant::now() + PATIENCE;
        while reported.load(Ordering::SeqCst) < 1 + QUEUED_REPORTS {
            assert!(Instant::now() < deadline, "{} reported", reported.load(Ordering::SeqCst));
            std::thread::yield_now();
        }
        assert_eq!(reports.recent(&pool).len(), RECENT_REPORTS, "the latest are kept");
        reports.close();
        submit();
        assert_eq!(reports.dropped(), TOO_MANY as u64 + 1);

        shutdown::begin(&pool);
        sched::Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
    }
}
