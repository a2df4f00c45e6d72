//! Counts jobs that are left lying while a worker sleeps, in the first scopes of many runtimes. It goes by time, so it is
//! not part of the suite: `scripts/full` runs it.
//!
//! ```text
//! cargo test --release --test fork_left_asleep -- --ignored --nocapture
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use windlass::{Builder, scope};

/// How many runtimes are started, unless `WINDLASS_ROUNDS` says otherwise.
const ROUNDS: usize = 10_000;
/// A job that waits for longer lies beside a worker that sleeps; or a worker that was woken waits for a CPU.
const LATE: Duration = Duration::from_millis(100);
/// No machine that can be measured on has a thread wait for a CPU for as long.
const LOST: Duration = Duration::from_secs(1);
/// When a job gives up waiting for the others.
const GIVE_UP: Duration = Duration::from_secs(2);

/// Jobs none of which ends before all have begun.
struct Together {
    jobs: usize,
    begun: AtomicUsize,
    start: Instant,
}

impl Together {
    fn new(jobs: usize) -> Self {
        Self { jobs, begun: AtomicUsize::new(0), start: Instant::now() }
    }

    fn job(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        while self.begun.load(Ordering::SeqCst) < self.jobs && self.start.elapsed() < GIVE_UP {
            std::thread::yield_now();
        }
    }

    /// In a scope of ours.
    fn scoped(jobs: usize) -> Duration {
        let all = Self::new(jobs);
        scope(|s| (0..jobs).for_each(|_| s.spawn(|_| all.job())));
        all.start.elapsed()
    }

    /// On threads of their own.
    fn threads(jobs: usize) -> Duration {
        let all = Self::new(jobs);
        std::thread::scope(|s| (0..jobs).for_each(|_| drop(s.spawn(|| all.job()))));
        all.start.elapsed()
    }
}

/// Prints how many of these were late, and returns how many have lost a job.
fn report(what: &str, mut times: Vec<Duration>) -> usize {
    times.sort_unstable();
    let longer = |limit| times.iter().filter(|&&time| time > limit).count();
    println!(
        "{what}: of {}, {} took more than {LATE:?}, {} more than {LOST:?}; half of them less than {:?}, \
         the slowest {:?}",
        times.len(),
        longer(LATE),
        longer(LOST),
        times[times.len() / 2],
        times[times.len() - 1],
    );
    longer(LOST)
}

#[test]
#[ignore = "takes long, and goes by time"]
fn no_job_of_a_first_scope_lies_while_a_worker_sleeps() {
    let rounds = std::env::var("WINDLASS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let (mut scopes, mut threads) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let workers = 2 + round % 3;
        // A spare would come to the aid of a job that lies.
        let builder = Builder::new().workers(workers).max_spares(0);
        let runtime = builder.build().expect("a runtime starts");
        scopes.push(if round % 2 == 0 {
            runtime.handle().install(|| Together::scoped(workers))
        } else {
            let task = runtime.spawn(async move { Together::scoped(workers) });
            runtime.block_on(task).expect("the task ends")
        });
        drop(runtime);
        // What this machine makes of as many threads that compute.
        threads.push(Together::threads(workers));
    }
    report("threads", threads);
    assert_eq!(report("first scopes", scopes), 0, "a job was left lying");
}
