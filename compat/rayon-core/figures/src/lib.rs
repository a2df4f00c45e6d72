//! rayon's own code on two cores: its own, and the one that windlass puts in its place.
//!
//! One program cannot have both, because the replacement has the name of what it replaces. So there are
//! two programs with the same kernels: `genuine` in this package, and the one of the package in
//! `windlass/`. `scripts/rayon-figures` builds both and has the second compare them: it starts a process
//! for each kernel, core and round, in turns, so that a slow moment of the machine hits both, and prints
//! the medians of the ratios within a round.
//!
//! Nothing here judges a time.

mod child;
mod compare;
mod kernels;
mod load;
mod mixed;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

/// What differs between the two programs besides the core.
pub struct Peer {
    /// Starts a server that sends back what it gets, on a port of its own choice. It serves until the process ends.
    pub serve: fn() -> io::Result<SocketAddr>,
    /// Begins a computation in rayon's pool.
    pub compute: fn(Box<dyn FnOnce() + Send>),
}

const USAGE: &str = "\
usage: compare GENUINE [--rounds N] [--time MS] [NAME…]
           runs the kernels with these names (all) here and in the program GENUINE, in turns
       list
           names the kernels
";

/// Does what the command line says.
pub fn main(peer: &Peer) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match *words {
        ["compare", genuine, ref rest @ ..] => compare::run(genuine, rest),
        // What `compare` starts, and what that starts: not in the usage.
        ["child", name, millis] => child::run(peer, name, millis),
        ["load", address, millis] => load::run(address, millis),
        ["list"] => {
            for kernel in kernels::ALL {
                println!("{:14} {}", kernel.name, kernel.about);
            }
            println!("{:14} {}", mixed::NAME, mixed::ABOUT);
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
