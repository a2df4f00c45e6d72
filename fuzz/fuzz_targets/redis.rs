//! The codec of the example `redis`: what a client sends may be anything, and may come in any pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../examples/redis/request.rs"]
#[allow(dead_code)]
mod request;

use request::Request;

fuzz_target!(|bytes: &[u8]| {
    let mut whole = Request::default();
    let read = whole.read(bytes);
    if let Ok(Some(length)) = read {
        assert!(length <= bytes.len(), "more than there is");
        for index in 0..whole.len() {
            assert!(whole.argument(bytes, index).len() <= length);
        }
        // What follows a request does not concern it, and less is not enough.
        let mut again = Request::default();
        assert!(matches!(again.read(&bytes[..length]), Ok(Some(same)) if same == length));
        assert_eq!(again.len(), whole.len());
        for cut in 0..length.min(64) {
            assert!(matches!(Request::default().read(&bytes[..cut]), Ok(None)));
        }
    }
});
