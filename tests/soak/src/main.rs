//! Runs everything that windlass has at once, at random, for as long as it is told to, and counts.
//!
//! ```text
//! windlass-soak [MINUTES] [SEED] [FIRST ROUND]
//! ```
//!
//! A round has one to three runtimes side by side, each of which is kept busy with a random choice of activities
//! (tasks, sockets, timers, fork-join, calls that block, aborts, panics, futures dropped at an await) and ended
//! in a random way. While they run, everything is counted that must not get lost: each task ends once, and as its
//! handle says; each byte comes back; no timer is early; each computation has the right result. After each round
//! the process has to be as it was: no thread, no descriptor and no memory is left.
//!
//! The choices of a round follow from the seed and its number; what the threads make of them does not. Whatever
//! is wrong ends the process, with the seed and the number of the round.

mod activities;
mod awake;
mod census;
mod heap;
mod house;
mod ledger;
mod random;
mod round;
mod sys;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use census::Census;
use ledger::{LEDGER, fail};
use random::Random;

/// How long a round may take before that counts as a hang. Most take less than a second.
const LIMIT: Duration = Duration::from_secs(180);

/// How often the counts are printed.
const REPORT: Duration = Duration::from_secs(60);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = parse(arguments.next(), "minutes").unwrap_or(1.0);
    let seed: u64 = parse(arguments.next(), "a seed").unwrap_or_else(any_seed);
    let first: u64 = parse(arguments.next(), "the number of a round").unwrap_or(0);
    println!("soak: {minutes} minutes, seed {seed}, from round {first}");

    let (start, end) = (Instant::now(), Duration::from_secs_f64(minutes * 60.0));
    awake::start();
    watch();
    // It lives as long as the process, and so belongs to what is there at the beginning.
    windlass::block_on(windlass::yield_now());
    let mut census = Census::new();
    let mut reported = start;
    let mut number = first;
    while awake::now() < end || number == first {
        ledger::begin(seed, number);
        round::run(Random::new(seed ^ number.wrapping_mul(0xa076_1d64_78bd_642f)));
        census.take();
        number += 1;
        if reported.elapsed() >= REPORT {
            reported = Instant::now();
            println!("after {} s: {census}", awake::now().as_secs());
        }
    }
    census.close();
    let (awake, all) = (awake::now().as_secs(), start.elapsed().as_secs());
    println!("{LEDGER}{census}\nsoak: seed {seed} held for {awake} s, of {all} s by the clock");
}

fn parse<T: std::str::FromStr>(argument: Option<String>, what: &str) -> Option<T> {
    argument.map(|text| {
        text.parse().unwrap_or_else(|_| {
            eprintln!("soak: {text} is not {what}");
            std::process::exit(2);
        })
    })
}

fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Random::new(now.as_nanos() as u64).next() >> 32
}

/// Starts a thread that ends the process if a round hangs.
fn watch() {
    let rounds = || LEDGER.rounds.load(Relaxed);
    let seen = AtomicU64::new(0);
    thread::spawn(move || {
        let mut since = awake::now();
        loop {
            thread::sleep(Duration::from_secs(1));
            if seen.swap(rounds(), Relaxed) != rounds() {
                since = awake::now();
            } else if awake::since(since) > LIMIT {
                fail("a round does not come to its end");
            }
        }
    });
}
