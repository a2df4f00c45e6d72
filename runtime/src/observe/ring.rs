//! The flight recorder of one worker: a ring of events of fixed size, in which the newest replace the oldest.
//!
//! # Protocol
//!
//! One thread writes, any number read, and the writer never waits. `written` counts the events so far; event `n` is at
//! place `n % capacity`.
//!
//! - To write event `n`, the writer passes a Release fence, stores its words, and stores
//!   `written = n + 1` with Release.
//! - A reader loads `written` with Acquire, copies what is there, passes an Acquire fence, and loads `written` again.
//!   It keeps the events that the writer can't have begun to overwrite: those above `written - capacity`.
//!
//! A reader that has copied a word of event `n` has acquired what the writer's fence released: that `written` was `n`.
//! So its second load returns `n` at least, and the event `n - capacity`, in whose place the word was, is not kept.

use std::sync::OnceLock;

use super::policy::{CHUNK_EVENTS, FULL_RING_CHUNKS, RING_CHUNKS};
use crate::primitives::{AtomicU64, Ordering, fence};

/// Words of an event.
const WORDS: usize = 3;

/// The words of an event; what they mean is for the writer and the readers to know.
pub(crate) type Words = [u64; WORDS];

type RingChunk = Box<[[AtomicU64; WORDS]]>;

/// See the head of this file.
pub(crate) struct Ring {
    written: AtomicU64,
    chunks: Box<[OnceLock<RingChunk>]>,
}

impl Ring {
    /// Returns an empty ring; one with `room` has space for every poll.
    pub(crate) fn new(room: bool) -> Self {
        let chunks = if room { FULL_RING_CHUNKS } else { RING_CHUNKS };
        let chunk = || if cfg!(loom) { OnceLock::from(new_chunk()) } else { OnceLock::new() };
        let chunks = (0..chunks).map(|_| chunk()).collect();
        Self { written: AtomicU64::new(0), chunks }
    }

    fn capacity(&self) -> u64 {
        (self.chunks.len() * CHUNK_EVENTS) as u64
    }

    fn place(&self, event: u64) -> (usize, usize) {
        let place = (event % self.capacity()) as usize;
        (place / CHUNK_EVENTS, place % CHUNK_EVENTS)
    }

    /// Writes an event, by the only writer.
    pub(crate) fn write(&self, words: Words) {
        let event = self.written.load(Ordering::Relaxed);
        let (chunk, index) = self.place(event);
        let chunk = self.chunks[chunk].get_or_init(new_chunk);
        // Partner of the fence in `read`: whoever sees a word of this event sees that the one before is written.
        fence(Ordering::Release);
        for (place, word) in chunk[index].iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `read`: the words of all events that it counts are seen.
        self.written.store(event + 1, Ordering::Release);
    }

    /// Returns true if events have been replaced.
    pub(crate) fn has_lost(&self) -> bool {
        self.written.load(Ordering::Relaxed) >= self.capacity()
    }

    /// Returns the events that are there, from the oldest to the newest, without those that are overwritten meanwhile.
    pub(crate) fn read(&self) -> Vec<Words> {
        // Acquire pairs with the Release in `write`.
        let end = self.written.load(Ordering::Acquire);
        let start = end.saturating_sub(self.capacity());
        let copy = |event| {
            let (chunk, index) = self.place(event);
            let words = self.chunks[chunk].get().map(|chunk| &chunk[index]);
            words.map_or([0; WORDS], |words| {
                std::array::from_fn(|word| words[word].load(Ordering::Relaxed))
            })
        };
        let mut events: Vec<_> = (start..end).map(copy).collect();
        // Partner of the fence in `write`.
        fence(Ordering::Acquire);
        let now = self.written.load(Ordering::Relaxed);
        // The event `now` may be half written, in the place of the event one ring's length before it.
        let kept_from = (now + 1).saturating_sub(self.capacity());
        let lost = kept_from.saturating_sub(start).min(end - start);
        events.drain(..lost as usize);
        events
    }
}

fn new_chunk() -> RingChunk {
    (0..CHUNK_EVENTS).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_newest_events_replace_the_oldest() {
        let ring = Ring::new(false);
        assert!(ring.read().is_empty());
        let capacity = ring.capacity();
        (0..3).for_each(|event| ring.write([event, event, event]));
        assert_eq!(ring.read(), [[0; 3], [1; 3], [2; 3]]);
        (3..3 * capacity).for_each(|event| ring.write([event, event, event]));
        let events = ring.read();
        assert_eq!(events.len() as u64, capacity - 1, "one place is the next to be written");
        assert_eq!(events.last(), Some(&[3 * capacity - 1; 3]));
        assert!(events.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1));
    }

    #[test]
    fn events_that_are_read_while_others_are_written_are_whole_and_in_order() {
        let ring = Ring::new(false);
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..300_000).for_each(|event| ring.write([event, event, event]));
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let events = ring.read();
                assert!(events.iter().all(|words| words[0] == words[1] && words[1] == words[2]));
                assert!(events.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1));
            }
        });
    }
}
