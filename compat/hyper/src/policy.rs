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

/// How long a connection that was told to close may take without a byte that goes out or arrives. Longer delays the end
/// beside a client that does nothing; shorter cuts answers and late bodies short. Chosen. Read by `Watch`.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// The number of bytes that have to move within a limit for something to be under way that is neither a request nor a
/// write that waits: within [`CLOSING`] for an answer or a body that is still being sent, between two requests for a body
/// that goes on after its response, and within the limit of writes for answers that go on beside others that wait for a
/// window. More cuts off slow clients; fewer lets one that asks for nothing but acknowledgements of its pings, of 17 bytes
/// each, keep a connection that is to close. Chosen: a kilobyte a second while it closes. Read by `Watch`.
pub(crate) const PROGRESS: usize = 4 << 10;

/// The time between two looks at whether a body that goes on after its response is over, once a connection of HTTP/1 is to
/// end. Longer delays the end; shorter takes CPU time while the body comes. Chosen: within the time that an idle connection
/// has. Read by `Watch`.
pub(crate) const BODY_LOOKS: Duration = Duration::from_millis(100);

/// The shortest and the longest time between two looks at whether a connection of HTTP/2 is idle. A shorter one burns
/// CPU time on a connection that may be idle for no time; a longer one than the second is no use. Chosen. Read by
/// `Watch`.
pub(crate) const KEPT_ARMED: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_secs(3600));

/// The number of reads that may find bytes before the handler of a WebSocket gets its close frame anyway. More lets a
/// client that never pauses delay the end; fewer loses messages that have arrived. Chosen. Read by `Goodbye`.
pub(crate) const LAST_READS: u32 = 64;

/// How long a message of several frames may take to come to its end before the handler of a WebSocket gets its close frame
/// anyway. Longer lets a client that begins one and pauses delay the end; shorter loses messages that are being sent.
/// Chosen: as long as [`CLOSING`]. Read by `Goodbye`.
pub(crate) const LAST_MESSAGE: Duration = Duration::from_secs(5);

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

/// How long a client may wait for a connection, if nothing is set. Longer lets slow networks through; shorter tells
/// sooner of a server that does not answer. Chosen. Read by `Connector` and `UnixConnector`.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
