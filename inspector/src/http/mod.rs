//! The part of HTTP/1.1 that the inspector speaks: one request without a body on a connection, and one response.
//!
//! It is strict, because everything that reaches it may come from a malicious web page: a request that does not have
//! exactly the expected form is refused, never repaired.

mod request;
mod response;

pub(crate) use request::{Method, Refusal, Request, escape};
pub(crate) use response::{Response, head_of_stream};
