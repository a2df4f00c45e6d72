//! Accounts, which add up the cost of something over all the tasks and jobs that it starts.
//!
//! A thread meters one account at a time, the innermost. A thread that begins or ends something with another account,
//! or with none, reads the clock and settles what has run up. Without accounts, there is nothing to settle.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_sync::thread_cell;

use super::frames;
use super::scoped::{Enter, Scoped};
use crate::cpus::cpu_time_of_thread;
use crate::primitives::plain::{AtomicU64, Ordering};

/// Adds up what a request costs: the time, polls and wake-ups of all the tasks and fork-join jobs that it starts, and
/// that those start.
///
/// Everything that runs in a [`scope`](Self::scope) is charged to the account, and so is everything spawned there:
/// tasks, closures of [`spawn_blocking`](crate::spawn_blocking) and [`compute`](crate::compute), the closures of
/// [`join`](crate::join) and jobs of [`scope`](crate::scope()), on whatever worker they run, and all that they spawn in
/// turn. Work that other tasks do on the same thread meanwhile is not charged.
///
/// A clone refers to the same account. A [`child`](Self::child) has its own sums, and its charges are also charged to
/// its parent. In a scope of an unrelated account, only the inner one is charged.
///
/// Tasks without an account pay nothing. With one, each poll reads the clock twice, and the thread's CPU clock too if the
/// account was made [`with_cpu_time`](Self::with_cpu_time).
///
/// # Examples
///
/// ```
/// use windlass::task::Account;
///
/// # windlass::block_on(async {
/// let account = Account::new();
/// account
///     .scope(async {
///         let rows = windlass::spawn(async { 1000 }).await.unwrap();
///         windlass::compute(move || (0..rows).sum::<u64>()).await.unwrap()
///     })
///     .await;
/// let cost = account.cost();
/// assert_eq!(cost.tasks, 2);
/// println!("{:?} in {} polls", cost.busy, cost.polls);
/// # });
/// ```
#[derive(Clone)]
pub struct Account(Arc<Ledger>);

/// The sums of one account.
#[derive(Default)]
struct Ledger {
    busy: AtomicU64,
    cpu: AtomicU64,
    measures_cpu: bool,
    polls: AtomicU64,
    wakeups: AtomicU64,
    tasks: AtomicU64,
    jobs: AtomicU64,
    parent: Option<Account>,
}

/// The sums that an [`Account`] has been charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Time spent in polls, jobs and closures, added up over all threads. It includes time in which they blocked, or
    /// waited for a CPU. The time of a poll, job or closure is added when it ends.
    pub busy: Duration,
    /// The part of `busy` in which a CPU worked on it. `None` unless the account was made
    /// [`with_cpu_time`](Account::with_cpu_time), and on systems that do not report it.
    pub cpu: Option<Duration>,
    /// Polls, of tasks and of scopes, and runs of closures.
    pub polls: u64,
    /// The number of times that one of the tasks was woken.
    pub wakeups: u64,
    /// Tasks spawned, including closures of `spawn_blocking` and `compute`.
    pub tasks: u64,
    /// Fork-join jobs: those spawned in a scope, and closures of a `join` that another worker has run.
    pub jobs: u64,
}

impl Account {
    /// Returns an account that has been charged nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::{Account, Cost};
    ///
    /// assert_eq!(Account::new().cost(), Cost::default());
    /// ```
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// Returns an account that also measures CPU time. Time spent blocking, or waiting for a CPU, is charged only to
    /// [`Cost::busy`].
    ///
    /// It takes two more system calls for each poll, of some 0.1 µs on Linux. On Windows, the OS counts CPU time in
    /// ticks of several milliseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::task::Account;
    ///
    /// let account = Account::with_cpu_time();
    /// account.sync_scope(|| std::thread::sleep(Duration::from_millis(20)));
    /// let cost = account.cost();
    /// assert!(cost.busy >= Duration::from_millis(20));
    /// assert!(cost.cpu < Some(cost.busy));
    /// ```
    pub fn with_cpu_time() -> Self {
        let measures_cpu = cpu_time_of_thread().is_some();
        Self(Arc::new(Ledger { measures_cpu, ..Ledger::default() }))
    }

