//! What the servers understand, and how many peers visit each.

/// Peers of each kind at the same time.
const PEERS: usize = 1000;

/// Peers that send half a request and stay, all at the same time.
const CROWD: usize = 10_000;

/// How a client that behaves asks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Client {
    Tcp,
    Udp,
    Curl,
}

/// What a server understands: a request, and how its answer begins.
#[derive(Clone, Copy)]
pub(crate) struct Protocol {
    pub(crate) client: Client,
    /// What comes before the first request, and is answered by a head of HTTP.
    pub(crate) opening: &'static [u8],
    pub(crate) request: &'static [u8],
    pub(crate) answer: &'static [u8],
    /// Peers of each kind at the same time.
    pub(crate) peers: usize,
    /// Peers that send half a request, all at the same time.
    pub(crate) crowd: usize,
    /// MiB by which the server may be larger while they are there.
    pub(crate) growth: usize,
}

pub(crate) const ECHO: Protocol = Protocol {
    client: Client::Tcp,
    opening: b"",
    request: b"are you there\n",
    answer: b"are you there\n",
    peers: PEERS,
    crowd: CROWD,
    growth: 128,
};
// Each connection takes two descriptors.
pub(crate) const PROXY: Protocol = Protocol { crowd: CROWD / 2, ..ECHO };
// Each of them hears what all others say, so they are fewer.
pub(crate) const CHAT: Protocol = Protocol {
    request: b"hello\n",
    answer: b"welcome\n",
    peers: PEERS / 10,
    crowd: CROWD / 10,
    ..ECHO
};
pub(crate) const HTTP: Protocol = Protocol {
    request: b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    answer: b"HTTP/1.1 ",
    crowd: CROWD / 10,
    ..ECHO
};
// A text without a mask to speak of, which comes back in capitals.
pub(crate) const WEBSOCKET: Protocol = Protocol {
    opening:
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    request: b"\x81\x85\0\0\0\0hello",
    answer: b"\x81\x05HELLO",
    // A flood of messages takes a debug build long.
    peers: PEERS / 5,
    crowd: CROWD / 10,
    // tungstenite has room for 128 KiB for each of them.
    growth: 512,
    ..ECHO
};
// The beginning of a hello.
pub(crate) const HTTPS: Protocol = Protocol {
    client: Client::Curl,
    request: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03an end that does not come for a while",
    answer: b"hello over ",
    crowd: CROWD / 10,
    ..ECHO
};
// It has 33 KiB for each connection of the crowd.
pub(crate) const REDIS: Protocol =
    Protocol { request: b"*1\r\n$4\r\nPING\r\n", answer: b"+PONG\r\n", growth: 512, ..ECHO };
pub(crate) const UDP: Protocol = Protocol {
    client: Client::Udp,
    request: b"are you there",
    answer: b"ARE YOU THERE",
    peers: PEERS / 10,
    crowd: 0,
    ..ECHO
};
