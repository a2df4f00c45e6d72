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
/// Above this, numbers in links name lists.
pub(crate) const LIMIT: u32 = 1 << 31;

/// A timer, or a vacant place for one.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) deadline: u64,
    /// `None` in a vacant entry, and in one that has fired.
    pub(crate) waker: Option<Waker>,
    pub(crate) next: u32,
    pub(crate) previous: u32,
}

type Block = Box<[Entry; BLOCK]>;

/// Blocks that are not needed any more. To free many takes its time: not under a lock.
#[derive(Debug)]
pub struct Garbage(#[expect(dead_code, reason = "there to be dropped")] Vec<Block>);

/// All entries of a wheel, by number.
#[derive(Debug)]
pub(crate) struct Slab {
    blocks: Vec<Block>,
    /// Entries that have been in use at some time.
    len: u32,
    /// The first of the vacant ones among them, which are linked through `next`.
    vacant: u32,
    occupied: u32,
}

impl Slab {
    pub(crate) fn new() -> Self {
        Self { blocks: Vec::new(), len: 0, vacant: LIMIT, occupied: 0 }
    }

    /// Fills a vacant entry; gives its number.
    #[inline]
    pub(crate) fn insert(&mut self, deadline: u64, waker: Waker) -> u32 {
        let index = match self.vacant {
            LIMIT => self.extend(),
            vacant => vacant,
        };
        let entry = &mut self.blocks[index as usize / BLOCK][index as usize % BLOCK];
        self.vacant = entry.next;
        entry.deadline = deadline;
        entry.waker = Some(waker);
        self.occupied += 1;
        index
    }

    #[cold]
    fn extend(&mut self) -> u32 {
        let index = self.len;
        assert!(index < LIMIT, "fewer than 2^31 timers");
        if index as usize == self.blocks.len() * BLOCK {
            self.blocks.push(Box::new(std::array::from_fn(|_| Entry {
                deadline: 0,
                waker: None,
                next: LIMIT,
                previous: LIMIT,
            })));
        }
        self.len += 1;
        index
    }

    /// Vacates an entry.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<Waker> {
        let vacant = std::mem::replace(&mut self.vacant, index);
        let entry = &mut self[index];
        entry.next = vacant;
        let waker = entry.waker.take();
        self.occupied -= 1;
        waker
    }

    /// What an empty slab needs no more.
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Option<Garbage> {
        if self.occupied != 0 || self.blocks.len() <= KEPT {
            return None;
        }
        (self.len, self.vacant) = (0, LIMIT);
        Some(Garbage(std::mem::take(&mut self.blocks)))
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
