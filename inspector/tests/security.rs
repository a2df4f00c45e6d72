//! Who is let in, and what a client can make the inspector do: each over a connection, as an attacker would.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use common::{Response, Served, TOKEN, wait_until};
use windlass::inspector;

#[test]
fn an_address_that_others_can_reach_is_refused_without_a_token() {
    windlass::block_on(async {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7001"] {
            let error = inspector::serve(address).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{address}");
            assert!(error.to_string().contains("inspector::Builder::token"), "{error}");
        }
        let error = inspector::Builder::new().token("short").serve("0.0.0.0:0").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let open = inspector::Builder::new().token(TOKEN).serve("0.0.0.0:0").await.unwrap();
        assert!(open.url().starts_with("http://localhost:"), "{}", open.url());
        open.stop().await;
    });
}

#[test]
fn each_inspector_has_a_token_of_its_own_in_its_url() {
    windlass::block_on(async {
        let one = inspector::serve("127.0.0.1:0").await.unwrap();
        let other = inspector::serve("127.0.0.1:0").await.unwrap();
        let token = |inspector: &inspector::Inspector| {
            inspector.url().split_once("/?token=").expect("a token").1.to_owned()
        };
        assert_eq!(token(&one).len(), 32);
        assert_ne!(token(&one), token(&other));
        assert!(!format!("{one:?}").contains(&token(&one)), "logs do not have it");
        one.stop().await;
        other.stop().await;
    });
}

#[test]
fn nothing_is_answered_without_the_token() {
    let served = Served::new();
    for target in [
        "/",
        "/parts.js",
        "/graph.js",
        "/page.js",
        "/events",
        "/snapshot",
        "/metrics",
        "/?token=",
        "/?token=0123456789abcdee",
    ] {
        let response = served.say(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assert_eq!(response.status, 403, "{target}");
        assert!(!response.body.contains(TOKEN));
    }
    let post = served.say("POST /flight-record HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(post.status, 403);
    assert_eq!(served.inspector.snapshots(), 0, "nobody has made it look");
}

#[test]
fn a_page_whose_name_was_rebound_to_loopback_is_refused() {
    let served = Served::new();
    let ask = |host: &str| {
        served.say(&format!("GET /?token={TOKEN} HTTP/1.1\r\nHost: {host}\r\n\r\n")).status
    };
    assert_eq!(ask("rebound.example"), 421);
    assert_eq!(ask(&format!("rebound.example:{}", served.address().port())), 421);
    assert_eq!(ask("192.0.2.1"), 421);
    assert_eq!(ask("localhost"), 200);
    assert_eq!(ask(&served.address().to_string()), 200);
    assert_eq!(served.say(&format!("GET /?token={TOKEN} HTTP/1.1\r\n\r\n")).status, 400);
}

#[test]
fn a_page_of_another_origin_is_refused() {
    let served = Served::new();
    let ask = |method: &str, path: &str, fields: &str| {
        served.say(&served.request(method, path, fields)).status
    };
    for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
        let fields = format!("Origin: {origin}\r\n");
        assert_eq!(ask("GET", "/snapshot", &fields), 403, "{origin}");
        assert_eq!(ask("POST", "/flight-record", &fields), 403, "{origin}");
    }
    assert_eq!(ask("GET", "/snapshot", "Sec-Fetch-Site: cross-site\r\n"), 403);
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", served.address());
    assert_eq!(ask("GET", "/snapshot", &own), 200);
    assert_eq!(ask("POST", "/flight-record", &own), 200);
}

#[test]
fn what_costs_something_is_not_done_by_get() {
    let served = Served::new();
    let response = served.get("/flight-record");
    assert_eq!(response.status, 405);
    assert_eq!(response.field("Allow"), "GET, HEAD, POST");
    assert_eq!(served.say(&served.request("POST", "/snapshot", "")).status, 405);
    assert_eq!(served.say(&served.request("DELETE", "/", "")).status, 405);
}

#[test]
fn every_response_tells_the_browser_to_be_strict() {
    let served = Served::new();
    let files = ["/page.css", "/parts.js", "/graph.js", "/page.js"];
    for path in ["/", "/snapshot", "/metrics", "/nothing"].into_iter().chain(files) {
        let response = served.get(path);
        let policy = response.field("Content-Security-Policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(response.field("X-Content-Type-Options"), "nosniff", "{path}");
        assert_eq!(response.field("Cache-Control"), "no-store", "{path}");
        assert_eq!(response.field("Referrer-Policy"), "no-referrer", "{path}");
    }
}

#[test]
fn a_head_that_is_too_large_or_malformed_is_refused() {
    let served = Served::new();
    let large = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(9_000));
    assert_eq!(served.say(&large).status, 431);
    assert_eq!(served.say("nonsense\r\n\r\n").status, 400);
    assert_eq!(
        served.say(&served.request("POST", "/flight-record", "Content-Length: 5\r\n")).status,
        400
    );
    assert_eq!(served.get("/").status, 200, "others are served");
}

#[test]
fn a_client_that_does_not_finish_its_request_is_dropped() {
    let served = Served::with(|builder| builder.header_timeout(Duration::from_millis(100)));
    let mut stream = served.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    let mut answer = Vec::new();
    // What the client sent late, or was not read, makes the end a reset.
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(Response::of(&answer).status, 408);
}

#[test]
fn at_most_eight_clients_look_at_a_time() {
    let served = Served::new();
    let mut clients: Vec<_> = (0..8).map(|_| served.events("")).collect();
    for client in &mut clients {
        assert!(client.next().is_some());
    }
    assert_eq!(served.inspector.clients(), 8);
    let refused = served.get("/events");
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("eight clients"), "{}", refused.body);
    assert_eq!(served.get("/").status, 200, "the page itself is there");
    clients.pop();
    wait_until("a place is free again", || served.inspector.clients() < 8);
    assert!(served.events("").next().is_some());
}

