//! Every time and limit of HTTP connections and of the connector.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

use std::time::Duration;

// --- Defaults of `Http` ---

/// The time for the head of a request. Longer lets slow clients in; shorter frees the connections of silent ones
/// sooner. Chosen: hyper has the same. Read by `Http::new`.
pub(crate) const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// The time between two requests of a connection. Longer saves handshakes; shorter frees connections sooner. Chosen: a
/// little longer than the 60 seconds after which common proxies close a connection that they keep open. Read by
/// `Http::new`.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// How long a connection that should end waits for a request that may be on its way. Longer delays the end; shorter
/// loses requests of distant clients. Chosen: a round trip around the earth. Read by `Http::new`.
pub(crate) const LINGER: Duration = Duration::from_millis(250);

/// The time without write progress. Longer keeps the memory of answers for clients that do not read; shorter cuts off
/// clients behind a bad network. Chosen. Read by `Http::new`.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

// --- The end of a connection ---

/// How long a connection that was told to close may go without sending a byte. Longer delays the end beside a client
/// that does not read; shorter cuts answers short. Chosen. Read by `Watch`.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// The number of bytes that have to go out within [`CLOSING`] for the client to count as still reading an answer. More
/// cuts off slow clients; with fewer, a client could keep a closing connection open with pings alone, whose
/// acknowledgements take 17 bytes each. Chosen: a kilobyte a second. Read by `Watch`.
pub(crate) const PROGRESS: usize = 4 << 10;

/// The shortest and the longest time between two checks of whether an HTTP/2 connection is idle. Shorter than the first
/// burns CPU time if connections may not be idle at all; longer than the second is of no use. Chosen. Read by `Watch`.
pub(crate) const KEPT_ARMED: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_secs(3600));

/// The number of reads that may find bytes before the handler of a WebSocket gets its close frame anyway. More lets a
/// client that never pauses delay the end; fewer loses messages that have arrived. Chosen. Read by `Goodbye`.
pub(crate) const LAST_READS: u32 = 64;

/// How long the client of a WebSocket may take to answer the close frame. Longer delays the end; shorter cuts off
/// distant clients. Chosen: some round trips. Read by `Goodbye`.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

// --- Reading and connecting ---

/// The number of bytes that are read at a time to tell HTTP/1 from HTTP/2. More takes stack space; with fewer, some
/// requests take a second read. Chosen: most heads fit. Read by `Version`.
pub(crate) const FIRST_READ: usize = 1024;

/// How long an address may take before the next one is tried as well. Longer delays a connection past an address that
/// does not answer; shorter opens connections in vain. RFC 8305 recommends this. Read by `Connector`.
pub(crate) const NEXT_ADDRESS: Duration = Duration::from_millis(250);
