//! Echo on some connections beside `par_iter` for ever: a server that computes.

use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use crate::Peer;

pub(crate) const NAME: &str = "mixed";
pub(crate) const ABOUT: &str =
    "echo on 8 connections, from another process, beside map and sum over 1M for ever";

const ITEMS: u64 = 1_000_000;

/// Serves and computes, has a load ask for some time, and prints what both have come to.
pub(crate) fn run(peer: &Peer, time: Duration) -> Result<(), String> {
    let address = (peer.serve)().map_err(|why| format!("the server: {why}"))?;
    let rounds = Arc::new(AtomicU64::new(0));
    let counted = rounds.clone();
    let items: Vec<u64> = (0..ITEMS).collect();
    (peer.compute)(Box::new(move || {
        // Ends with the process.
        loop {
            black_box(items.par_iter().map(|item| item ^ (item >> 3)).max());
            counted.fetch_add(1, Ordering::Relaxed);
        }
    }));
    let program = std::env::current_exe().map_err(|why| format!("this program: {why}"))?;
    // For a p99.9 it takes some time.
    let time = time.saturating_mul(5);
    let mut load = Command::new(program)
        .args(["load", &address.to_string(), &time.as_millis().to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("the load: {why}"))?;
    let said = load.stdout.take().ok_or("the load's output is piped")?;
    let mut lines = BufReader::new(said).lines();
    let mut hear = || match lines.next() {
        Some(Ok(line)) => Ok(line),
        _ => Err("the load has failed".to_owned()),
    };
    // It says a line when its window begins, and its figures when that ends.
    hear()?;
    let before = rounds.load(Ordering::Relaxed);
    let first = hear()?;
    let done = rounds.load(Ordering::Relaxed) - before;
    println!("compute {}", done as f64 / time.as_secs_f64());
    println!("{first}");
    for _ in 1..crate::load::FIGURES {
        println!("{}", hear()?);
    }
    let status = load.wait().map_err(|why| format!("the load: {why}"))?;
    if status.success() { Ok(()) } else { Err(format!("the load: {status}")) }
}
