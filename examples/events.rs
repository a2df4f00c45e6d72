//! Two auto-reset events, used over and over: a thread hands parcels to a task, one at a time.
//!
//! ```sh
//! cargo run --release --example events
//! ```

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use windlass::Runtime;
use windlass::sync::AutoResetEvent;

const SHOWN: u32 = 3;
const PARCELS: u32 = 10_000;

/// A counter top: room for one parcel, and a bell for each side.
struct Counter {
    parcel: AtomicU32,
    /// Set by the producer: there is a parcel.
    filled: AutoResetEvent,
    /// Set by the consumer: there is room. True from the start.
    taken: AutoResetEvent,
}

fn main() -> io::Result<()> {
    let runtime = Runtime::new()?;
    let counter = Arc::new(Counter {
        parcel: AtomicU32::new(0),
        filled: AutoResetEvent::new(false),
        taken: AutoResetEvent::new(true),
    });

    // The consumer is a task, so it awaits. Waiting takes the signal, so the event can be used again without a reset.
    let consumer = runtime.spawn({
        let counter = counter.clone();
        async move {
            let mut sum = 0;
            for count in 1..=PARCELS {
                counter.filled.wait().await;
                // Everything before `set` happens before everything after `wait`.
                let parcel = counter.parcel.load(Ordering::Relaxed);
                if count <= SHOWN {
                    println!("task:   got parcel {parcel}");
                }
                sum += u64::from(parcel);
                counter.taken.set();
            }
            sum
        }
    });

    // The producer is this plain thread, so it blocks on the same kind of event.
    let start = Instant::now();
    for parcel in 1..=PARCELS {
        counter.taken.wait_blocking();
        if parcel <= SHOWN {
            println!("thread: puts parcel {parcel}");
        }
        counter.parcel.store(parcel, Ordering::Relaxed);
        counter.filled.set();
    }
    let sum = runtime.block_on(consumer).expect("the consumer neither panics nor is cancelled");
    println!("...");
    println!("{PARCELS} parcels in {:.1?}, none lost: their sum is {sum}", start.elapsed());

    // A signal that nobody waits for is kept, but only once.
    let event = AutoResetEvent::new(false);
    event.set();
    event.set();
    event.wait_blocking();
    let state = if event.is_set() { "set" } else { "unset" };
    println!("set twice, waited once: the event is {state}");
    Ok(())
}
