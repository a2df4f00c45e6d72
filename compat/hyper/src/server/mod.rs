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
//! 1. HTTP/1: answers further requests with `Connection: close`, after which clients send no more. If no request comes
//!    for a while ([`linger`](Http::linger)), the connection is closed. A request that has begun to arrive is waited
//!    for.
//! 2. HTTP/2: sends GOAWAY, which the protocol has for this purpose: streams that have begun are answered, and clients
//!    know which have not.
//!
//! A WebSocket that has not ended by itself gets a close frame, "going away"; `goodbye` explains how.
//!
//! One case remains: a request that is still on its way over the network, to a connection that was idle for the whole
//! time. The client sees the connection closed without an answer, and tries again on another.
//!
//! # How it works
//!
//! `Activity` is the state that the parts of a connection share. The I/O, `Observed`, notes which bytes arrive, and
//! `Unread` tells those of a body from those of the next head. The service notes when a request begins and when its
//! response is over. `Watch` computes from all this when the connection's time is up. There is one timer for each
//! connection. It is moved only to an earlier time; when it fires early, `Watch` notices and arms it again. So a
//! request costs no timer operation, and if the timer fires in time when a response is over, it is not even looked at.
//!
//! `Writes` has the time-out of writes. Its timer is armed only while a write has to wait.
//!
//! `Gathered` lets an HTTP/2 connection wait for its streams' answers and write them together.

mod activity;
mod drive;
mod error;
mod frames;
mod gathered;
mod goodbye;
mod http;
mod observed;
mod service;
mod told;
mod unread;
mod upgrade;
mod version;
mod watch;
mod writes;

pub use error::Error;
pub use http::Http;