#[test]
fn connections_that_say_nothing_do_not_pile_up() {
    let served = Served::new();
    let silent: Vec<_> = (0..32).map(|_| served.connect()).collect();
    // The one too many is closed without a word, in place of being served.
    wait_until("a connection is closed", || {
        let mut stream = served.connect();
        let _ = stream.write_all(served.request("GET", "/", "").as_bytes());
        !matches!(stream.read(&mut [0; 16]), Ok(1..))
    });
    drop(silent);
    wait_until("places are free again", || {
        let mut stream = served.connect();
        let _ = stream.write_all(served.request("GET", "/", "").as_bytes());
        matches!(stream.read(&mut [0; 16]), Ok(1..))
    });
}

#[test]
fn a_client_that_does_not_read_is_dropped() {
    let served = Served::with(|builder| {
        builder.write_timeout(Duration::from_millis(100)).refresh(Duration::from_millis(20))
    });
    // Rows with long names, so that the kernel's buffers are soon full.
    for number in 0..500 {
        let name = format!("{number} {}", "<\u{1}>".repeat(100));
        let task = windlass::task::Builder::new().name(name);
        drop(task.spawn_on(std::future::pending::<()>(), served.runtime.handle()));
    }
    let lazy = served.events("n=500");
    wait_until("it is noticed", || served.inspector.snapshots() > 0);
    wait_until("it is dropped", || served.inspector.clients() == 0);
    assert_eq!(served.get("/").status, 200, "others are served");
    drop(lazy);
}

#[test]
fn one_flight_record_at_a_time_is_made() {
    let served = Served::new();
    // Whoever is refused is told so, and nobody waits for ever.
    let clients: Vec<_> = (0..6)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(served.request("POST", "/flight-record", "").as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut given = 0;
    for mut stream in clients {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        match Response::of(&answer).status {
            200 => given += 1,
            status => assert_eq!(status, 503),
        }
    }
    assert!(given >= 1);
}
