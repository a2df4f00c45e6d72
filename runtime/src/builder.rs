//! Settings of a runtime.

use std::io;
use std::time::Duration;

use crate::companion;
use crate::fork::NEXT_JOB;
#[cfg(not(loom))]
use crate::fork::support::ThreadStart;
use crate::hooks::Hooks;
#[cfg(not(loom))]
use crate::manual::Loop;
use crate::poller::{self, Clock, Poller};
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::runtime::Runtime;
use crate::sched::{self, Config, MOST_WORKERS, Pool, Spawner, policy};

/// The most workers a runtime may have.
const MAX_WORKERS: usize = 1024;
/// The fewest and the most places for threads outside that take part in their fork-join calls.
const GUESTS: (usize, usize) = (4, 32);
/// Spare workers a runtime may start by default: as many as workers, within these bounds.
const SPARES: (usize, usize) = (4, 64);
/// Stack sizes that make sense; below, Rust's own start-up of a thread does not fit.
const STACK: (usize, usize) = (64 << 10, 1 << 40);
/// The shortest `stuck_after`; below, watching would cost more than it saves.
const MIN_STUCK_AFTER: Duration = Duration::from_micros(100);

/// Builds a [`Runtime`] with other settings than the default ones.
///
/// Values that make no sense are reported by [`build`](Self::build), not adjusted.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Builder::new().workers(2).thread_name("web").build()?;
/// assert_eq!(runtime.block_on(async { 42 }), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    workers: Option<usize>,
    thread_name: String,
    stack_size: Option<usize>,
    max_blocking: usize,
    blocking_keep_alive: Duration,
    stuck_after: Duration,
    max_spares: Option<usize>,
    virtual_time: bool,
    compute_share: u32,
    pub(crate) hooks: Hooks,
    spawner: Option<Spawner>,
    without_first: bool,
}

impl Builder {
    /// The default settings.
    pub fn new() -> Self {
        Self {
            workers: None,
            thread_name: "windlass".to_owned(),
            stack_size: None,
            max_blocking: 512,
            blocking_keep_alive: Duration::from_secs(10),
            stuck_after: Duration::from_millis(10),
            max_spares: None,
            virtual_time: false,
            compute_share: 20,
            hooks: Hooks::default(),
            spawner: None,
            without_first: false,
        }
    }

    /// How many workers run tasks. By default as many as the process may use CPUs (its affinity
    /// and its cgroup's quota count), or what the environment variable `WINDLASS_WORKERS` says.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// What the threads' names begin with; `windlass` by default.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// The stack of each thread, in bytes; by default what `std` takes (2 MiB, or
    /// `RUST_MIN_STACK`).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// The most threads of the blocking pool; 512 by default. Closures beyond that queue.
    pub fn max_blocking(mut self, threads: usize) -> Self {
        self.max_blocking = threads;
        self
    }

    /// How long a thread of the blocking pool waits for the next closure before it ends; 10 s by
    /// default.
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Self {
        self.blocking_keep_alive = keep_alive;
        self
    }

