//! The times of axum's server, in addition to those of `compat/hyper` and `serve`.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

use std::time::Duration;

/// How long a handshake may take before the first request, by default. Longer lets slow clients in; shorter frees the
/// connections of silent ones sooner. Chosen: as long as the head of a request. Read by `Serve`.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a request's body may pause, by default. Longer holds the memory of a request for a client that has gone;
/// shorter fails requests over a bad network. Chosen: longer than a network needs to recover from a failure, and as
/// long as a client may go without reading an answer. Read by `serve`.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a handshake may take once the server drains. Longer lets a silent peer delay the end; shorter loses clients
/// that are about to be served. Chosen: a few round trips over a long distance. Read by `Connection`.
pub(crate) const LAST_HANDSHAKE: Duration = Duration::from_secs(2);

/// The part of a connection's greatest age by which it may end earlier: a tenth. A larger part spreads connections that
/// were opened together over a longer time; a smaller one keeps them longer. Chosen: gRPC's servers spread theirs by as
/// much. Read by `Age`.
pub(crate) const AGE_SPREAD: u32 = 10;
