//! What a server under test does for its clients: the same few lines under every peer.

/// A protocol in which each request is answered before the next is sent.
pub(crate) trait Service: Send + 'static {
    const KIND: Kind;

    /// The answer, once all that was received since the last one is a whole request.
    fn answer(received: &[u8]) -> Option<&[u8]>;
}

/// By name, for the load in the other process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Echo,
    Http,
    /// [`BATCH`] echoed messages at once.
    Batch,
}

/// Gives back what it gets.
pub(crate) struct Echo;

/// HTTP/1.1 with connections kept alive, one small page, no body in a request.
pub(crate) struct Http;

impl Service for Echo {
    const KIND: Kind = Kind::Echo;

    #[inline]
    fn answer(received: &[u8]) -> Option<&[u8]> {
        Some(received)
    }
}

impl Service for Http {
    const KIND: Kind = Kind::Http;

    fn answer(received: &[u8]) -> Option<&[u8]> {
        let head = received.strip_suffix(b"\r\n\r\n")?;
        let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut request = lines.next()?.split(|&byte| byte == b' ');
        let (method, target, version) = (request.next()?, request.next()?, request.next()?);
        // Of the headers a server has to look at, at least the one that says how long the body is.
        let body = lines.any(|line| {
            let name = line.split(|&byte| byte == b':').next().unwrap_or(line);
            name.eq_ignore_ascii_case(b"content-length")
        });
        match (method, target, version, body) {
            (b"GET", b"/", b"HTTP/1.1", false) => Some(PAGE),
            _ => Some(NO_PAGE),
        }
    }
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\
    Host: localhost\r\n\
    User-Agent: windlass-benches\r\n\
    Accept: text/html,text/plain;q=0.9,*/*;q=0.8\r\n\
    Accept-Encoding: identity\r\n\r\n";

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: bench\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 14\r\n\r\n\
    Hello, World!\n";

const NO_PAGE: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// The length of an echoed message.
const MESSAGE: usize = 64;

/// Messages in flight on a connection that has several.
pub(crate) const BATCH: usize = 16;

impl Kind {
    /// The first request of a client.
    pub(crate) fn request(self, client: usize) -> Vec<u8> {
        match self {
            Kind::Echo | Kind::Batch => {
                let messages = if self == Kind::Batch { BATCH } else { 1 };
                let mut message = vec![0x5a; messages * MESSAGE];
                message[..8].copy_from_slice(&(client as u64).to_le_bytes());
                message
            }
            Kind::Http => REQUEST.to_vec(),
        }
    }

    /// Makes the next request of a client differ from its last, where the protocol allows it.
    pub(crate) fn stamp(self, request: &mut [u8], number: u64) {
        if self != Kind::Http {
            request[8..16].copy_from_slice(&number.to_le_bytes());
        }
    }

    /// What the server has to answer.
    pub(crate) fn expected(self, request: &[u8]) -> &[u8] {
        match self {
            Kind::Echo | Kind::Batch => request,
            Kind::Http => PAGE,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Echo => "echo",
            Kind::Http => "http",
            Kind::Batch => "batch",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Kind> {
        [Kind::Echo, Kind::Http, Kind::Batch].into_iter().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_found_and_nothing_else() {
        assert_eq!(Http::answer(REQUEST), Some(Kind::Http.expected(REQUEST)));
        assert_eq!(Http::answer(&REQUEST[..REQUEST.len() - 1]), None);
        assert_eq!(Http::answer(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n"), Some(NO_PAGE));
        let posted = b"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(Http::answer(posted), Some(NO_PAGE));
    }

    #[test]
    fn the_page_is_as_long_as_it_says() {
        let text = std::str::from_utf8(PAGE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
    }
}
