//! The settings of a pool.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io, thread};

use windlass_runtime::Builder;

use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::global::{self, Global};
use crate::pool::ThreadPool;
use crate::registry::{
    IndexHandler, Keeper, MOST_THREADS, Own, PanicHandler, Registry, threads_from_environment,
};
use crate::support;
use crate::thread::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};

/// Builds a [`ThreadPool`], or the global pool.
///
/// # Examples
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(4).build()?;
/// assert_eq!(pool.install(rayon_core::current_num_threads), 4);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    panic_handler: Option<Box<PanicHandler>>,
    #[allow(clippy::type_complexity)]
    get_thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    start_handler: Option<Box<IndexHandler>>,
    exit_handler: Option<Box<IndexHandler>>,
    spawn_handler: S,
    breadth_first: bool,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            panic_handler: None,
            get_thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            spawn_handler: DefaultSpawn,
            breadth_first: false,
        }
    }
}

impl ThreadPoolBuilder {
    /// Begins with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool of scoped threads for the duration of a call. Each thread calls `wrapper`, which has to call
    /// [`ThreadBuilder::run`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`build`](Self::build).
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let spawn = |thread: ThreadBuilder| {
                let mut builder = thread::Builder::new();
                if let Some(name) = thread.name() {
                    builder = builder.name(name.to_owned());
                }
                if let Some(bytes) = thread.stack_size() {
                    builder = builder.stack_size(bytes);
                }
                builder.spawn_scoped(scope, move || wrapper(thread)).map(drop)
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds a pool, on a runtime of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if a thread can't be started, or if the current thread should be used but already belongs to a
    /// pool.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let (registry, keeper) = self.start()?;
        Ok(ThreadPool::of(registry, keeper))
    }

    /// Builds the global pool, which serves threads that belong to none: windlass's global runtime, with these
    /// settings. `windlass::spawn` and the like use it as well.
    ///
    /// With a [`spawn_handler`](Self::spawn_handler) or [`use_current_thread`](Self::use_current_thread), **it is a
    /// second pool** beside the runtime, and competes with it for the CPUs. Calls from tasks still use the runtime.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`build`](Self::build), and an error if the global pool was built or used before. The
    /// global runtime is that pool, so it is also an error if that runtime has already been started, or if the current
    /// thread has entered a runtime, as in `#[windlass::main]`. Set the number of workers there instead.
    ///
    /// # Examples
    ///
    /// ```
    /// rayon_core::ThreadPoolBuilder::new().num_threads(3).build_global()?;
    /// assert_eq!(rayon_core::current_num_threads(), 3);
    /// assert_eq!(windlass::Handle::current().workers(), 3);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        global::build(|| {
            if !self.use_current_thread && self.spawn_handler.is_default() {
                return self.start_runtime().map(|own| Global::Runtimes(Some(own)));
            }
            let (registry, keeper) = self.start()?;
            // It lives as long as the process.
            std::mem::forget(keeper);
            Ok(Global::Pool(registry))
        })
    }

    /// Starts windlass's global runtime.
    fn start_runtime(self) -> Result<Arc<Own>, ThreadPoolBuildError> {
        let taken = || ThreadPoolBuildError::new(ErrorKind::GlobalPoolAlreadyInitialized);
        // A runtime already serves this thread. One of rayon's pools does not count.
        if Registry::entered().is_none() && support::current().is_some() {
            return Err(taken());
        }
        let mut builder = Builder::new();
        if self.num_threads > 0 {
            builder = builder.workers(self.num_threads.min(MOST_THREADS));
        } else if let Some(threads) = threads_from_environment() {
            builder = support::workers_unless_set(builder, threads.min(MOST_THREADS));
        }
        if let Some(mut name) = self.get_thread_name {
            // The names are made here, because the closure that makes them need not be `Send`.
            let workers = support::workers_of(&builder)?;
            let names: Vec<String> = (0..workers).map(&mut name).collect();
            builder = builder.thread_names(move |index| names[index].clone());
        }
        if let Some(bytes) = self.stack_size {
            // Only for the workers, because no other threads run jobs.
            builder = support::spawn_threads_with(builder, move |start| {
                let thread = thread::Builder::new().name(start.name).stack_size(bytes);
                thread.spawn(start.run).map(drop)
            });
        }
        let own = Arc::new(Own::new(self.panic_handler, self.start_handler, self.exit_handler));
        let built = with_handlers(builder, &own).build_global();
        built.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(),
            _ => error.into(),
        })?;
        Ok(own)
    }

    /// Starts the threads.
    pub(crate) fn start(self) -> Result<(Registry, Arc<Keeper>), ThreadPoolBuildError> {
        let Self { mut get_thread_name, stack_size, mut spawn_handler, use_current_thread, .. } =
            self;
        if use_current_thread && support::place().is_some() {
            return Err(ThreadPoolBuildError::new(ErrorKind::CurrentThreadAlreadyInPool));
        }
        let threads = match self.num_threads {
            0 => threads_from_environment().unwrap_or_else(available),
            threads => threads,
        };
        // The starts are collected, because the closure that starts the threads need not be `Send`.
        let starts = Arc::new(Mutex::new(Vec::new()));
        let collected = starts.clone();
        let builder = Builder::new().workers(threads.min(MOST_THREADS)).max_spares(0);
        let mut builder = support::spawn_threads_with(builder, move |start| {
            starts.lock().unwrap_or_else(PoisonError::into_inner).push(start);
            Ok(())
        });
        if use_current_thread {
            builder = support::without_first(builder);
        }
        let own = Arc::new(Own::new(self.panic_handler, self.start_handler, self.exit_handler));
        let runtime = with_handlers(builder, &own).build()?;
        let (registry, keeper) = Registry::new(runtime, own);
        let starts = std::mem::take(&mut *collected.lock().unwrap_or_else(PoisonError::into_inner));
        if let (true, Some(name)) = (use_current_thread, &mut get_thread_name) {
            // rayon's own core calls this too, although there is no thread to name.
            name(0);
        }
        let mut started: io::Result<()> = Ok(());
        for start in starts {
            let name = get_thread_name.as_mut().map(|name| name(start.index));
            let thread = ThreadBuilder::new(start, name, stack_size, registry.clone());
            // Those that follow a failed one are dropped. The runtime can end without them.
            if started.is_ok() {
                started = spawn_handler.spawn(thread);
            }
        }
        started?;
        if use_current_thread {
            if !support::become_first(registry.handle()) {
                return Err(ThreadPoolBuildError::new(ErrorKind::CurrentThreadAlreadyInPool));
            }
            registry.enter().stay();
        }
        Ok((registry, keeper))
    }
}

