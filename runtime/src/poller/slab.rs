//! The registered sources, by token.
//!
//! A token is an index and a generation. A slot that is used again has another generation, so an
//! event that was on its way for the old source is dropped instead of reaching the new one.

use std::task::Waker;

use super::source::{Readiness, Source};
use crate::primitives::Arc;

/// Identifies a source to the OS, which returns it with each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    index: u32,
    generation: u32,
}

impl Token {
    pub(crate) fn pack(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(crate) fn unpack(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

struct SlabEntry {
    generation: u32,
    source: Option<Arc<Source>>,
}

/// All sources of one poller.
#[derive(Default)]
pub(crate) struct Slab {
    slots: Vec<SlabEntry>,
    vacant: Vec<u32>,
    closed: bool,
}

impl Slab {
    /// Adds a source and returns its token, or `None` if the poller has shut down.
    pub(crate) fn insert(&mut self, source: Arc<Source>) -> Option<Token> {
        if self.closed {
            return None;
        }
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(SlabEntry { generation: 0, source: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.source = Some(source);
        Some(Token { index, generation: slot.generation })
    }

    /// Removes a source. Its token means nothing from now on.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Arc<Source>> {
        let slot = self.slots.get_mut(token.index as usize)?;
        if slot.generation != token.generation {
            return None;
        }
        slot.generation = slot.generation.wrapping_add(1);
        self.vacant.push(token.index);
        slot.source.take()
    }

    /// Hands an event to its source, if that is still there.
    pub(crate) fn event(&self, token: Token, readiness: Readiness, wake: &mut Vec<Waker>) {
        let slot = self.slots.get(token.index as usize);
        let source = slot
            .filter(|slot| slot.generation == token.generation)
            .and_then(|slot| slot.source.as_ref());
        if let Some(source) = source {
            source.event(readiness, wake);
        }
    }

    /// Accepts no source from now on, and marks the existing ones as closed, because no events will be reported.
    pub(crate) fn close(&mut self, wake: &mut Vec<Waker>) {
        self.closed = true;
        self.slots.iter().filter_map(|slot| slot.source.as_ref()).for_each(|source| {
            source.gone(wake);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::source::Direction;
    use super::*;

    #[test]
    fn an_event_for_a_recycled_slot_is_dropped() {
        let mut slab = Slab::default();
        let old = slab.insert(Arc::new(Source::new())).unwrap();
        slab.remove(old).unwrap();
        let source = Arc::new(Source::new());
        let seen = source.look(Direction::Read);
        let new = slab.insert(source.clone()).unwrap();
        assert_eq!(new.index, old.index);
        let mut wake = Vec::new();
        let readable = Readiness { read: true, ..Readiness::default() };
        slab.event(Token::unpack(old.pack()), readable, &mut wake);
        assert_eq!(source.look(Direction::Read), seen, "the stale token reached the new source");
        slab.event(Token::unpack(new.pack()), readable, &mut wake);
        assert_ne!(source.look(Direction::Read), seen);
        assert!(slab.remove(old).is_none());
    }

    /// Tokens in any order, live and stale, each reach their own source or none.
    #[test]
    fn random_tokens_agree_with_a_map() {
        for seed in 1..=crate::random::seeds(50) {
            let mut random = crate::random::Random::new(seed);
            let (mut slab, mut stale) = (Slab::default(), Vec::new());
            let mut live: Vec<(Token, Arc<Source>)> = Vec::new();
            let readable = Readiness { read: true, ..Readiness::default() };
            for _ in 0..2_000 {
                match random.below(4) {
                    0 | 1 if live.len() < 40 => {
                        let source = Arc::new(Source::new());
                        let token = slab.insert(source.clone()).unwrap();
                        assert!(live.iter().all(|(other, _)| *other != token));
                        assert!(!stale.contains(&token), "a token is given out twice");
                        live.push((token, source));
                    }
                    2 if !live.is_empty() => {
                        let (token, source) = live.swap_remove(random.below(live.len()));
                        assert!(Arc::ptr_eq(&slab.remove(token).unwrap(), &source));
                        assert!(slab.remove(token).is_none());
                        stale.push(token);
                    }
                    _ => {
                        let chosen = random.below(live.len() + stale.len() + 1);
                        let token = match live.get(chosen) {
                            Some((token, _)) => *token,
                            None => match stale.get(chosen - live.len()) {
                                Some(token) => *token,
                                None => Token::unpack(random.next()),
                            },
                        };
                        let before: Vec<_> =
                            live.iter().map(|(_, source)| source.look(Direction::Read)).collect();
                        slab.event(Token::unpack(token.pack()), readable, &mut Vec::new());
                        for ((other, source), before) in live.iter().zip(before) {
                            let reached = source.look(Direction::Read) != before;
                            assert_eq!(reached, *other == token, "seed {seed}");
                        }
                    }
                }
            }
        }
    }
}
