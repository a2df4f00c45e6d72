//! What the server and the load have used up to an edge of the window.

use std::io;
use std::time::{Duration, Instant};

use crate::support::sys;
use crate::usage::{OtherThreads, Usage};

/// Read at both edges. The CPU time of the server is read here and not by the server, which would have to
/// be told of the edge first.
pub(super) struct Meter {
    pub(super) at: Instant,
    server: Duration,
    load: Duration,
}

impl Meter {
    pub(super) fn now(server: u32) -> io::Result<Meter> {
        let load = Usage::now().cpu();
        Ok(Meter { at: Instant::now(), server: sys::process_cpu(server)?, load })
    }

    pub(super) fn seconds_since(&self, before: &Meter) -> f64 {
        self.at.duration_since(before.at).as_secs_f64()
    }

    pub(super) fn server_cpu_ns_since(&self, before: &Meter) -> f64 {
        self.server.saturating_sub(before.server).as_nanos() as f64
    }

    pub(super) fn load_cpu_ns_since(&self, before: &Meter) -> f64 {
        self.load.saturating_sub(before.load).as_nanos() as f64
    }
}

/// Context switches of all threads of the server so far.
pub(super) fn switches_of(server: u32) -> u64 {
    let threads = OtherThreads::of_process(server);
    threads.voluntary_switches + threads.involuntary_switches
}
