//! A runtime for multicore servers: async I/O, timers and fork-join on one pool of work-stealing
//! workers.
//!
//! ```
//! fn main() -> std::io::Result<()> {
//!     let runtime = windlass::Runtime::new()?;
//!     let answer = runtime.block_on(async {
//!         let task = windlass::spawn(async { 6 * 7 });
//!         task.await.unwrap()
//!     });
//!     assert_eq!(answer, 42);
//!     Ok(())
//! }
//! ```

pub use async_channel as channel;
pub use async_lock as lock;
pub use windlass_macros::{main, test};
pub use windlass_runtime::{
    Builder, EnterGuard, Handle, Metrics, Runtime, ShutdownReport, Straggler, WorkerMetrics,
    block_on, manual, resume_on_pool, spawn, spawn_blocking, task, yield_now,
};
pub use windlass_sync as sync;
