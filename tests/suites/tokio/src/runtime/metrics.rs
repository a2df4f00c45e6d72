//! The counters of a runtime.

use std::fmt;
use std::time::Duration;

#[derive(Clone)]
pub struct RuntimeMetrics {
    runtime: windlass::Handle,
}

impl RuntimeMetrics {
    pub(super) fn of(runtime: windlass::Handle) -> Self {
        Self { runtime }
    }

    fn now(&self) -> windlass::Metrics {
        self.runtime.metrics()
    }

    pub fn num_workers(&self) -> usize {
        self.now().workers.len()
    }

    pub fn num_alive_tasks(&self) -> usize {
        self.now().tasks_alive as usize
    }

    pub fn global_queue_depth(&self) -> usize {
        self.now().injector_len
    }

    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.now().workers[worker].parks
    }

    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let worker = self.now().workers[worker];
        worker.parks + worker.wakeups
    }

    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.now().workers[worker].busy
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics").finish_non_exhaustive()
    }
}
