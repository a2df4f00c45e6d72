//! Decides which requests are let in.
//!
//! The inspector shows names, addresses and stacks, so only people with its URL may look. Three checks keep others out,
//! in this order:
//!
//! 1. **`Host`** has to name this machine's loopback or the bound address. If an attacker makes the name of a page
//!    resolve to 127.0.0.1 (DNS rebinding), the request carries that name here.
//! 2. **`Origin`** and **`Sec-Fetch-Site`**, if a browser sends them, have to say that the request comes from our own
//!    page. Only the page itself may be opened from a link elsewhere.
//! 3. **The token** has to be in the query.

use std::net::{IpAddr, SocketAddr};

use crate::http::{Refusal, Request};
use crate::token::Token;

/// The checks that each request has to pass.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) token: Token,
    pub(crate) bound: SocketAddr,
}

impl Guard {
    /// Returns the refusal of a request, unless it is let in.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.field("host")?.ok_or(NO_HOST)?;
        if !self.knows(host) {
            return Err(OTHER_HOST);
        }
        if let Some(origin) = request.field("origin")? {
            let own =
                origin.strip_prefix("http://").is_some_and(|of| of.eq_ignore_ascii_case(host));
            if !own {
                return Err(OTHER_ORIGIN);
            }
        }
        let site = request.field("sec-fetch-site")?;
        if request.path != "/" && !matches!(site, None | Some("same-origin" | "none")) {
            return Err(OTHER_ORIGIN);
        }
        let known = request.query("token").is_some_and(|guess| self.token.is(guess));
        if known { Ok(()) } else { Err(NO_TOKEN) }
    }

    /// Returns true if a `Host` field names an address at which we may be reached. The port may differ, as with a
    /// tunnel.
    fn knows(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let address = match literal {
            Some(literal) => literal.parse().map(IpAddr::V6),
            None => name.parse().map(IpAddr::V4),
        };
        let Ok(address) = address else { return false };
        let bound = self.bound.ip();
        // If we are bound to all addresses of the machine, we can't tell which they are. That is safe, because an
        // attacker's page sends its name here, never an address.
        address.is_loopback() || address == bound || bound.is_unspecified()
    }
}

const NO_HOST: Refusal = Refusal::new(400, "the request has no Host field");
const OTHER_HOST: Refusal =
    Refusal::new(421, "the inspector is not known by that name: use localhost or its address");
const OTHER_ORIGIN: Refusal = Refusal::new(403, "the inspector answers no other page than its own");
const NO_TOKEN: Refusal = Refusal::new(
    403,
    "the token is missing or wrong: open the URL that the program has printed (Inspector::url)",
);

fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') {
        host.find(']')? + 1
    } else {
        host.find(':').unwrap_or(host.len())
    };
    let (name, port) = host.split_at(end);
    match port.strip_prefix(':') {
        Some(port) if port.is_empty() || port.len() > 5 => None,
        Some(port) if !port.bytes().all(|byte| byte.is_ascii_digit()) => None,
        None if !port.is_empty() => None,
        _ => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bound: &str) -> Guard {
        Guard { token: Token::chosen("0123456789abcdef").unwrap(), bound: bound.parse().unwrap() }
    }

    fn check(guard: &Guard, target: &str, fields: &str) -> u16 {
        let text = format!("GET {target} HTTP/1.1\r\n{fields}\r\n");
        let request = Request::parse(text.as_bytes()).unwrap().unwrap();
        guard.check(&request).map_or_else(|refusal| refusal.status, |()| 200)
    }

    const PAGE: &str = "/?token=0123456789abcdef";
    const DATA: &str = "/events?token=0123456789abcdef";

    #[test]
    fn names_of_the_loopback_are_known() {
        let guard = guard("127.0.0.1:7001");
        for host in ["localhost:7001", "127.0.0.1:7001", "[::1]:7001", "LocalHost", "127.0.0.1:9"] {
            assert_eq!(check(&guard, DATA, &format!("Host: {host}\r\n")), 200, "{host}");
        }
    }

    #[test]
    fn names_that_could_be_rebound_are_refused() {
        for bound in ["127.0.0.1:7001", "0.0.0.0:7001"] {
            let guard = guard(bound);
            for host in [
                "evil.example:7001",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "localhost:7001:1",
                "localhost:",
                "localhost:7001x",
                "[::1",
                "[::1]x",
                "::1",
                "",
            ] {
                assert_eq!(check(&guard, DATA, &format!("Host: {host}\r\n")), 421, "{host}");
            }
        }
        assert_eq!(check(&guard("127.0.0.1:7001"), DATA, ""), 400);
        let twice = "Host: localhost\r\nHost: evil.example\r\n";
        assert_eq!(check(&guard("127.0.0.1:7001"), DATA, twice), 400);
    }

    #[test]
    fn the_bound_address_is_known_and_others_are_not() {
        assert_eq!(check(&guard("192.0.2.7:1"), DATA, "Host: 192.0.2.7:1\r\n"), 200);
        assert_eq!(check(&guard("192.0.2.7:1"), DATA, "Host: 192.0.2.8:1\r\n"), 421);
        assert_eq!(check(&guard("0.0.0.0:1"), DATA, "Host: 192.0.2.8:1\r\n"), 200);
        assert_eq!(check(&guard("[2001:db8::1]:1"), DATA, "Host: [2001:db8::1]:1\r\n"), 200);
    }

    #[test]
    fn other_origins_are_refused() {
        let guard = guard("127.0.0.1:7001");
        for (origin, status) in [
            ("http://localhost:7001", 200),
            ("http://localhost:7002", 403),
            ("https://localhost:7001", 403),
            ("http://evil.example", 403),
            ("null", 403),
            ("", 403),
        ] {
            let fields = format!("Host: localhost:7001\r\nOrigin: {origin}\r\n");
            assert_eq!(check(&guard, DATA, &fields), status, "{origin}");
        }
    }

    #[test]
    fn only_the_page_may_be_reached_from_elsewhere() {
        let guard = guard("127.0.0.1:7001");
        let fields = |site: &str| format!("Host: localhost\r\nSec-Fetch-Site: {site}\r\n");
        assert_eq!(check(&guard, PAGE, &fields("cross-site")), 200);
        for (site, status) in
            [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
        {
            assert_eq!(check(&guard, DATA, &fields(site)), status, "{site}");
        }
    }

    #[test]
    fn nothing_is_shown_without_the_token() {
        let guard = guard("127.0.0.1:7001");
        for target in ["/", "/?token=", "/?token=0123456789abcdee", "/?Token=0123456789abcdef"] {
            assert_eq!(check(&guard, target, "Host: localhost\r\n"), 403, "{target}");
        }
        assert_eq!(check(&guard, PAGE, "Host: localhost\r\n"), 200);
    }
}