    /// How long the workers may be held up, all of them in one poll each and with other work
    /// waiting, before a spare worker takes over; 10 ms by default. While one of them gets on, it
    /// comes to what waits, and no spare is started.
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.stuck_after = time;
        self
    }

    /// The most spare workers at a time; by default as many as workers, but at least 4 and at most
    /// 64. With 0, tasks behind a worker that blocks wait until it comes back.
    pub fn max_spares(mut self, spares: usize) -> Self {
        self.max_spares = Some(spares);
        self
    }

    /// Gives the runtime a clock of its own, for tests: an hour-long time-out is over in no time.
    ///
    /// The clock stands still while anything is going on: a task is ready or runs, a closure of the
    /// blocking pool, a thread in this runtime's `block_on`. When everything waits in this runtime, it jumps to the
    /// next deadline; a closure that waits in its `block_on` does, one that sleeps, or waits for another runtime, is
    /// going on. [`timer::test::advance`](crate::timer::test::advance) moves it at once. So timers
    /// fire in the order of their deadlines, whatever the number of workers, and code between two waits
    /// takes no time. Code that asks for the time has to ask [`timer::now`](crate::timer::now).
    ///
    /// I/O takes as long as it takes, and no time passes meanwhile if it is done within 5 ms. To wait
    /// for another process for longer, with a time-out beside it, wants real time. A
    /// [manual loop](crate::manual::Loop) does not wait for I/O: its clock jumps in
    /// [`ready_tasks`](crate::manual::Loop::ready_tasks), as soon as there is nothing else to do.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::{now, sleep};
    ///
    /// let runtime = windlass::Builder::new().virtual_time().build()?;
    /// runtime.block_on(async {
    ///     let start = now();
    ///     sleep(Duration::from_secs(3600)).await;
    ///     assert_eq!(now() - start, Duration::from_secs(3600));
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(not(loom))]
    pub fn virtual_time(mut self) -> Self {
        self.virtual_time = true;
        self
    }

    /// The percentage of its time that a worker leaves to a computation (fork-join work) while tasks
    /// wait; 20 by default, 1 to 99. Tasks get the rest. Whichever of the two has less to do than
    /// its share leaves the remainder to the other.
    ///
    /// It is kept at the split points of the computation: each `join` and each `spawn` of a scope. So
    /// it is kept roughly, and best with polls of some tens of microseconds. A leaf
    /// without split points has no share: if it lasts longer than some hundred microseconds and tasks
    /// wait, a spare worker comes for these, and the OS divides the CPU between the two.
    pub fn compute_share(mut self, percent: u32) -> Self {
        self.compute_share = percent;
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for settings that make no sense, with a message that says which would; the
    /// OS's error if the poller's descriptors are not to be had, or if a thread can't be started, after
    /// those already started have ended again.
    pub fn build(self) -> io::Result<Runtime> {
        let clock = self.clock();
        let first = usize::from(self.without_first);
        let config = self.check()?;
        let workers = config.workers;
        let poller = Poller::new(workers, false, clock)?;
        let pool = Pool::new(config, poller);
        // The runtime first: if a thread fails to start, its drop ends the others.
        let runtime = Runtime::of(pool);
        companion::start(runtime.handle())?;
        let pool = runtime.handle().pool();
        poller::start(pool)?;
        for index in first..workers {
            sched::start_worker(pool, index)?;
        }
        Ok(runtime)
    }

    /// Has workers' threads be started by `spawn`.
    #[cfg(not(loom))]
    pub(crate) fn spawn_threads_with(
        mut self,
        spawn: impl Fn(ThreadStart) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let spawn =
            move |index, name, stack_size, run| spawn(ThreadStart { index, name, stack_size, run });
        self.spawner = Some(Spawner(std::sync::Arc::new(spawn)));
        self
    }

    /// Has no thread started for worker 0.
    #[cfg(not(loom))]
    pub(crate) fn without_first(mut self) -> Self {
        self.without_first = true;
        self
    }

    /// Makes a loop that is driven by hand, for a program that has a main loop of its own. It starts
    /// no thread; of the settings, [`virtual_time`](Self::virtual_time) and those of the blocking pool count,
    /// `thread_name` and `stack_size` among them.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    #[cfg(not(loom))]
    pub fn build_manual(self) -> io::Result<Loop> {
        check(
            self.hooks.companion.is_none(),
            "a manual loop has no other runtime beside it: use `build`".to_owned(),
        )?;
        let clock = self.clock();
        let config = Config { awake_to_spin: 0, ..self.workers(1).max_spares(0).check()? };
        Ok(Loop::of(Pool::new(config, Poller::new(1, true, clock)?)))
    }

    fn clock(&self) -> Clock {
        if self.virtual_time {
            windlass_timer::expect_virtual_time();
            return Clock::virtual_time();
        }
        Clock::of_the_os()
    }

    fn check(self) -> io::Result<Config> {
        let (workers, cpus) = match self.workers {
            Some(workers) => (workers, cpus_last_counted()),
            None => {
                let cpus = count_cpus();
                (workers_from_environment()?.unwrap_or(cpus.min(MAX_WORKERS)), cpus)
            }
        };
        let spares = self.max_spares.unwrap_or(workers.clamp(SPARES.0, SPARES.1));
        check(
            (1..=MAX_WORKERS).contains(&workers),
            format!(
                "{workers} workers: a runtime needs between 1 and {MAX_WORKERS}; leave `workers` \
                 out to have one for each CPU"
            ),
        )?;
        check(
            spares <= MOST_WORKERS - MAX_WORKERS,
            format!("max_spares of {spares}: at most {}", MOST_WORKERS - MAX_WORKERS),
        )?;
        check(
            self.stack_size.is_none_or(|bytes| (STACK.0..=STACK.1).contains(&bytes)),
            format!(
                "a stack of {} bytes: give between {} KiB and 1 TiB, or leave `stack_size` out",
                self.stack_size.unwrap_or_default(),
                STACK.0 >> 10,
            ),
        )?;
        check(
            self.max_blocking > 0,
            "max_blocking of 0: `spawn_blocking` and name look-ups need at least 1".to_owned(),
        )?;
        check(
            self.stuck_after >= MIN_STUCK_AFTER,
            format!(
                "stuck_after of {:?}: give at least {MIN_STUCK_AFTER:?}; to switch spare workers \
                 off, use `max_spares(0)`",
                self.stuck_after
            ),
        )?;
        check(
            (1..=99).contains(&self.compute_share),
            format!("compute_share of {} %: give between 1 and 99", self.compute_share),
        )?;
        check(
            !self.thread_name.contains('\0'),
            "thread_name contains a NUL character, which no thread's name may have".to_owned(),
        )?;
        Ok(Config {
            workers,
            spares,
            guests: workers.clamp(GUESTS.0, GUESTS.1),
            searchers: policy::searchers(workers),
            awake_to_spin: if workers <= cpus { cpus - 1 } else { 0 },
            cpus,
            stuck_after: self.stuck_after,
            next_job: Some(NEXT_JOB),
            compute_share: self.compute_share,
            max_blocking: self.max_blocking,
            blocking_keep_alive: self.blocking_keep_alive,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            hooks: self.hooks,
            spawner: self.spawner,
        })
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

fn check(good: bool, message: String) -> io::Result<()> {
    if good { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, message)) }
}

static CPUS: AtomicUsize = AtomicUsize::new(0);

/// How many CPUs the process may use. On Linux that takes the reading of several files.
fn count_cpus() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    CPUS.store(cpus, Plain::Relaxed);
    cpus
}

/// As [`count_cpus`] the last time: for those who say how many workers they want. All that rests on it
/// then is whether spinning is worth a try, and a worker learns by itself when it is not.
fn cpus_last_counted() -> usize {
    match CPUS.load(Plain::Relaxed) {
        0 => count_cpus(),
        cpus => cpus,
    }
}

fn workers_from_environment() -> io::Result<Option<usize>> {
    let Some(value) = std::env::var_os("WINDLASS_WORKERS") else {
        return Ok(None);
    };
    let parsed = value.to_str().and_then(|text| text.trim().parse().ok());
    check(
        parsed.is_some(),
        format!("the environment variable WINDLASS_WORKERS is {value:?}, which is not a number"),
    )?;
    Ok(parsed)
}
