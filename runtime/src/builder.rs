//! The settings of a runtime.

use std::io;
use std::time::Duration;

#[cfg(not(loom))]
use crate::builder_check::check;
use crate::companion;
#[cfg(not(loom))]
use crate::fork::support::ThreadStart;
use crate::hooks::Hooks;
#[cfg(not(loom))]
use crate::manual::Loop;
use crate::observe::FlightDumps;
use crate::poller::{self, Clock, Poller};
use crate::runtime::Runtime;
#[cfg(not(loom))]
use crate::sched::Config;
use crate::sched::{self, Pool, Spawner, policy};
use crate::stuck;

/// Configures and builds a [`Runtime`].
///
/// Invalid values are not adjusted: [`build`](Self::build) returns an error that names them.
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
    pub(crate) workers: Option<usize>,
    pub(crate) thread_name: String,
    pub(crate) stack_size: Option<usize>,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    pub(crate) stuck_after: Duration,
    pub(crate) max_spares: Option<usize>,
    virtual_time: bool,
    pub(crate) compute_share: u32,
    pub(crate) hooks: Hooks,
    pub(crate) long_polls: Option<Duration>,
    pub(crate) spawner: Option<Spawner>,
    without_first: bool,
    pub(crate) observe: bool,
    pub(crate) flight_recorder: bool,
    pub(crate) flight_dumps: Option<FlightDumps>,
}

