//! A hierarchical timing wheel: arming and cancelling in constant time, firing in order.
//!
//! Time is a number of nanoseconds. The lowest level has 64 slots of 4.096 µs, each level above has
//! 64 slots that are as long as the whole level below; nine levels cover everything a `u64` can say. A
//! timer lies in the slot of the lowest level at which its time differs from the wheel's. When the
//! wheel's time reaches a slot above the lowest level, what is in it moves down.
//!
//! Within the lowest level's slot times are compared exactly, so nothing fires early, and timers with
//! equal times fire in the order in which they were armed: a slot is a queue, moving down keeps the
//! order, and a timer armed later for the same time ends up in the same slot, behind.
//!
//! Timers live in a [`Slab`]; the slots are lists of indices. No timer is allocated by itself, and
//! nothing here is unsafe.
//!
//! What is due may be taken out in portions, so that a lock around the wheel is not held for long: a slot
//! that holds more than a portion moves to the list of those that are *due*, in their order, from which
//! it can still be cancelled.

use std::task::Waker;

use crate::slab::{Entry, NONE, Slab};

/// Slots of a level, as bits of time.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// Bits of time within a slot of the lowest level.
const TICK: u32 = 12;
/// Levels, to cover the other bits of a `u64`.
const LEVELS: usize = (u64::BITS - TICK).div_ceil(BITS) as usize;
/// In place of a level: the list of those that are due.
const DUE: u8 = LEVELS as u8;
/// How many timers of a slot are looked at to find the earliest; a fuller slot is taken to be due at
/// its start.
const LOOK_AT: usize = 32;

/// Names an armed timer. Once it has fired or was removed, the name means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    index: u32,
    generation: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

#[derive(Debug)]
struct Level {
    /// One bit a slot that is not empty.
    occupied: u64,
    slots: [List; SLOTS],
}

/// The timers of one shard.
#[derive(Debug)]
pub struct Wheel {
    /// The wheel's time, in ticks.
    now: u64,
    levels: Box<[Level; LEVELS]>,
    entries: Slab,
    /// Taken out of their slots, to be fired in this order.
    due: List,
    /// What is due in a slot, to be sorted.
    scratch: Vec<(u64, u32)>,
}

impl Wheel {
    /// An empty wheel at time zero.
    pub fn new() -> Self {
        const LEVEL: Level = Level { occupied: 0, slots: [EMPTY; SLOTS] };
        Self {
            now: 0,
            levels: Box::new([LEVEL; LEVELS]),
            entries: Slab::new(),
            due: EMPTY,
            scratch: Vec::new(),
        }
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.entries.occupied()
    }

    /// True if no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Arms a timer. One whose time is past fires with the next [`advance`](Self::advance).
    ///
    /// # Panics
    ///
    /// With more than four billion timers.
    #[inline]
    pub fn insert(&mut self, deadline: u64, waker: Waker) -> Key {
        let index = self.entries.insert(deadline, waker);
        self.link(index);
        Key { index, generation: self.entries[index].generation }
    }

    /// Cancels a timer and gives its waker; `None` if it has fired.
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<Waker> {
        self.waker(key)?;
        self.unlink(key.index);
        self.entries.remove(key.index)
    }

    /// Moves a timer to another time, behind those that are armed for it; `None` if it has fired.
    pub fn reset(&mut self, key: Key, deadline: u64) -> Option<()> {
        self.waker(key)?;
        self.unlink(key.index);
        self.entries[key.index].deadline = deadline;
        self.link(key.index);
        Some(())
    }

    /// True until the timer has fired.
    pub fn is_armed(&self, key: Key) -> bool {
        self.waker(key).is_some()
    }

    /// Replaces a timer's waker and gives the old one.
    ///
    /// # Errors
    ///
    /// If the timer has fired: the new one.
    pub fn replace_waker(&mut self, key: Key, waker: Waker) -> Result<Waker, Waker> {
        match self.waker(key) {
            Some(_) => Ok(self.entries[key.index].waker.replace(waker).expect("armed")),
            None => Err(waker),
        }
    }

    /// The waker of a timer that has not fired.
    #[inline]
    pub fn waker(&self, key: Key) -> Option<&Waker> {
        self.entries.get(key.index, key.generation)?.waker.as_ref()
    }

    /// Takes out the wakers of all timers, whatever their time.
    pub fn drain(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::with_capacity(self.len());
        self.advance(u64::MAX, &mut wakers);
        wakers
    }

    /// When [`advance`](Self::advance) should be called next: the time of the earliest timer, or
    /// somewhat before it.
    pub fn next_deadline(&self) -> Option<u64> {
        if self.due.first != NONE {
            return Some(self.entries[self.due.first].deadline);
        }
        let (level, slot, start) = self.first_occupied()?;
        let mut earliest = u64::MAX;
        let mut index = self.levels[level].slots[slot].first;
        for _ in 0..LOOK_AT {
            let entry = &self.entries[index];
            earliest = earliest.min(entry.deadline);
            index = entry.next;
            if index == NONE {
                return Some(earliest);
            }
        }
        Some(start << TICK)
    }

