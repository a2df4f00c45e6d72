//! The poller's sources by token, against a map: each event reaches the source it is for, or none.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use windlass_fuzz::Input;

/// Where the file takes its `Arc` from.
mod primitives {
    pub(crate) use std::sync::Arc;
}

// Paths below are relative to this folder.
#[path = "."]
mod poller {
    /// A stand-in for sources: it counts.
    pub(crate) mod source {
        use std::sync::atomic::{AtomicUsize, Ordering};
        use std::task::Waker;

        #[derive(Clone, Copy, Default)]
        pub(crate) struct Readiness;

        #[derive(Default)]
        pub(crate) struct Source(AtomicUsize, AtomicUsize);

        impl Source {
            pub(crate) fn event(&self, _: Readiness, _: &mut Vec<Waker>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }

            pub(crate) fn gone(&self, _: &mut Vec<Waker>) {
                self.1.fetch_add(1, Ordering::Relaxed);
            }

            pub(crate) fn counts(&self) -> (usize, usize) {
                (self.0.load(Ordering::Relaxed), self.1.load(Ordering::Relaxed))
            }
        }
    }

    #[path = "../../runtime/src/poller/slab.rs"]
    pub(crate) mod slab;
}

use poller::slab::{Slab, Token};
use poller::source::{Readiness, Source};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (mut slab, mut closed) = (Slab::default(), false);
    // Each source with the events that it must have seen.
    let mut live: HashMap<u64, (Arc<Source>, usize)> = HashMap::new();
    let mut known: Vec<u64> = Vec::new();
    while let Some(step) = input.step() {
        match step % 8 {
            0..=2 => {
                let source = Arc::new(Source::default());
                match slab.insert(source.clone()) {
                    Some(token) => {
                        assert!(!closed);
                        assert!(!known.contains(&token.pack()), "a token is given out twice");
                        known.push(token.pack());
                        live.insert(token.pack(), (source, 0));
                    }
                    None => assert!(closed),
                }
            }
            3 | 4 if !known.is_empty() => {
                let token = known[input.below(known.len())];
                let removed = slab.remove(Token::unpack(token));
                let expected = live.remove(&token);
                match (removed, expected) {
                    (Some(removed), Some((source, events))) => {
                        assert!(Arc::ptr_eq(&removed, &source));
                        assert_eq!(source.counts().0, events);
                    }
                    (None, None) => {}
                    _ => panic!("a token means something else"),
                }
            }
            7 if !closed && input.below(8) == 0 => {
                slab.close(&mut Vec::new());
                closed = true;
                assert!(live.values().all(|(source, _)| source.counts().1 == 1));
            }
            _ => {
                let token = match known.is_empty() || input.below(4) == 0 {
                    true => input.number(),
                    false => known[input.below(known.len())],
                };
                slab.event(Token::unpack(token), Readiness, &mut Vec::new());
                if let Some((_, events)) = live.get_mut(&token) {
                    *events += 1;
                }
            }
        }
        assert!(live.values().all(|(source, events)| source.counts().0 == *events));
    }
});