impl Builder {
    /// Returns a builder with the default settings.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().build()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            workers: None,
            thread_name: "windlass".to_owned(),
            stack_size: None,
            max_blocking: policy::MAX_BLOCKING,
            blocking_keep_alive: policy::BLOCKING_KEEP_ALIVE,
            stuck_after: policy::STUCK_AFTER,
            max_spares: None,
            virtual_time: false,
            compute_share: policy::COMPUTE_SHARE,
            hooks: Hooks::default(),
            long_polls: stuck::REPORT_AFTER,
            spawner: None,
            without_first: false,
            observe: true,
            flight_recorder: false,
            flight_dumps: None,
        }
    }

    /// Sets the number of workers, between 1 and 1024.
    ///
    /// The default is the value of the environment variable `WINDLASS_WORKERS`, or else the number of CPUs that the
    /// process may use. On Linux that number takes the affinity mask and the quota of the cgroup (v1 or v2) into
    /// account; a fractional quota is rounded up, so 1.5 CPUs make 2 workers.
    ///
    /// The CPUs are counted once, when the runtime is built. If the quota or the mask changes while a server runs, the
    /// number of workers stays the same. With a smaller quota, the server is slower; its workers notice that they have
    /// to wait for a CPU, and spin less. With a larger one, it uses no more CPUs than it has workers. To adapt to a new
    /// quota, restart the process: a new runtime in the same process may still see the old one.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(3).build()?;
    /// assert_eq!(runtime.metrics().workers.len(), 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the prefix of the threads' names; `windlass` by default. It must not contain a NUL character.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().thread_name("web").build()?;
    /// let task = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(runtime.block_on(task).unwrap().unwrap().starts_with("web"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// Sets the size of each thread's stack in bytes, at least 64 KiB. The default is that of `std`: 2 MiB, or the
    /// value of `RUST_MIN_STACK`.
    ///
    /// # Examples
    ///
    /// ```
    /// fn depth(left: u32) -> u32 {
    ///     if left == 0 { 0 } else { 1 + std::hint::black_box(depth(left - 1)) }
    /// }
    ///
    /// let runtime = windlass::Builder::new().workers(1).stack_size(16 << 20).build()?;
    /// let task = runtime.spawn(async { depth(10_000) });
    /// assert_eq!(runtime.block_on(task).unwrap(), 10_000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets the largest number of threads in the blocking pool, at least 1; 512 by default. Further closures of
    /// [`spawn_blocking`](crate::spawn_blocking) wait for a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().max_blocking(1).build()?;
    /// let first = runtime.spawn_blocking(|| std::thread::current().id());
    /// let second = runtime.spawn_blocking(|| std::thread::current().id());
    /// assert_eq!(runtime.block_on(first).unwrap(), runtime.block_on(second).unwrap());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn max_blocking(mut self, threads: usize) -> Self {
        self.max_blocking = threads;
        self
    }

    /// Sets how long a thread of the blocking pool waits for another closure before it ends; 10 s by default.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = windlass::Builder::new().blocking_keep_alive(Duration::from_secs(60)).build()?;
    /// runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    /// assert_eq!(runtime.metrics().blocking_threads, 1); // it waits for another closure
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Self {
        self.blocking_keep_alive = keep_alive;
        self
    }

    /// Sets how long all workers may be stuck, each in a single poll, before a spare worker runs the tasks that are
    /// ready; 10 ms by default, at least 100 µs. For a worker in a computation without split points, it is 300 µs, if
    /// that is shorter. For one in [`block_in_place`](crate::task::block_in_place), the spare starts at once. None is
    /// started while at least one worker makes progress, because that worker will run the tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let runtime =
    ///     windlass::Builder::new().workers(1).stuck_after(Duration::from_millis(1)).build()?;
    /// let (sender, receiver) = mpsc::channel();
    /// let stuck = runtime.spawn(async move { receiver.recv().unwrap() }); // blocks the only worker
    /// runtime.spawn(async move { sender.send(42).unwrap() }); // runs on a spare
    /// assert_eq!(runtime.block_on(stuck).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.stuck_after = time;
        self
    }

    /// Sets the largest number of spare workers at a time. The default is the number of workers, but at least 4 and at
    /// most 64. With 0, tasks behind a worker that blocks wait until its call returns. If more tasks block at the same
    /// time than there are workers and spares, all other tasks wait until one of them returns.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().max_spares(8).build()?;
    /// assert_eq!(runtime.metrics().spares.len(), 8); // places; none is in use yet
    /// assert_eq!(runtime.metrics().spares_active, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn max_spares(mut self, spares: usize) -> Self {
        self.max_spares = Some(spares);
        self
    }

    /// Runs the runtime in virtual time, for tests: a time-out of an hour is over at once.
    ///
    /// Virtual time stands still while the runtime is busy: while a task is ready or running, a closure of the blocking
    /// pool runs, or a thread in this runtime's `block_on` is not waiting. When the runtime is idle, time jumps to the
    /// next deadline. So timers fire in the order of their deadlines, whatever the number of workers, and the code
    /// between two waits takes no time. [`timer::test::advance`](crate::timer::test::advance) moves the time by hand,
    /// and [`timer::now`](crate::timer::now) returns it; `Instant::now` still returns the real time.
    ///
    /// A blocking closure that waits in this runtime's `block_on` does not keep the runtime busy. One that
    /// sleeps, or waits for something else, does.
    ///
    /// I/O happens in real time. A runtime with sockets counts as idle after 5 ms in which no event has arrived, so
    /// a test that waits longer for another process, with a time-out of its own, should use real time. A
    /// [manual loop](crate::manual::Loop) does not wait for I/O: its time jumps in
    /// [`ready_tasks`](crate::manual::Loop::ready_tasks) as soon as there is nothing else to do.
    ///
    /// # Examples
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

    /// Sets the percentage of a worker's time that goes to a computation (fork-join work) while tasks
    /// wait, between 1 and 99; 20 by default. Tasks get the rest. Whichever of the two needs less than
    /// its share leaves the remainder to the other.
    ///
    /// The share is enforced at the split points of a computation, which are each `join` and each `spawn` of a scope.
    /// It is therefore approximate, and most accurate with polls of some tens of microseconds. It does not apply
    /// to a leaf without split points: if the leaf runs longer than a few hundred microseconds and tasks wait, a spare
    /// worker runs them, and the OS divides the CPU between the two.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().compute_share(50).build()?;
    /// let sum = runtime.handle().install(|| {
    ///     let (a, b) = windlass::join(|| (1..=50).sum::<u32>(), || (51..=100).sum::<u32>());
    ///     a + b
    /// });
    /// assert_eq!(sum, 5050);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn compute_share(mut self, percent: u32) -> Self {
        self.compute_share = percent;
        self
    }

    /// Builds the runtime and starts its threads.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for an invalid setting, with a message that says which values are valid. Returns the OS's
    /// error if the poller's descriptors can't be opened or a thread can't be started; threads that were already
    /// started have ended by then.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).build()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    ///
    /// let error = windlass::Builder::new().workers(0).build().unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn build(self) -> io::Result<Runtime> {
        let clock = self.clock();
        let first = usize::from(self.without_first);
        let config = self.check()?;
        let workers = config.workers;
        let poller = Poller::new(workers, false, clock)?;
        let pool = Pool::new(config, poller);
        // Created first: if a thread fails to start, the runtime's drop ends the others.
        let runtime = Runtime::of(pool);
        companion::start(runtime.handle())?;
        let pool = runtime.handle().pool();
        // The workers first, because whatever is spawned from now on waits for them.
        for index in first..workers {
            sched::start_worker(pool, index)?;
        }
        poller::start(pool)?;
        Ok(runtime)
    }

    /// Starts the workers' threads with `spawn`.
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

    /// Has each worker begin with one job, and end with another.
    #[cfg(not(loom))]
    pub(crate) fn first_and_last_jobs(
        mut self,
        first: impl Fn(usize) + Send + Sync + 'static,
        last: impl Fn(usize) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.first_job = Some(std::sync::Arc::new(first));
        self.hooks.last_job = Some(std::sync::Arc::new(last));
        self
    }

    /// Starts no thread for worker 0.
    #[cfg(not(loom))]
    pub(crate) fn without_first(mut self) -> Self {
        self.without_first = true;
        self
    }

    /// Builds a [manual loop](crate::manual), for a program that has a main loop of its own.
    ///
    /// It starts no thread. The only settings that apply are [`virtual_time`](Self::virtual_time), those of the
    /// blocking pool, and `thread_name` and `stack_size` for its threads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`build`](Self::build), and `InvalidInput` if a [`companion`](Self::companion) was set.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// let task = tasks.spawn_local(async { 42 });
    /// while !task.is_finished() {
    ///     tasks.ready_tasks(None)?.for_each(|runnable| runnable.run());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(not(loom))]
    pub fn build_manual(self) -> io::Result<Loop> {
        check(
            self.hooks.companion.is_none(),
            format_args!("a manual loop has no other runtime beside it: use `build`"),
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
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}