    /// The time of the earliest timer, exactly. It may have to look at many.
    pub fn earliest(&self) -> Option<u64> {
        let mut index = self.due.first;
        if index == NONE {
            let (level, slot, _) = self.first_occupied()?;
            index = self.levels[level].slots[slot].first;
        }
        let mut earliest = u64::MAX;
        while index != NONE {
            earliest = earliest.min(self.entries[index].deadline);
            index = self.entries[index].next;
        }
        Some(earliest)
    }

    /// Moves the wheel's time forward and takes out the wakers of all timers that are due, the
    /// earliest first.
    pub fn advance(&mut self, time: u64, fired: &mut Vec<Waker>) {
        while self.advance_some(time, usize::MAX, fired) {}
    }

    /// As [`advance`](Self::advance), for so many timers at the most; true if there may be more.
    pub fn advance_some(&mut self, time: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        let mut left = most;
        loop {
            while self.due.first != NONE {
                if left == 0 {
                    return true;
                }
                left -= 1;
                self.fire(self.due.first, fired);
            }
            if !self.find_due(time) {
                return false;
            }
            // Nearly always there are few, and they need no list.
            let due = std::mem::take(&mut self.scratch);
            for (number, &(_, index)) in due.iter().enumerate() {
                if number < left {
                    self.fire(index, fired);
                } else {
                    self.unlink(index);
                    self.push(index, DUE, 0);
                }
            }
            left = left.saturating_sub(due.len());
            self.scratch = due;
            self.scratch.clear();
        }
    }

    fn fire(&mut self, index: u32, fired: &mut Vec<Waker>) {
        self.unlink(index);
        fired.extend(self.entries.remove(index));
    }

    /// Moves the wheel's time forward to the next slot in which something is due, and puts that into
    /// `scratch` in the order in which it is to fire; false if there is none.
    fn find_due(&mut self, time: u64) -> bool {
        let target = time >> TICK;
        while let Some((level, slot, start)) = self.first_occupied() {
            if start > target {
                break;
            }
            self.now = self.now.max(start);
            if level > 0 {
                self.move_down(level, slot);
                continue;
            }
            let mut index = self.levels[0].slots[slot].first;
            while index != NONE {
                let entry = &self.entries[index];
                if entry.deadline <= time {
                    self.scratch.push((entry.deadline, index));
                }
                index = entry.next;
            }
            if !self.scratch.is_empty() {
                // Stable: equal times stay in the order of arming.
                self.scratch.sort_by_key(|(deadline, _)| *deadline);
                return true;
            }
            // The rest of this slot is due later within the tick that has begun.
            break;
        }
        self.now = self.now.max(target);
        false
    }

    /// Puts the timers of a slot whose time has come where they belong now, in their order.
    fn move_down(&mut self, level: usize, slot: usize) {
        let list = &mut self.levels[level].slots[slot];
        let mut index = std::mem::replace(list, EMPTY).first;
        self.levels[level].occupied &= !(1 << slot);
        while index != NONE {
            let next = self.entries[index].next;
            self.link(index);
            index = next;
        }
    }

    /// The first slot that is not empty, and the tick at which it begins. All of a level comes
    /// before anything of the level above.
    fn first_occupied(&self) -> Option<(usize, usize, u64)> {
        self.levels.iter().enumerate().find_map(|(level, Level { occupied, .. })| {
            let shift = level as u32 * BITS;
            let here = (self.now >> shift) & (SLOTS as u64 - 1);
            // On the lowest level the slot of this very tick counts; above, it has moved down.
            let ahead = if level == 0 { u64::MAX << here } else { (u64::MAX << here) << 1 };
            let occupied = occupied & ahead;
            if occupied == 0 {
                return None;
            }
            let slot = u64::from(occupied.trailing_zeros());
            let base = self.now >> shift >> BITS << BITS;
            Some((level, slot as usize, (base | slot) << shift))
        })
    }

    #[inline]
    fn link(&mut self, index: u32) {
        let tick = (self.entries[index].deadline >> TICK).max(self.now);
        let differs = tick ^ self.now;
        let level = differs.checked_ilog2().unwrap_or(0) / BITS;
        let slot = (tick >> (level * BITS)) & (SLOTS as u64 - 1);
        self.push(index, level as u8, slot as u8);
    }

    /// Puts an entry at the end of a list.
    #[inline]
    fn push(&mut self, index: u32, level: u8, slot: u8) {
        let list = match level {
            DUE => &mut self.due,
            _ => {
                let level = &mut self.levels[usize::from(level)];
                level.occupied |= 1 << slot;
                &mut level.slots[usize::from(slot)]
            }
        };
        let previous = std::mem::replace(&mut list.last, index);
        if previous == NONE {
            list.first = index;
        } else {
            self.entries[previous].next = index;
        }
        let entry = &mut self.entries[index];
        (entry.previous, entry.next) = (previous, NONE);
        (entry.level, entry.slot) = (level, slot);
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let Entry { next, previous, level, slot, .. } = self.entries[index];
        let list = match level {
            DUE => &mut self.due,
            _ => &mut self.levels[usize::from(level)].slots[usize::from(slot)],
        };
        if previous == NONE {
            list.first = next;
        } else {
            self.entries[previous].next = next;
        }
        if next == NONE {
            list.last = previous;
        } else {
            self.entries[next].previous = previous;
        }
        if list.first == NONE && level != DUE {
            self.levels[usize::from(level)].occupied &= !(1 << slot);
        }
    }
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}
