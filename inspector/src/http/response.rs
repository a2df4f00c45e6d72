//! A response, and the header fields that all of them carry.

use std::fmt::Write as _;

use super::Refusal;

/// The fields of every response. They tell browsers that scripts, styles and data come from this server only, that no
/// other page may embed or read it, and that nothing is stored.
const FIELDS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Connection: close\r\n";

/// A response with a complete body.
#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    content_type: &'static str,
    /// Further fields, each with its line end.
    extra: String,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, extra: String::new(), body: body.into() }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let mut response = Self::ok("text/plain; charset=utf-8", format!("{}\n", refusal.reason));
        response.status = refusal.status;
        response
    }

    /// Adds a field. Both texts must be our own, and on one line.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.extra, "{name}: {value}\r\n");
        self
    }

    /// Returns the bytes to send; without the body for a HEAD request.
    pub(crate) fn into_bytes(self, with_body: bool) -> Vec<u8> {
        let mut bytes = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{FIELDS}{}\r\n",
            status_line(self.status),
            self.content_type,
            self.body.len(),
            self.extra,
        )
        .into_bytes();
        if with_body {
            bytes.extend(self.body);
        }
        bytes
    }
}

/// Returns the head of a stream of events, which ends with the connection.
pub(crate) fn head_of_stream() -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{FIELDS}\r\n")
}

fn status_line(status: u16) -> &'static str {
    match status {
        200 => "200 OK",
        400 => "400 Bad Request",
        403 => "403 Forbidden",
        404 => "404 Not Found",
        405 => "405 Method Not Allowed",
        408 => "408 Request Timeout",
        421 => "421 Misdirected Request",
        431 => "431 Request Header Fields Too Large",
        503 => "503 Service Unavailable",
        505 => "505 HTTP Version Not Supported",
        _ => "500 Internal Server Error",
    }
}
