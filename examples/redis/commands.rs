//! Executes requests, and writes the answers.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Server;
use super::pubsub::Subscriptions;
use super::request::Request;
use super::store::Condition;

/// The answers in the format of the wire, one after the other.
#[derive(Default)]
pub(crate) struct Replies(pub(crate) Vec<u8>);

impl Replies {
    fn simple(&mut self, text: &str) {
        self.0.push(b'+');
        self.0.extend_from_slice(text.as_bytes());
        self.0.extend_from_slice(b"\r\n");
    }

    pub(crate) fn error(&mut self, text: &str) {
        let _ = write!(self.0, "-ERR {text}\r\n");
    }

    fn integer(&mut self, number: i64) {
        let _ = write!(self.0, ":{number}\r\n");
    }

    fn bulk(&mut self, bytes: &[u8]) {
        let _ = write!(self.0, "${}\r\n", bytes.len());
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
    }

    fn nothing(&mut self) {
        self.0.extend_from_slice(b"$-1\r\n");
    }

    fn array(&mut self, length: usize) {
        let _ = write!(self.0, "*{length}\r\n");
    }

    fn subscription(&mut self, kind: &[u8], channel: &[u8], count: usize) {
        self.array(3);
        self.bulk(kind);
        self.bulk(channel);
        self.integer(count as i64);
    }
}

/// Executes a request. Returns false if the client says goodbye.
pub(crate) fn run(
    server: &Server,
    subscriptions: &mut Subscriptions<'_>,
    request: &Request,
    bytes: &[u8],
    replies: &mut Replies,
) -> bool {
    let argument = |index| request.argument(bytes, index);
    let is = |name: &str| argument(0).eq_ignore_ascii_case(name.as_bytes());
    let arguments = || (1..request.len()).map(argument);
    match request.len() {
        // An empty line.
        0 => {}
        2 if is("get") => {
            if server.store.get(argument(1), |value| replies.bulk(value)).is_none() {
                replies.nothing();
            }
        }
        3.. if is("set") => set(server, request, bytes, replies),
        1 if is("ping") => replies.simple("PONG"),
        2 if is("ping") || is("echo") => replies.bulk(argument(1)),
        2 if is("incr") => add(server, argument(1), Some(1), replies),
        3 if is("incrby") => add(server, argument(1), number(argument(2)), replies),
        2.. if is("del") => {
            replies.integer(arguments().filter(|key| server.store.remove(key)).count() as i64);
        }
        2.. if is("exists") => {
            let found = arguments().filter(|key| server.store.get(key, |_| ()).is_some());
            replies.integer(found.count() as i64);
        }
        2 if is("ttl") || is("pttl") => {
            let unit = if is("ttl") { 1000 } else { 1 };
            replies.integer(match server.store.expires(argument(1)) {
                None => -2,
                Some(None) => -1,
                Some(Some(at)) => {
                    let left = at.saturating_duration_since(Instant::now()).as_millis() as i64;
                    (left + unit / 2) / unit
                }
            });
        }
        3 if is("publish") => {
            let mut message = Replies::default();
            message.array(3);
            message.bulk(b"message");
            message.bulk(argument(1));
            message.bulk(argument(2));
            let listeners = server.channels.publish(argument(1), &message.0.into());
            replies.integer(listeners as i64);
        }
        2.. if is("subscribe") => {
            for channel in arguments() {
                replies.subscription(b"subscribe", channel, subscriptions.add(channel));
            }
        }
        length if is("unsubscribe") => {
            let all = if length == 1 { subscriptions.names() } else { Vec::new() };
            for channel in arguments().chain(all.iter().map(|name| &**name)) {
                replies.subscription(b"unsubscribe", channel, subscriptions.remove(channel));
            }
        }
        1 if is("dbsize") => replies.integer(server.store.len() as i64),
        1.. if is("flushall") || is("flushdb") => {
            server.store.clear();
            replies.simple("OK");
        }
        2 if is("select") => replies.simple("OK"),
        1.. if is("client") => replies.simple("OK"),
        // redis-cli and redis-benchmark send these to learn about the server.
        1.. if is("command") || is("config") => replies.array(0),
        1 if is("quit") => {
            replies.simple("OK");
            return false;
        }
        _ => {
            let name = String::from_utf8_lossy(argument(0)).into_owned();
            replies
                .error(&format!("unknown command '{name}', or wrong number of arguments for it"));
        }
    }
    true
}

fn number(bytes: &[u8]) -> Option<i64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn add(server: &Server, key: &[u8], amount: Option<i64>, replies: &mut Replies) {
    match amount.and_then(|amount| server.store.add(key, amount)) {
        Some(sum) => replies.integer(sum),
        None => replies.error("value is not an integer or out of range"),
    }
}

/// `SET key value [EX seconds | PX milliseconds] [NX | XX]`
fn set(server: &Server, request: &Request, bytes: &[u8], replies: &mut Replies) {
    let (mut expires, mut condition, mut index) = (None, Condition::Always, 3);
    while index < request.len() {
        let option = request.argument(bytes, index);
        let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
        let time = number(request.argument(bytes, index + 1)).filter(|time| *time > 0);
        match time.and_then(|time| u64::try_from(time).ok()) {
            Some(time) if is("ex") || is("px") => {
                let unit = if is("ex") { 1000 } else { 1 };
                let millis = Duration::from_millis(time.saturating_mul(unit));
                expires = Instant::now().checked_add(millis);
                index += 1;
            }
            None if is("ex") || is("px") => {
                return replies.error("invalid expire time in 'set' command");
            }
            _ if is("nx") => condition = Condition::IfAbsent,
            _ if is("xx") => condition = Condition::IfPresent,
            _ => return replies.error("syntax error"),
        }
        index += 1;
    }
    let (key, value) = (request.argument(bytes, 1), request.argument(bytes, 2));
    if server.store.set(key, value, expires, condition) {
        replies.simple("OK");
    } else {
        replies.nothing();
    }
}
