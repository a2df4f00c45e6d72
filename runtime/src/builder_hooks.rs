//! The builder's hooks: closures that are called when threads and tasks start and end.

use std::sync::Arc;

use crate::builder::Builder;
use crate::hooks::TaskMeta;

impl Builder {
    /// Names each worker's thread by its index. Overrides [`thread_name`](Self::thread_name) for the workers, but not
    /// for spares, the blocking pool's threads and the poller's thread.
    ///
    /// If a name contains a NUL character, [`build`](Self::build) returns `InvalidInput`.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).thread_names(|index| format!("web-{index}")).build()?;
    /// let names = runtime.handle().broadcast(|_| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(names[1].as_deref(), Some("web-1"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_names(mut self, name: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        self.hooks.worker_name = Some(Arc::new(name));
        self
    }

    /// Calls `f` on each thread that runs tasks or blocking closures, before the first of them: on workers, spares, the
    /// threads of the blocking pool and those of pinned tasks, but not on the poller's thread. In `f`,
    /// [`worker_index`](crate::worker_index) returns `Some` on workers only.
    ///
    /// If `f` panics, the thread continues as if it had returned. A second call of this method replaces the closure.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_thread_start(|| println!("worker {:?} starts", windlass::worker_index()))
    ///     .on_thread_stop(|| println!("worker {:?} stops", windlass::worker_index()))
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_thread_start(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.thread_start = Some(Arc::new(f));
        self
    }

    /// Calls `f` on each thread that runs tasks or blocking closures, after the last of them; see
    /// [`on_thread_start`](Self::on_thread_start). [`Runtime::shutdown`](crate::Runtime::shutdown) waits for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use std::time::Duration;
    ///
    /// let stopped = Arc::new(AtomicUsize::new(0));
    /// let count = stopped.clone();
    /// let runtime = windlass::Builder::new()
    ///     .workers(2)
    ///     .on_thread_stop(move || _ = count.fetch_add(1, Ordering::Relaxed))
    ///     .build()?;
    /// assert!(runtime.shutdown(Duration::from_secs(30)).is_clean());
    /// assert_eq!(stopped.load(Ordering::Relaxed), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_thread_stop(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.thread_stop = Some(Arc::new(f));
        self
    }

    /// Calls `f` on a worker, a spare or a thread of the blocking pool that has nothing to do and is about to sleep.
    /// Tasks spawned by `f` run before the thread sleeps.
    ///
    /// If `f` panics, the thread continues as if it had returned.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_park(|| { /* flush this thread's statistics */ })
    ///     .on_unpark(|| { /* start a new interval */ })
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_park(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.park = Some(Arc::new(f));
        self
    }

    /// Calls `f` on a thread that has slept, once for each call of [`on_park`](Self::on_park).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// thread_local!(static SLEEPS: Cell<u64> = const { Cell::new(0) });
    /// let runtime = windlass::Builder::new()
    ///     .on_unpark(|| SLEEPS.with(|sleeps| sleeps.set(sleeps.get() + 1)))
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_unpark(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.unpark = Some(Arc::new(f));
        self
    }

    /// Calls `f` for each spawned task, including closures of [`spawn_blocking`](crate::spawn_blocking) and
    /// [`compute`](crate::compute), on the spawning thread and before the task can run. Tasks that are refused because
    /// the runtime is shutting down are included.
    ///
    /// If `f` panics, the task is spawned nevertheless.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_task_spawn(|task| println!("{} begins ({})", task.id(), task.location()))
    ///     .on_task_end(|task| println!("{} has ended", task.id()))
    ///     .build()?;
    /// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_task_spawn(mut self, f: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_spawn = Some(Arc::new(f));
        self
    }

    /// Calls `f` once for each task that [`on_task_spawn`](Self::on_task_spawn) is called for, after its future has
    /// been dropped: when it has returned, panicked or been cancelled. Its handle may be ready a moment earlier.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_task_end(|task| println!("{} has ended", task.name().unwrap_or("a task")))
    ///     .build()?;
    /// runtime.block_on(async {
    ///     windlass::task::Builder::new().name("hello").spawn(async {}).await.unwrap();
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_task_end(mut self, f: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_end = Some(Arc::new(f));
        self
    }
}
