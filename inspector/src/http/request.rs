//! A request, parsed from its head.

use std::fmt::Write as _;

use crate::policy::HEAD_LIMIT;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
}

/// The refusal of a request: a status and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) reason: &'static str,
}

impl Refusal {
    pub(crate) const fn new(status: u16, reason: &'static str) -> Self {
        Self { status, reason }
    }
}

/// A request without a body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path, as it was sent: none of our paths needs an escape.
    pub(crate) path: String,
    /// The fields of the query, unescaped, in order.
    query: Vec<(String, String)>,
    /// The header fields, their names in lower case.
    fields: Vec<(String, String)>,
}

impl Request {
    /// Parses a head, which ends with an empty line. Returns `None` if the empty line is still to come.
    pub(crate) fn parse(received: &[u8]) -> Result<Option<Self>, Refusal> {
        let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if received.len() >= HEAD_LIMIT { Err(TOO_LARGE) } else { Ok(None) };
        };
        if end + 4 > HEAD_LIMIT {
            return Err(TOO_LARGE);
        }
        let head = std::str::from_utf8(&received[..end]).map_err(|_| MALFORMED)?;
        let mut lines = head.split("\r\n");
        let (method, target) = request_line(lines.next().unwrap_or_default())?;
        let fields = lines.map(field).collect::<Result<Vec<_>, _>>()?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Self {
            method,
            path: path.to_owned(),
            query: query
                .split('&')
                .filter(|pair| !pair.is_empty())
                .map(query_field)
                .collect::<Result<_, _>>()?,
            fields,
        };
        if request.field("transfer-encoding")?.is_some()
            || request.field("content-length")?.is_some_and(|length| length != "0")
            || received.len() > end + 4
        {
            return Err(Refusal::new(400, "no request to the inspector has a body"));
        }
        Ok(Some(request))
    }

    /// Returns the value of a header field, or an error if the field occurs more than once.
    pub(crate) fn field(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut values = self.fields.iter().filter(|(known, _)| known == name);
        let first = values.next().map(|(_, value)| value.as_str());
        if values.next().is_some() { Err(MALFORMED) } else { Ok(first) }
    }

    /// Returns the value of the first query field of that name.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

const MALFORMED: Refusal =
    Refusal::new(400, "this is not a request that the inspector understands");
const TOO_LARGE: Refusal = Refusal::new(431, "the request's head is larger than 8 KiB");

fn request_line(line: &str) -> Result<(Method, &str), Refusal> {
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(MALFORMED);
    };
    if version != "HTTP/1.1" && version != "HTTP/1.0" {
        return Err(Refusal::new(505, "the inspector speaks HTTP/1.1"));
    }
    if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(MALFORMED);
    }
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        _ if !method.is_empty() && method.bytes().all(is_token) => {
            return Err(Refusal::new(405, "the inspector knows GET, HEAD and POST"));
        }
        _ => return Err(MALFORMED),
    };
    Ok((method, target))
}

fn field(line: &str) -> Result<(String, String), Refusal> {
    // A continuation line starts with a space, which is not allowed in a name.
    let (name, value) = line.split_once(':').ok_or(MALFORMED)?;
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(MALFORMED);
    }
    let value = value.trim_matches([' ', '\t']);
    if value.chars().any(|char| char.is_control() && char != '\t') {
        return Err(MALFORMED);
    }
    Ok((name.to_ascii_lowercase(), value.to_owned()))
}

/// Returns true for characters that are allowed in methods and field names.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn query_field(pair: &str) -> Result<(String, String), Refusal> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    Ok((unescape(name)?, unescape(value)?))
}

/// Removes the escapes from a query: `%41`, and `+` for a space.
fn unescape(text: &str) -> Result<String, Refusal> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(), digit()) else { return Err(MALFORMED) };
                (high * 16 + low) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| MALFORMED)
}

/// Escapes a text for a query.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> u16 {
        Request::parse(text.as_bytes()).unwrap_err().status
    }

    #[test]
    fn a_request_is_taken_apart() {
        let text = "GET /events?token=a%2Fb&filter=x+y&n=5 HTTP/1.1\r\nHost: localhost:1\r\nX-Y:  z\t\r\n\r\n";
        let request = Request::parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!((request.method, request.path.as_str()), (Method::Get, "/events"));
        assert_eq!(request.query("token"), Some("a/b"));
        assert_eq!(request.query("filter"), Some("x y"));
        assert_eq!(request.query("nothing"), None);
        assert_eq!(request.field("host").unwrap(), Some("localhost:1"));
        assert_eq!(request.field("x-y").unwrap(), Some("z"));
    }

    #[test]
    fn a_head_that_is_not_complete_is_waited_for() {
        let text = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for end in 0..text.len() {
            assert!(Request::parse(&text[..end]).unwrap().is_none());
        }
        assert!(Request::parse(text).unwrap().is_some());
    }

    #[test]
    fn what_is_not_exactly_a_request_is_refused() {
        assert_eq!(status("\r\n\r\n"), 400);
        assert_eq!(status("GET  / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET http://other/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("G@T / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\nHost: a\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\n more\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\nb: c\r\n\r\n"), 400);
        assert_eq!(status("GET /?a=%4 HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET /?a=%ff HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/2\r\n\r\n"), 505);
        assert_eq!(status("PUT / HTTP/1.1\r\n\r\n"), 405);
    }

    #[test]
    fn bodies_are_refused() {
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), 400);
        assert_eq!(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
        assert_eq!(
            status("POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"),
            400
        );
        assert_eq!(status("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"), 400);
    }

    #[test]
    fn a_head_is_bounded() {
        let long = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(HEAD_LIMIT));
        assert_eq!(status(&long), 431);
        assert_eq!(status(&(long + "\r\n\r\n")), 431);
    }

    #[test]
    fn an_escape_is_undone() {
        let odd = "a/b c&d=é\"\n";
        assert_eq!(unescape(&escape(odd)).unwrap(), odd);
    }
}