    /// Returns an account for a part of the work, whose charges are also charged to this one. It measures CPU time if
    /// this one does.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::Account;
    ///
    /// # windlass::block_on(async {
    /// let (request, query) = { let request = Account::new(); let query = request.child(); (request, query) };
    /// request.scope(async { query.scope(async { windlass::spawn(async {}).await.unwrap() }).await }).await;
    /// assert_eq!((query.cost().tasks, request.cost().tasks), (1, 1));
    /// # });
    /// ```
    pub fn child(&self) -> Self {
        let (measures_cpu, parent) = (self.0.measures_cpu, Some(self.clone()));
        Self(Arc::new(Ledger { measures_cpu, parent, ..Ledger::default() }))
    }

    /// Returns the account that is charged at the point of the call, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::Account;
    ///
    /// assert!(Account::current().is_none());
    /// assert!(Account::new().sync_scope(|| Account::current().is_some()));
    /// ```
    pub fn current() -> Option<Self> {
        frames::with_current_account(|account| account.cloned())
    }

    /// Returns a future that runs `future` on this account.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::Account;
    ///
    /// # windlass::block_on(async {
    /// let account = Account::new();
    /// assert_eq!(account.scope(async { 42 }).await, 42);
    /// assert_eq!(account.cost().polls, 1);
    /// # });
    /// ```
    pub fn scope<F: Future>(&self, future: F) -> Scoped<Account, F> {
        Scoped::new(self.clone(), future)
    }

    /// Runs a closure on this account.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::Account;
    ///
    /// let account = Account::new();
    /// let task = account.sync_scope(|| windlass::spawn(async { 42 }));
    /// assert_eq!(windlass::block_on(task).unwrap(), 42);
    /// assert_eq!(account.cost().tasks, 1);
    /// ```
    pub fn sync_scope<R>(&self, f: impl FnOnce() -> R) -> R {
        let _metered = meter(Some(self), Metered::Closure);
        frames::with_account(self, f)
    }

    /// Returns what has been charged so far. A task's last poll is charged before its handle is ready.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::Account;
    ///
    /// let account = Account::new();
    /// windlass::block_on(account.scope(async { windlass::spawn(async {}).await })).unwrap();
    /// assert_eq!(account.cost().tasks, 1);
    /// ```
    pub fn cost(&self) -> Cost {
        let get = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        let ledger = &*self.0;
        Cost {
            busy: Duration::from_nanos(get(&ledger.busy)),
            cpu: ledger.measures_cpu.then(|| Duration::from_nanos(get(&ledger.cpu))),
            polls: get(&ledger.polls),
            wakeups: get(&ledger.wakeups),
            tasks: get(&ledger.tasks),
            jobs: get(&ledger.jobs),
        }
    }

    /// Counts a task that was spawned on this account.
    pub(super) fn spawned(&self) {
        self.0.charge(|ledger| &ledger.tasks, 1);
    }

    /// Counts a wake-up of a task on this account.
    pub(super) fn woken(&self) {
        self.0.charge(|ledger| &ledger.wakeups, 1);
    }
}

impl Default for Account {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Account").field(&self.cost()).finish()
    }
}

impl Enter for Account {
    fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        let _metered = meter(Some(self), Metered::Poll);
        frames::with_account(self, f)
    }
}

impl Ledger {
    /// Adds to a sum, here and in all accounts that this one is charged to.
    fn charge(&self, sum: impl Fn(&Self) -> &AtomicU64, more: u64) {
        let mut ledger = self;
        loop {
            sum(ledger).fetch_add(more, Ordering::Relaxed);
            match &ledger.parent {
                Some(parent) => ledger = &parent.0,
                None => return,
            }
        }
    }
}

/// The kinds of work that begin on an account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metered {
    Poll,
    Job,
    Closure,
}

/// The time that has run up on the account that a thread meters.
#[derive(Clone, Copy)]
struct Meter {
    /// The time from which it is metered; `None` while it is not.
    since: Option<Instant>,
    /// The time that had run up before that.
    before: Duration,
    /// The same for the thread's CPU time, if the account measures it.
    cpu: Option<CpuMeter>,
}

