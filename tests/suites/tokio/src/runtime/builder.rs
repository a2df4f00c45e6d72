//! What a runtime is built with.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::{LocalOptions, LocalRuntime, Runtime};

type Hook = Arc<dyn Fn() + Send + Sync>;

pub struct Builder {
    workers: Option<usize>,
    paused: bool,
    name: Option<String>,
    stack_size: Option<usize>,
    max_blocking: Option<usize>,
    keep_alive: Option<Duration>,
    thread_name_fn: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    on_start: Option<Hook>,
    on_stop: Option<Hook>,
    on_park: Option<Hook>,
    on_unpark: Option<Hook>,
}

/// What becomes of a runtime whose task has panicked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum UnhandledPanic {
    Ignore,
    ShutdownRuntime,
}

impl Builder {
    fn new(workers: Option<usize>) -> Self {
        Self {
            workers,
            paused: false,
            name: None,
            stack_size: None,
            max_blocking: None,
            keep_alive: None,
            thread_name_fn: None,
            on_start: None,
            on_stop: None,
            on_park: None,
            on_unpark: None,
        }
    }

    pub fn new_current_thread() -> Self {
        // Whether time is virtual is decided when a windlass runtime is built. The script knows
        // which tests stop it later.
        let paused = std::env::var_os("TOKIO_SUITE_VIRTUAL_TIME").is_some();
        Self { paused, ..Self::new(Some(1)) }
    }

    pub fn new_multi_thread() -> Self {
        Self::new(None)
    }

    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    pub fn enable_io(&mut self) -> &mut Self {
        self
    }

    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    #[track_caller]
    pub fn worker_threads(&mut self, workers: usize) -> &mut Self {
        self.workers = Some(workers);
        self
    }

    #[track_caller]
    pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
        self.max_blocking = Some(threads);
        self
    }

    pub fn thread_keep_alive(&mut self, duration: Duration) -> &mut Self {
        self.keep_alive = Some(duration);
        self
    }

    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.stack_size = Some(bytes);
        self
    }

    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = Some(name.into());
        self
    }

    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.thread_name(name)
    }

    pub fn thread_name_fn(
        &mut self,
        name: impl Fn() -> String + Send + Sync + 'static,
    ) -> &mut Self {
        self.thread_name_fn = Some(Arc::new(name));
        self
    }

    pub fn on_thread_start(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.on_start = Some(Arc::new(f));
        self
    }

    pub fn on_thread_stop(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.on_stop = Some(Arc::new(f));
        self
    }

    pub fn on_thread_park(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.on_park = Some(Arc::new(f));
        self
    }

    pub fn on_thread_unpark(&mut self, f: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.on_unpark = Some(Arc::new(f));
        self
    }

    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.paused = paused;
        self
    }

    // How often a worker looks where is windlass's own business.

    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(ticks > 0, "the interval must be greater than zero");
        self
    }

    pub fn event_interval(&mut self, _ticks: u32) -> &mut Self {
        self
    }

    pub fn max_io_events_per_tick(&mut self, _events: usize) -> &mut Self {
        self
    }

    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, events: usize) -> &mut Self {
        assert!(events > 0, "the number of events must be greater than zero");
        self
    }

    #[track_caller]
    pub fn unhandled_panic(&mut self, _behavior: UnhandledPanic) -> &mut Self {
        crate::missing("`Builder::unhandled_panic`")
    }

    fn windlass(&self) -> windlass::Builder {
        let mut builder = windlass::Builder::new();
        if let Some(workers) = self.workers {
            builder = builder.workers(workers);
        }
        if self.paused {
            builder = builder.virtual_time();
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        if let Some(threads) = self.max_blocking {
            builder = builder.max_blocking(threads);
        }
        if let Some(duration) = self.keep_alive {
            builder = builder.blocking_keep_alive(duration);
        }
        if let Some(name) = &self.name {
            builder = builder.thread_name(name);
        }
        if let Some(name) = self.thread_name_fn.clone() {
            builder = builder.thread_names(move |_| name());
        }
        if let Some(f) = self.on_start.clone() {
            builder = builder.on_thread_start(move || f());
        }
        if let Some(f) = self.on_stop.clone() {
            builder = builder.on_thread_stop(move || f());
        }
        if let Some(f) = self.on_park.clone() {
            builder = builder.on_park(move || f());
        }
        if let Some(f) = self.on_unpark.clone() {
            builder = builder.on_unpark(move || f());
        }
        builder
    }

    pub fn build(&mut self) -> io::Result<Runtime> {
        Ok(Runtime::of(self.windlass().build()?))
    }

    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        Ok(LocalRuntime::of(self.build()?))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}
