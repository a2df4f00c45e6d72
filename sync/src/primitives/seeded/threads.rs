//! Threads of a model: threads of the OS that wait for their turn.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::schedule::Run;

/// Starts the first thread of a model.
pub(super) fn start_first(run: &Arc<Run>, f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let number = run.add();
    start(std::thread::Builder::new(), run, number, f).expect("the OS has a thread for it")
}

fn start<T: Send + 'static>(
    builder: std::thread::Builder,
    run: &Arc<Run>,
    number: usize,
    f: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<JoinHandle<T>> {
    let run = run.clone();
    builder.spawn(move || {
        run.begin(number);
        let result = f();
        run.end(number);
        result
    })
}

/// Like `std::hint`.
pub mod hint {
    /// Lets another thread of the model run, because what this one waits for comes from there.
    pub fn spin_loop() {
        super::thread::yield_now();
    }
}

/// Like `std::thread`.
pub mod thread {
    use std::io;
    use std::sync::Arc;

    pub use std::thread::{Result, current};

    use crate::primitives::seeded::schedule::{self, On, Run};

    /// Starts a thread of the model.
    pub fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        Builder::new().spawn(f).expect("the OS has a thread for it")
    }

    /// Lets another thread of the model run, if one can.
    pub fn yield_now() {
        if let Some((run, thread)) = schedule::current() {
            run.yield_now(thread);
        }
    }

    /// The settings of a new thread.
    #[derive(Debug)]
    pub struct Builder(std::thread::Builder);

    impl Builder {
        /// Creates one.
        #[allow(clippy::new_without_default)] // std's has none either.
        pub fn new() -> Self {
            Self(std::thread::Builder::new())
        }

        /// Names the thread.
        pub fn name(self, name: String) -> Self {
            Self(self.0.name(name))
        }

        /// Sets the size of its stack.
        pub fn stack_size(self, size: usize) -> Self {
            Self(self.0.stack_size(size))
        }

        /// Starts the thread.
        ///
        /// # Errors
        ///
        /// Fails if the OS has no thread for it.
        pub fn spawn<T: Send + 'static>(
            self,
            f: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            let (run, _) = schedule::current().expect("a thread of the model");
            let number = run.add();
            let inner = super::start(self.0, &run, number, f)?;
            schedule::step();
            Ok(JoinHandle { inner, run, number })
        }
    }

    /// A handle to join a thread.
    pub struct JoinHandle<T> {
        inner: std::thread::JoinHandle<T>,
        run: Arc<Run>,
        number: usize,
    }

    impl<T> JoinHandle<T> {
        /// Waits until the thread has ended.
        pub fn join(self) -> Result<T> {
            schedule::step();
            if let Some((run, thread)) = schedule::current() {
                while !run.has_thread_ended(self.number) {
                    run.wait(thread, On::End(self.number));
                }
            }
            self.inner.join()
        }

        /// Returns true if the thread has ended.
        pub fn is_finished(&self) -> bool {
            schedule::step();
            self.run.has_thread_ended(self.number)
        }

        /// Returns the thread.
        pub fn thread(&self) -> &std::thread::Thread {
            self.inner.thread()
        }
    }

    impl<T> std::fmt::Debug for JoinHandle<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("JoinHandle").field("number", &self.number).finish_non_exhaustive()
        }
    }
}