#[derive(Clone, Copy, Default)]
struct CpuMeter {
    since: Duration,
    before: Duration,
}

impl Meter {
    const OFF: Self = Self { since: None, before: Duration::ZERO, cpu: None };

    /// Returns a meter that begins now.
    fn begin(now: Instant, measures_cpu: bool) -> Self {
        let cpu = measures_cpu.then(CpuMeter::default);
        Self { before: Duration::ZERO, since: None, cpu }.resume(now)
    }

    /// Returns the same meter, running from now on.
    fn resume(self, now: Instant) -> Self {
        let cpu = self.cpu.map(|cpu| {
            // If the clock fails, nothing runs up until the next reading.
            CpuMeter { since: cpu_time_of_thread().unwrap_or(Duration::MAX), ..cpu }
        });
        Self { since: Some(now), cpu, ..self }
    }

    /// Returns the same meter, stopped, and the time. The time is read after the CPU clock, so that no more CPU time
    /// than time runs up.
    fn pause(self) -> (Self, Instant) {
        let cpu = self.cpu.map(|cpu| {
            let now = cpu_time_of_thread().unwrap_or_default();
            CpuMeter { before: cpu.before + now.saturating_sub(cpu.since), ..cpu }
        });
        let now = Instant::now();
        let more = self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        (Self { since: None, before: self.before + more, cpu }, now)
    }
}

// The account that this thread meters; null for none. The address is compared, never followed. It has a cell of its
// own, because most threads meter none and look at nothing else.
thread_cell!(static METERED: *const Ledger = ptr::null());
thread_cell!(static METER: Meter = Meter::OFF);

/// A period in which a thread meters another account, or none. At its end, that account is charged, and the thread
/// continues with the one around it.
pub(crate) struct Metering<'a>(Option<Change<'a>>);

/// A change from one account to another.
struct Change<'a> {
    ledger: Option<&'a Ledger>,
    around: *const Ledger,
    meter: Meter,
}

/// Meters this account, or none, until the result is dropped.
#[inline]
pub(super) fn meter(account: Option<&Account>, as_what: Metered) -> Metering<'_> {
    let around = METERED.with(Cell::get);
    if account.is_none() && around.is_null() {
        return Metering(None);
    }
    Metering(change(account.map(|account| &*account.0), around, as_what))
}

#[cold]
#[inline(never)]
fn change<'a>(
    ledger: Option<&'a Ledger>,
    around: *const Ledger,
    as_what: Metered,
) -> Option<Change<'a>> {
    let address = ledger.map_or(ptr::null(), ptr::from_ref);
    let is_same = ptr::eq(around, address);
    match (ledger, as_what) {
        // A poll within a poll on the same account is part of that poll.
        (Some(ledger), Metered::Poll) if !is_same => ledger.charge(|ledger| &ledger.polls, 1),
        (Some(ledger), Metered::Job) => ledger.charge(|ledger| &ledger.jobs, 1),
        _ => {}
    }
    if is_same {
        return None;
    }
    let (outer, now) = METER.with(Cell::get).pause();
    let inner = ledger.map_or(Meter::OFF, |ledger| Meter::begin(now, ledger.measures_cpu));
    METERED.with(|metered| metered.set(address));
    METER.with(|meter| meter.set(inner));
    Some(Change { ledger, around, meter: outer })
}

impl Drop for Metering<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(change) = &self.0 {
            change.end();
        }
    }
}

impl Change<'_> {
    #[cold]
    #[inline(never)]
    fn end(&self) {
        let (inner, now) = METER.with(Cell::get).pause();
        let outer = if self.around.is_null() { Meter::OFF } else { self.meter.resume(now) };
        METER.with(|meter| meter.set(outer));
        METERED.with(|metered| metered.set(self.around));
        if let Some(ledger) = self.ledger {
            ledger.charge(|ledger| &ledger.busy, inner.before.as_nanos() as u64);
            if let Some(cpu) = inner.cpu {
                ledger.charge(|ledger| &ledger.cpu, cpu.before.as_nanos() as u64);
            }
        }
    }
}

/// Meters nothing until the result is dropped.
#[inline]
pub(super) fn set_aside() -> Metering<'static> {
    meter(None, Metered::Closure)
}
