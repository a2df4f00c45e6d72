//! The storage of a wheel: blocks of entries, which never move.
//!
//! A single vector would be copied each time it grows, and both copies would exist for a moment. With a million timers
//! that takes more memory than the timers themselves.

use std::ops::{Index, IndexMut};
use std::task::Waker;

use crate::policy::{BLOCK_ENTRIES, KEPT_BLOCKS};

/// The number of entries is limited to this. A link with this bit is the number of a list.
pub(crate) const LIMIT: u32 = 1 << 31;

/// A timer, or a vacant entry.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) deadline: u64,
    /// `None` in a vacant entry, and for a timer that has fired.
    pub(crate) waker: Option<Waker>,
    pub(crate) next: u32,
    pub(crate) previous: u32,
}

type Block = Box<[Entry; BLOCK_ENTRIES]>;

/// Memory that is no longer needed. Freeing it may take long, so it is dropped after the lock is released.
#[derive(Debug)]
pub struct Garbage(#[expect(dead_code, reason = "it only has to be dropped")] Vec<Block>);

/// The entries of a wheel, by number.
#[derive(Debug)]
pub(crate) struct Entries {
    blocks: Vec<Block>,
    /// The number of entries that have ever been in use.
    len: u32,
    /// The first vacant one of them, or [`LIMIT`]. Vacant entries are linked through `next`.
    vacant: u32,
    occupied: u32,
}

impl Entries {
    pub(crate) fn new() -> Self {
        Self { blocks: Vec::new(), len: 0, vacant: LIMIT, occupied: 0 }
    }

    /// Fills a vacant entry and returns its number.
    #[inline]
    pub(crate) fn insert(&mut self, deadline: u64, waker: Waker) -> u32 {
        let index = match self.vacant {
            LIMIT => self.extend(),
            vacant => vacant,
        };
        let entry =
            &mut self.blocks[index as usize / BLOCK_ENTRIES][index as usize % BLOCK_ENTRIES];
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
        if index as usize == self.blocks.len() * BLOCK_ENTRIES {
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

    /// Vacates an entry and returns its waker, if it has one.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<Waker> {
        let vacant = std::mem::replace(&mut self.vacant, index);
        let entry = &mut self[index];
        entry.next = vacant;
        let waker = entry.waker.take();
        self.occupied -= 1;
        waker
    }

    /// Takes out the memory that the wheel no longer needs, if it is empty.
    #[inline]
    pub(crate) fn take_garbage(&mut self) -> Option<Garbage> {
        if self.occupied != 0 || self.blocks.len() <= KEPT_BLOCKS {
            return None;
        }
        (self.len, self.vacant) = (0, LIMIT);
        Some(Garbage(std::mem::take(&mut self.blocks)))
    }
}

impl Index<u32> for Entries {
    type Output = Entry;

    #[inline]
    fn index(&self, index: u32) -> &Entry {
        &self.blocks[index as usize / BLOCK_ENTRIES][index as usize % BLOCK_ENTRIES]
    }
}

impl IndexMut<u32> for Entries {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Entry {
        &mut self.blocks[index as usize / BLOCK_ENTRIES][index as usize % BLOCK_ENTRIES]
    }
}
