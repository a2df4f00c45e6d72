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

/// Sockets, pipes, names, and any descriptor that can be polled.
pub mod net {
    pub use windlass_net::{
        Addresses, Async, Duplex, Incoming, Keepalive, Lookup, OwnedReadHalf, OwnedWriteHalf,
        ReadHalf, ReuniteError, TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket,
        WriteHalf, resolve, unix,
    };
}

/// Latch, events and cancellation, for async and blocking code alike.
pub mod sync {
    pub use windlass_sync::*;

    /// Primitives that are objects of the OS, which foreign code can signal and wait for.
    pub mod os {
        pub use windlass_net::OsEvent as Event;
    }
}
