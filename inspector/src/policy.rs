//! Every threshold, time and limit of the inspector.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

use std::time::Duration;

// --- Findings ---

/// The most findings of one kind. More buries the others; fewer hides some. Chosen. Read by `findings`.
pub(crate) const FINDINGS_OF_A_KIND: usize = 5;

/// The length from which a poll keeps other tasks waiting long enough to be a finding. Chosen: the time after which a
/// spare would start. Read by `findings`.
pub(crate) const LONG_POLL: Duration = Duration::from_millis(10);

/// The time from which a ready task has waited long enough to be a finding. Chosen, like [`LONG_POLL`]. Read by
/// `findings`.
pub(crate) const LONG_WAIT: Duration = Duration::from_millis(10);

/// The number of long polls or waits that is more than an accident: the OS may take a thread off its CPU in any of
/// them. Chosen. Read by `findings`.
pub(crate) const SEVERAL: u64 = 3;

/// The number of tasks of one site from which they may be a leak. Chosen. Read by `findings`.
pub(crate) const MANY_TASKS: u64 = 50_000;

/// The share of its time from which a worker counts as fully busy. Chosen. Read by `findings`.
pub(crate) const SATURATED: f64 = 0.95;

/// A poll that lasts longer than this counts as blocking its worker. Chosen, like [`LONG_POLL`]. Read by `Frame`.
pub(crate) const BLOCKED: Duration = Duration::from_millis(10);

/// A poll that lasts longer than this is listed as stuck. Chosen: the length from which development builds report
/// polls. Read by `Collector`.
pub(crate) const STUCK: Duration = Duration::from_millis(100);

// --- What a frame has ---

/// The number of reports on polls that are over. Chosen. Read by `Collector`.
pub(crate) const PAST_REPORTS: usize = 5;

/// The number of frames of a stack. Chosen. Read by `Collector`.
pub(crate) const STACK_FRAMES: usize = 40;

/// The number of sites. More makes frames larger. Chosen. Read by `Frame`.
pub(crate) const SITES: usize = 100;

/// The longest text of a name or a site, in bytes. More makes frames larger. Chosen. Read by `Frame`.
pub(crate) const TEXT_LIMIT: usize = 300;

/// The number of tasks that wait for another task and are drawn. Chosen. Read by `Graph`.
pub(crate) const EDGES: usize = 200;

/// The number of circles of tasks that wait for each other. Chosen. Read by `Graph`.
pub(crate) const CIRCLES: usize = 20;

/// The number of a circle's members that are sent. Chosen. Read by `Graph`.
pub(crate) const MEMBERS: usize = 50;

/// The number of members of a circle that a finding names. Chosen. Read by `Findings`.
pub(crate) const NAMES: usize = 12;

/// The number of tasks in a frame: by default, and at most. More makes frames larger. Chosen. Read by `View`.
pub(crate) const ROWS: (usize, usize) = (100, 500);

/// The longest filter of tasks, in bytes. Chosen. Read by `View`.
pub(crate) const FILTER_LIMIT: usize = 200;

/// The time that histograms cover. Longer is steadier; shorter shows a change sooner. Chosen. Read by `Feed`.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);

// --- Clients ---

/// The number of clients that may look at the same time. Each costs a frame twice a second. Chosen. Read by `Feed`.
pub(crate) const CLIENTS: usize = 8;

/// The number of connections at a time: clients that look, and those that have just connected. Chosen. Read by
/// `Inspector`.
pub(crate) const CONNECTIONS: usize = 32;

/// The time between two frames. Longer costs less; shorter shows more. Chosen. Read by `Limits`.
pub(crate) const REFRESH: Duration = Duration::from_millis(500);

/// The time that a client may take for the head of a request, and for reading a frame. Longer keeps the places of
/// silent clients; shorter loses slow ones. Chosen. Read by `Limits`.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a stream of frames may be silent before a comment is sent. Longer lets clients and what lies between take
/// the connection for dead; shorter sends more. A third of the time after which `top` gives up. Read by `Limits`.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

/// The pause after an error of `accept`, which may be a lack of descriptors. Longer delays clients; shorter burns CPU
/// time. Chosen. Read by `Inspector`.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The largest head of a request, in bytes. Chosen: browsers send a tenth of it. Read by `Request`.
pub(crate) const HEAD_LIMIT: usize = 8 * 1024;

/// The number of bytes that the kernel may hold for a client that does not read. More takes memory; fewer takes more
/// writes for a frame. Chosen. Read by `Connection`.
pub(crate) const SEND_BUFFER: usize = 64 * 1024;
