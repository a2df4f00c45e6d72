//! Fork and join, twice: with a latch over tasks that move onto the pool, and with a scope whose jobs
//! borrow from the function that waits for them.
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

const PARTS: u32 = 500;
const LIMIT: u32 = 500_000;

/// The results, filled in by the tasks.
#[derive(Default)]
struct Results {
    primes: usize,
    parts_by_thread: BTreeMap<String, usize>,
}

/// Counts the primes below [`LIMIT`], an equal part of the numbers in each of `n` tasks.
fn with_a_latch(runtime: &Runtime, n: u32) -> Results {
    let results = Arc::new(Mutex::new(Results::default()));
    let done = Arc::new(Latch::new(n as usize));

    for index in 0..n {
        let (results, done) = (results.clone(), done.clone());
        let task = async move {
            // With this one line, the task continues on whichever worker of the pool is free.
            if windlass::resume_on_pool().await.is_ok() {
                count_part(n, index, &results);
            }
            done.count_down();
        };
        // Nobody needs the handle, because the latch tells when all tasks are done. Dropping it lets the task run on.
        drop(runtime.spawn(task));
    }

    // This thread is not a worker, so it may block. In a task this would be `done.wait().await`.
    done.wait_blocking();
    std::mem::take(&mut *results.lock().unwrap())
}

/// Does the same with a scope. It needs no reference counts and no latch, because it returns when all of its jobs have
/// ended.
fn with_a_scope(runtime: &Runtime, n: u32) -> Results {
    let _entered = runtime.enter();
    let results = Mutex::new(Results::default());
    windlass::scope(|s| {
        for index in 0..n {
            let results = &results;
            s.spawn(move |_| count_part(n, index, results));
        }
    });
    results.into_inner().unwrap()
}

fn count_part(n: u32, index: u32, results: &Mutex<Results>) {
    let part = LIMIT / n * index..LIMIT / n * (index + 1);
    let primes = part.filter(|&x| is_prime(x)).count();

    let mut results = results.lock().unwrap();
    results.primes += primes;
    *results.parts_by_thread.entry(thread_name()).or_default() += 1;
}

fn main() -> io::Result<()> {
    let runtime = Runtime::new()?;
    for (how, fork_join) in
        [("a latch", with_a_latch as fn(&Runtime, u32) -> Results), ("a scope", with_a_scope)]
    {
        let start = Instant::now();
        let results = fork_join(&runtime, PARTS);
        let elapsed = start.elapsed();

        println!("with {how}: {} primes below {LIMIT}, in {elapsed:.1?}:", results.primes);
        for (thread, parts) in &results.parts_by_thread {
            println!("  {thread:<14} did {parts:>3} parts");
        }
    }
    Ok(())
}

fn is_prime(x: u32) -> bool {
    x >= 2 && (2..).take_while(|d| d * d <= x).all(|d| x % d != 0)
}

fn thread_name() -> String {
    thread::current().name().unwrap_or("a thread without a name").to_owned()
}
