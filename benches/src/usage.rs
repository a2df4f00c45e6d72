//! What a process or its threads have used so far, as the kernel counts it.

use std::fs;
use std::mem::MaybeUninit;
use std::time::Duration;

/// CPU time, peak memory and context switches, of this process or of its children.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) max_rss_kib: i64,
    pub(crate) voluntary_switches: i64,
    pub(crate) involuntary_switches: i64,
}

impl Usage {
    pub(crate) fn now() -> Usage {
        Usage::of(libc::RUSAGE_SELF)
    }

    /// Of all children that have ended.
    pub(crate) fn of_children() -> Usage {
        Usage::of(libc::RUSAGE_CHILDREN)
    }

    fn of(whom: libc::c_int) -> Usage {
        let mut raw = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: `raw` is writable memory of the right type.
        let rc = unsafe { libc::getrusage(whom, raw.as_mut_ptr()) };
        assert_eq!(rc, 0, "getrusage: {}", std::io::Error::last_os_error());
        // SAFETY: the call succeeded, and then it has filled the whole structure.
        let raw = unsafe { raw.assume_init() };
        Usage {
            user: duration(raw.ru_utime),
            system: duration(raw.ru_stime),
            max_rss_kib: raw.ru_maxrss,
            voluntary_switches: raw.ru_nvcsw,
            involuntary_switches: raw.ru_nivcsw,
        }
    }

    pub(crate) fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

/// What all threads of this process but the calling one have used together, or all threads of
/// another process.
#[derive(Clone, Copy, Default)]
pub(crate) struct OtherThreads {
    pub(crate) threads: u64,
    pub(crate) cpu_ns: u64,
    /// A thread that gave up its CPU to wait; each was woken to be able to do so.
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
}

impl OtherThreads {
    pub(crate) fn now() -> OtherThreads {
        // SAFETY: no preconditions.
        let own = unsafe { libc::gettid() }.to_string();
        OtherThreads::sum("/proc/self/task", &own)
    }

    /// All threads of another process.
    pub(crate) fn of_process(pid: u32) -> OtherThreads {
        OtherThreads::sum(&format!("/proc/{pid}/task"), "")
    }

    fn sum(folder: &str, but: &str) -> OtherThreads {
        let mut sum = OtherThreads::default();
        let threads = fs::read_dir(folder).expect("/proc is needed to count wake-ups");
        for thread in threads.flatten() {
            if thread.file_name().to_str() == Some(but) {
                continue;
            }
            // A thread that ended since the folder was listed has no files any more.
            let Ok(status) = fs::read_to_string(thread.path().join("status")) else {
                continue;
            };
            let schedstat = fs::read_to_string(thread.path().join("schedstat"));
            sum.threads += 1;
            sum.cpu_ns += first_number(schedstat.as_deref().unwrap_or(""));
            sum.voluntary_switches += status_field(&status, "voluntary_ctxt_switches:");
            sum.involuntary_switches += status_field(&status, "nonvoluntary_ctxt_switches:");
        }
        sum
    }
}

/// CPU time that the whole machine has spent on anything, the hypervisor's theft included.
pub(crate) fn machine_cpu() -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let total = stat.lines().next().unwrap_or_default();
    // After its name: user, nice, system, idle, iowait, irq, softirq, steal. Guests are part of
    // the first two.
    let fields = total.split_whitespace().skip(1).take(8).map(first_number);
    let busy = fields.enumerate().filter(|(place, _)| !matches!(place, 3 | 4));
    let ticks: u64 = busy.map(|(_, ticks)| ticks).sum();
    // SAFETY: no preconditions.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Duration::from_secs_f64(ticks as f64 / per_second.max(1) as f64)
}

/// Resident memory of this process now, in bytes.
pub(crate) fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).map_or(0, first_number);
    // SAFETY: no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages * u64::try_from(page).unwrap_or(4096)
}

fn status_field(status: &str, key: &str) -> u64 {
    status.lines().find_map(|line| line.strip_prefix(key)).map_or(0, first_number)
}

fn first_number(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn duration(time: libc::timeval) -> Duration {
    // Neither part of a CPU time is ever negative.
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}
