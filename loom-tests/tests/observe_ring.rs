//! The flight recorder: what a reader keeps is whole, although the writer never waits for it.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use windlass_loom_tests::check;
use windlass_runtime::model::Ring;

/// Property: while the writer goes around the ring, a reader gets events that are whole, in order and without gaps,
/// and none that was overwritten.
///
/// Seen to fail with: no fence in `write`; no fence in `read`; `written` stored with Relaxed; a reader that keeps one
/// event more.
#[test]
fn a_reader_beside_the_writer() {
    check(3, || {
        let ring = Arc::new(Ring::new());
        let writer = {
            let ring = ring.clone();
            thread::spawn(move || (1..=3).for_each(|event| ring.write(event)))
        };
        let reader = {
            let ring = ring.clone();
            thread::spawn(move || ring.read())
        };
        let events = reader.join().unwrap();
        for words in &events {
            assert!(words[0] > 0 && words.iter().all(|word| *word == words[0]), "{events:?}");
        }
        assert!(events.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1), "{events:?}");
        writer.join().unwrap();
        assert_eq!(ring.read(), [[3; 3]], "the other place is the next to be written");
    });
}
