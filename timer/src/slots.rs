//! The lists of a wheel: one for each slot of each level, and one for what is due.
//!
//! A list is doubly linked through the entries of a [`Slab`], by number, and the last link names the list. So an
//! entry can be taken out of its list in constant time without saying in which one it is.

use crate::slab::{LIMIT, Slab};

/// Slots of a level, as bits of time.
pub(crate) const BITS: u32 = 6;
pub(crate) const SLOTS: u32 = 1 << BITS;
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// After those of the slots: the list of those that are due.
pub(crate) const DUE: usize = LEVELS * SLOTS as usize;
/// In place of a level, for those that are due.
const DUE_LEVEL: u32 = LEVELS as u32;

/// A link is the number of a timer, or if it has this bit that of a list.
const LIST: u32 = LIMIT;

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// The level of a list.
#[inline]
pub(crate) fn level_of(list: usize) -> u32 {
    list as u32 / SLOTS
}

/// The lists of a wheel, and which of them are not empty.
#[derive(Debug)]
pub(crate) struct Slots {
    /// A bit for each level that is not empty.
    levels: u32,
    /// For each level a bit for each slot that is not empty; the last is for those that are due.
    slots: [u64; LEVELS + 1],
    lists: Box<[List; DUE + 1]>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        let empty = |list| List { first: list as u32 | LIST, last: list as u32 | LIST };
        Self { levels: 0, slots: [0; LEVELS + 1], lists: Box::new(std::array::from_fn(empty)) }
    }

    /// The first of a list.
    #[inline]
    pub(crate) fn first(&self, list: usize) -> Option<u32> {
        entry(self.lists[list].first)
    }

    /// All of a list.
    pub(crate) fn all<'a>(
        &self,
        entries: &'a Slab,
        list: usize,
    ) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::successors(self.first(list), |index| entry(entries[*index].next))
    }

    /// True if no level below that one has anything.
    #[inline]
    pub(crate) fn is_empty_below(&self, level: u32) -> bool {
        self.levels & ((1 << level) - 1) == 0
    }

    /// The first slot that is not empty, and the time at which it begins. All of a level comes before
    /// anything of the level above.
    pub(crate) fn first_occupied(&self, now: u64) -> Option<(usize, u64)> {
        let level = self.levels.trailing_zeros();
        let slot = self.slots.get(level as usize).filter(|_| level < DUE_LEVEL)?.trailing_zeros();
        let shift = level * BITS;
        let base = now >> shift >> BITS << BITS;
        Some(((level * SLOTS + slot) as usize, (base | u64::from(slot)) << shift))
    }

    /// Puts an entry at the end of a list.
    #[inline]
    pub(crate) fn push(&mut self, entries: &mut Slab, index: u32, list: usize) {
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
    pub(crate) fn unlink(&mut self, entries: &mut Slab, index: u32) {
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
            // Both name the list: it was alone there.
            let (level, slot) = (level_of((next & !LIST) as usize), next % SLOTS);
            let slots = &mut self.slots[level as usize];
            *slots &= !(1 << slot);
            if *slots == 0 {
                self.levels &= !(1 << level);
            }
        }
    }
}

/// The entry that a link names, if it is one.
#[inline]
fn entry(link: u32) -> Option<u32> {
    (link & LIST == 0).then_some(link)
}
