//! The builder's settings that are closures: what is called when threads and tasks come and go.

use std::sync::Arc;

use crate::builder::Builder;
use crate::hooks::TaskMeta;

impl Builder {
    /// Names the workers' threads by their index; overrides [`thread_name`](Self::thread_name) for them. The names of
    /// spares, of the blocking pool's threads and of the poller's still begin with that.
    ///
    /// A name that contains a NUL character makes [`build`](Self::build) return `InvalidInput`.
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).thread_names(|index| format!("web-{index}")).build()?;
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(runtime.block_on(name).unwrap().unwrap().starts_with("web-"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_names(mut self, name: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        self.hooks.worker_name = Some(Arc::new(name));
        self
    }

    /// Has `f` called on each thread that runs tasks or blocking closures, before it runs the first: workers, spares,
    /// the threads of the blocking pool and those of pinned tasks. The poller's thread is none of these. Inside,
    /// [`worker_index`](crate::worker_index) tells workers from the others.
    ///
    /// If `f` panics, the thread goes on as if it had returned. A second call replaces the first closure.
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

    /// Has `f` called on each thread that [`on_thread_start`](Self::on_thread_start) was called on, after it has run the
    /// last task or closure. [`Runtime::shutdown`](crate::Runtime::shutdown) waits for it.
    pub fn on_thread_stop(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.thread_stop = Some(Arc::new(f));
        self
    }

    /// Has `f` called on a worker, a spare or a thread of the blocking pool that has nothing to do and is about to
    /// sleep. What it spawns is run before the thread sleeps.
    ///
    /// If `f` panics, the thread goes on as if it had returned.
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_park(|| { /* flush what this thread has gathered */ })
    ///     .on_unpark(|| { /* begin to gather again */ })
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_park(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.park = Some(Arc::new(f));
        self
    }

    /// Has `f` called on a thread that has slept, once for each call of [`on_park`](Self::on_park).
    pub fn on_unpark(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.unpark = Some(Arc::new(f));
        self
    }

    /// Has `f` called for each task, closure of [`spawn_blocking`](crate::spawn_blocking) and
    /// [`compute`](crate::compute)d closure that is spawned, on the spawning thread, before it can run. One that is
    /// refused because the runtime is shutting down counts too.
    ///
    /// If `f` panics, the task is spawned nevertheless.
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

    /// Has `f` called once for each task that [`on_task_spawn`](Self::on_task_spawn) was called for, after its future
    /// is gone: when it has returned, has panicked or was cancelled. By then its handle may already have been ready for
    /// a moment.
    pub fn on_task_end(mut self, f: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_end = Some(Arc::new(f));
        self
    }
}
