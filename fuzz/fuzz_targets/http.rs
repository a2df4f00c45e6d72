//! The inspector's requests: a web page that means no good may send anything, in any pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../inspector/src/policy.rs"]
#[allow(dead_code)]
mod policy;
#[path = "../../inspector/src/http/request.rs"]
#[allow(dead_code)]
mod request;

use policy::HEAD_LIMIT;
use request::{Request, escape};

fuzz_target!(|bytes: &[u8]| {
    match Request::parse(bytes) {
        Ok(Some(request)) => {
            assert!(bytes.len() <= HEAD_LIMIT && bytes.ends_with(b"\r\n\r\n"));
            assert!(request.path.starts_with('/') && request.path.is_ascii());
            // Less is not enough, and more is a body.
            for cut in 0..bytes.len() {
                assert!(Request::parse(&bytes[..cut]).unwrap().is_none());
            }
            let more = [bytes, b"x"].concat();
            assert_eq!(Request::parse(&more).unwrap_err().status, 400);
        }
        Ok(None) => assert!(bytes.len() < HEAD_LIMIT),
        Err(refusal) => assert!(matches!(refusal.status, 400 | 405 | 431 | 505)),
    }
    // What is escaped into a query comes out of it as it was.
    if let Ok(text) = std::str::from_utf8(bytes) {
        let line = format!("GET /?a={}&b=1 HTTP/1.1\r\nHost: a\r\n\r\n", escape(text));
        if line.len() <= HEAD_LIMIT {
            let request = Request::parse(line.as_bytes()).unwrap().unwrap();
            assert_eq!((request.query("a"), request.query("b")), (Some(text), Some("1")));
        }
    }
});
