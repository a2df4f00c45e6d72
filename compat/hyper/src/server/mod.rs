//! HTTP connections of a server: HTTP/1 and HTTP/2, with time-outs, and an end at which no request is lost.
//!
//! [`Http`] holds the settings and serves one connection at a time; `windlass::serve` accepts the connections.
//!
//! # How a connection ends without losing a request
//!
//! Closing an idle connection races with a request that its client is just sending. hyper's graceful shutdown, and
//! therefore hyper-util's, closes idle connections at once, and cancels those whose protocol is not known yet. Both
//! lose requests that the OS has already received. Here, a connection that should end
//!
//! 1. HTTP/1: answers what comes, from then on with `Connection: close`, after which clients send no more. If
//!    nothing comes for a while, [`linger`](Http::linger), it is closed. A request that has begun to arrive
//!    is waited for.
//! 2. HTTP/2: sends GOAWAY, as the protocol has it for the purpose: streams that have begun are answered, and
//!    clients know which have not. A client that does not react is waited for as long as there are streams, and after
//!    the last of them five seconds at a time, as long as something is sent or arrives within these.
//!
//! A WebSocket that has not ended by itself gets a close frame, "going away"; `goodbye` explains how.
//!
//! One case remains: a request that is still on its way over the network, to a connection that was idle for the whole
//! time. The client sees the connection closed without an answer, and tries again on another.
//!
//! # How it works
//!
//! `Activity` is what the parts of a connection know of each other: the I/O, `Observed`, notes which bytes came,
//! of which `Unread` tells those of a body from those of the next head; the service notes when a request begins
//! and when its response is over, which `Exchanges` counts; and `Watch` computes from these when the connection's time is up. There is one
//! timer for each connection. It is moved only to an earlier time; when it fires early, `Watch` finds that out and arms
//! it again. So a request costs no timer; and when a response is over and the timer fires in time, it is not even looked
//! at.
//!
//! Two things go on after a response, and count as well: the body of the request, and a stream of HTTP/2 that was handed
//! over. `Offer` gives them a part in the count.
//!
//! `Writes` has the time-out of writes, whose timer is armed only while one has to wait.
//!
//! `Gathered` lets an HTTP/2 connection wait for its streams' answers and write them together.

mod activity;
mod drive;
mod error;
mod exchanges;
mod frames;
mod gathered;
mod goodbye;
mod http;
mod observed;
mod offer;
mod service;
mod told;
mod unread;
mod upgrade;
mod version;
mod watch;
mod writes;

pub use error::Error;
pub use http::Http;
// For windlass-axum alone.
#[doc(hidden)]
pub use offer::BodyHold;
pub(crate) use offer::take_stream;
