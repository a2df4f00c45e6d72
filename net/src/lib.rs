//! Sockets, pipes and any pollable descriptor for the windlass runtime.
//!
//! Everything here sees the runtime only through its registrations with the poller.