/// Makes the workers themselves call the handlers, which may use the pool there.
fn with_handlers(builder: Builder, own: &Arc<Own>) -> Builder {
    let (first, last) = (own.clone(), own.clone());
    let start = move |index| first.call(&first.start_handler, index);
    let exit = move |index| last.call(&last.exit_handler, index);
    support::first_and_last_jobs(builder, start, exit)
}

fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl<S> ThreadPoolBuilder<S> {
    /// Starts the threads with a closure, which has to start a thread that calls [`ThreadBuilder::run`].
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            spawn_handler: CustomSpawn(spawn),
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            panic_handler: self.panic_handler,
            get_thread_name: self.get_thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            breadth_first: self.breadth_first,
        }
    }

    /// Names the threads by their index.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.get_thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. 0, the default, means `RAYON_NUM_THREADS` if that is set, or else one for each CPU.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the current thread the one with index 0, for the rest of its life. It runs the pool's jobs only while it
    /// waits for the pool, or [yields](crate::yield_now).
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets a closure that is called with the payload when a job that nobody waits for panics. Without one, the process
    /// is aborted.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the size of the threads' stacks, in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Has no effect: a thread runs the newest of its jobs first. Rayon's own core, where this is deprecated,
    /// would run the oldest first.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets a closure that is called on each thread when it starts, with its index. It may use the pool.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets a closure that is called on each thread when it ends, with its index. It may use the pool, as far as that
    /// still exists.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Closure;
        impl fmt::Debug for Closure {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<closure>")
            }
        }
        let closure = |is_set: bool| is_set.then_some(Closure);
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("get_thread_name", &closure(self.get_thread_name.is_some()))
            .field("panic_handler", &closure(self.panic_handler.is_some()))
            .field("stack_size", &self.stack_size)
            .field("start_handler", &closure(self.start_handler.is_some()))
            .field("exit_handler", &closure(self.exit_handler.is_some()))
            .field("breadth_first", &self.breadth_first)
            .finish()
    }
}
