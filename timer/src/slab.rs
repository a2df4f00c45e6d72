//! Where a wheel keeps its timers: blocks of entries, which never move once they are made.
//!
//! One long vector would be copied each time it grows, with both copies there for a moment: for a
//! million timers that is more memory than the timers themselves need.

use std::ops::{Index, IndexMut};
use std::task::Waker;

/// Entries of a block.
const BLOCK: usize = 128;
/// An empty slab keeps so many blocks; what a burst has made beyond that is given back.
const KEPT: usize = 8;
/// The end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// An armed timer, or a vacant place for one.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) deadline: u64,
    /// `None` in a vacant entry.
    pub(crate) waker: Option<Waker>,
    pub(crate) next: u32,
    pub(crate) previous: u32,
    pub(crate) generation: u32,
    pub(crate) level: u8,
    pub(crate) slot: u8,
}

/// All entries of a wheel, by number.
#[derive(Debug)]
pub(crate) struct Slab {
    blocks: Vec<Box<[Entry; BLOCK]>>,
    /// Entries that have been in use at some time.
    len: usize,
    /// The first of the vacant ones among them, which are linked through `next`.
    vacant: u32,
    occupied: usize,
    /// What the generations of new blocks start from: none of a block that was given back is
    /// repeated.
    first_generation: u32,
    last_generation: u32,
}

impl Slab {
    pub(crate) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            len: 0,
            vacant: NONE,
            occupied: 0,
            first_generation: 0,
            last_generation: 0,
        }
    }

    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Fills a vacant entry; gives its number.
    #[inline]
    pub(crate) fn insert(&mut self, deadline: u64, waker: Waker) -> u32 {
        let index = match self.vacant {
            NONE => self.extend(),
            vacant => {
                self.vacant = self[vacant].next;
                vacant
            }
        };
        let entry = &mut self[index];
        entry.deadline = deadline;
        entry.waker = Some(waker);
        self.occupied += 1;
        index
    }

    fn extend(&mut self) -> u32 {
        let index = u32::try_from(self.len).expect("fewer than 2^32 timers");
        assert_ne!(index, NONE, "fewer than 2^32 timers");
        if self.len == self.blocks.len() * BLOCK {
            let generation = self.first_generation;
            self.blocks.push(Box::new(std::array::from_fn(|_| Entry {
                deadline: 0,
                waker: None,
                next: NONE,
                previous: NONE,
                generation,
                level: 0,
                slot: 0,
            })));
        }
        self.len += 1;
        index
    }

    /// Vacates an entry. Whoever knew its generation has lost it.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<Waker> {
        let vacant = std::mem::replace(&mut self.vacant, index);
        let entry = &mut self[index];
        entry.generation = entry.generation.wrapping_add(1);
        entry.next = vacant;
        let (waker, generation) = (entry.waker.take(), entry.generation);
        self.last_generation = self.last_generation.max(generation);
        self.occupied -= 1;
        if self.occupied == 0 && self.blocks.len() > KEPT {
            self.blocks = Vec::new();
            (self.len, self.vacant) = (0, NONE);
            self.first_generation = self.last_generation.wrapping_add(1);
        }
        waker
    }

    /// The entry of that number, if it is still the one of that generation.
    #[inline]
    pub(crate) fn get(&self, index: u32, generation: u32) -> Option<&Entry> {
        let entry = self.blocks.get(index as usize / BLOCK)?.get(index as usize % BLOCK)?;
        (entry.generation == generation && entry.waker.is_some()).then_some(entry)
    }
}

impl Index<u32> for Slab {
    type Output = Entry;

    #[inline]
    fn index(&self, index: u32) -> &Entry {
        &self.blocks[index as usize / BLOCK][index as usize % BLOCK]
    }
}

impl IndexMut<u32> for Slab {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Entry {
        &mut self.blocks[index as usize / BLOCK][index as usize % BLOCK]
    }
}
