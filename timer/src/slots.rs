//! The lists of a wheel: one for each slot of each level, and one for due timers.
//!
//! A list is doubly linked through the [`Entries`], by number, and the last link is the number of the list. So an entry
//! can be taken out in constant time, without knowing which list it is in.

use crate::entries::{Entries, LIMIT};

/// The number of bits of a time that select a slot within a level.
pub(crate) const BITS: u32 = 6;
pub(crate) const SLOTS: u32 = 1 << BITS;
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// The list of due timers, which comes after those of the slots.
pub(crate) const DUE: usize = LEVELS * SLOTS as usize;
/// Stands for a level, for the list of due timers.
const DUE_LEVEL: u32 = LEVELS as u32;

/// A link is the number of a timer or, if it has this bit, the number of a list.
const LIST: u32 = LIMIT;

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Returns the level of a list.
#[inline]
pub(crate) fn level_of(list: usize) -> u32 {
    list as u32 / SLOTS
}

/// The lists of a wheel, and sets of those that are not empty.
#[derive(Debug)]
pub(crate) struct Slots {
    /// A bit for each level that is not empty.
    levels: u32,
    /// For each level, a bit for each slot that is not empty. The last word is for the list of due timers.
    slots: [u64; LEVELS + 1],
    lists: Box<[List; DUE + 1]>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        let empty = |list| List { first: list as u32 | LIST, last: list as u32 | LIST };
        Self { levels: 0, slots: [0; LEVELS + 1], lists: Box::new(std::array::from_fn(empty)) }
    }

    /// Returns the first entry of a list.
    #[inline]
    pub(crate) fn first(&self, list: usize) -> Option<u32> {
        entry(self.lists[list].first)
    }

    /// Returns all entries of a list, in order.
    pub(crate) fn all<'a>(
        &self,
        entries: &'a Entries,
        list: usize,
    ) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::successors(self.first(list), |index| entry(entries[*index].next))
    }

    /// Returns true if all levels below `level` are empty.
    #[inline]
    pub(crate) fn is_empty_below(&self, level: u32) -> bool {
        self.levels & ((1 << level) - 1) == 0
    }

    /// Returns the first slot that is not empty, and the time at which it begins. All timers of a level come before
    /// those of the level above.
    pub(crate) fn first_occupied(&self, now: u64) -> Option<(usize, u64)> {
        let level = self.levels.trailing_zeros();
        let slot = self.slots.get(level as usize).filter(|_| level < DUE_LEVEL)?.trailing_zeros();
        let shift = level * BITS;
        let base = now >> shift >> BITS << BITS;
        Some(((level * SLOTS + slot) as usize, (base | u64::from(slot)) << shift))
    }

    /// Puts an entry at the end of a list.
    #[inline]
    pub(crate) fn push(&mut self, entries: &mut Entries, index: u32, list: usize) {
        let end = list as u32 | LIST;
        let previous = std::mem::replace(&mut self.lists[list].last, index);
        if previous == end {
            self.lists[list].first = index;
            self.levels |= 1 << level_of(list);
            self.slots[level_of(list) as usize] |= 1 << (list as u32 % SLOTS);
        } else {
            entries[previous].next = index;
        }
        let entry = &mut entries[index];
        (entry.previous, entry.next) = (previous, end);
    }

    /// Takes an entry out of its list.
    #[inline]
    pub(crate) fn unlink(&mut self, entries: &mut Entries, index: u32) {
        let entry = &entries[index];
        let (previous, next) = (entry.previous, entry.next);
        if previous & LIST == 0 {
            entries[previous].next = next;
        } else {
            self.lists[(previous & !LIST) as usize].first = next;
        }
        if next & LIST == 0 {
            entries[next].previous = previous;
        } else {
            self.lists[(next & !LIST) as usize].last = previous;
        }
        if previous == next {
            // Both are the number of the list, so it was the only entry.
            let (level, slot) = (level_of((next & !LIST) as usize), next % SLOTS);
            let slots = &mut self.slots[level as usize];
            *slots &= !(1 << slot);
            if *slots == 0 {
                self.levels &= !(1 << level);
            }
        }
    }
}

/// Returns the entry that a link refers to, or `None` if it is the number of a list.
#[inline]
fn entry(link: u32) -> Option<u32> {
    (link & LIST == 0).then_some(link)
}
