//! Fork and join with a latch: many tasks move onto the pool, the caller blocks until all are done.
//!
//! ```sh
//! cargo run --release --example fork_join
//! ```

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use windlass::Runtime;
use windlass::sync::Latch;

const TASKS: u32 = 500;
const LIMIT: u32 = 500_000;

/// What came out, filled in by the tasks.
#[derive(Default)]
struct Results {
    primes: usize,
    tasks_by_thread: BTreeMap<String, usize>,
}

/// Counts the primes below [`LIMIT`], an equal part of the numbers in each of `n` tasks.
fn fork_join(runtime: &Runtime, n: u32) -> Results {
    let results = Arc::new(Mutex::new(Results::default()));
    let done = Arc::new(Latch::new(n as usize));

    for index in 0..n {
        let (results, done) = (results.clone(), done.clone());
        let task = async move {
            // One line, and the task goes on wherever the pool has a worker free.
            if windlass::resume_on_pool().await.is_ok() {
                let part = LIMIT / n * index..LIMIT / n * (index + 1);
                let primes = part.filter(|&x| is_prime(x)).count();

                let mut results = results.lock().unwrap();
                results.primes += primes;
                *results.tasks_by_thread.entry(thread_name()).or_default() += 1;
            }
            done.count_down();
        };
        // Nobody needs the handle: the latch tells when all are done. Dropping it lets the task go on.
        drop(runtime.spawn(task));
    }

    // This thread is no worker, so it may block. In a task it would be `done.wait().await`.
    done.wait_blocking();
    std::mem::take(&mut *results.lock().unwrap())
}

fn main() -> io::Result<()> {
    let runtime = Runtime::new()?;

    let start = Instant::now();
    let results = fork_join(&runtime, TASKS);
    let elapsed = start.elapsed();

    println!("{} primes below {LIMIT}, found by {TASKS} tasks in {elapsed:.1?}:", results.primes);
    for (thread, tasks) in &results.tasks_by_thread {
        println!("  {thread:<14} ran {tasks:>3} tasks");
    }
    Ok(())
}

fn is_prime(x: u32) -> bool {
    x >= 2 && (2..).take_while(|d| d * d <= x).all(|d| x % d != 0)
}

fn thread_name() -> String {
    thread::current().name().unwrap_or("a thread without a name").to_owned()
}
