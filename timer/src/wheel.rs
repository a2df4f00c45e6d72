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
//! Timers live in a slab; the slots are lists of indices. No timer is allocated by itself, and nothing
//! here is unsafe.

use std::task::Waker;

/// Slots of a level, as bits of time.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// Bits of time within a slot of the lowest level.
const TICK: u32 = 12;
/// Levels, to cover the other bits of a `u64`.
const LEVELS: usize = (u64::BITS - TICK).div_ceil(BITS) as usize;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// How many timers of a slot are looked at to find the earliest; a fuller slot is taken to be due at
/// its start.
const LOOK_AT: usize = 32;

/// Names an armed timer. Once it has fired or was removed, the name means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    index: u32,
    generation: u32,
}

#[derive(Debug)]
struct Entry {
    deadline: u64,
    /// `None` in a vacant entry.
    waker: Option<Waker>,
    next: u32,
    previous: u32,
    generation: u32,
    level: u8,
    slot: u8,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

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
    entries: Vec<Entry>,
    /// The first of the vacant entries, which are linked through `next`.
    vacant: u32,
    armed: usize,
}

impl Wheel {
    /// An empty wheel at time zero.
    pub fn new() -> Self {
        const LEVEL: Level =
            Level { occupied: 0, slots: [List { first: NONE, last: NONE }; SLOTS] };
        Self {
            now: 0,
            levels: Box::new([LEVEL; LEVELS]),
            entries: Vec::new(),
            vacant: NONE,
            armed: 0,
        }
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// True if no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// Arms a timer. One whose time is past fires with the next [`advance`](Self::advance).
    ///
    /// # Panics
    ///
    /// With more than four billion timers.
    pub fn insert(&mut self, deadline: u64, waker: Waker) -> Key {
        let index = match self.vacant {
            NONE => {
                let index = u32::try_from(self.entries.len()).expect("fewer than 2^32 timers");
                assert_ne!(index, NONE, "fewer than 2^32 timers");
                self.entries.push(Entry {
                    deadline: 0,
                    waker: None,
                    next: NONE,
                    previous: NONE,
                    generation: 0,
                    level: 0,
                    slot: 0,
                });
                index
            }
            vacant => {
                self.vacant = self.entries[vacant as usize].next;
                vacant
            }
        };
        let entry = &mut self.entries[index as usize];
        entry.deadline = deadline;
        entry.waker = Some(waker);
        let key = Key { index, generation: entry.generation };
        self.armed += 1;
        self.link(index);
        key
    }

    /// Cancels a timer and gives its waker; `None` if it has fired.
    pub fn remove(&mut self, key: Key) -> Option<Waker> {
        self.get(key)?;
        self.unlink(key.index);
        self.free(key.index)
    }

    /// True until the timer has fired.
    pub fn is_armed(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Replaces a timer's waker and gives the old one, or the new one back if it has fired.
    ///
    /// # Errors
    ///
    /// If the timer has fired.
    pub fn replace_waker(&mut self, key: Key, waker: Waker) -> Result<Waker, Waker> {
        match self.entries.get_mut(key.index as usize) {
            Some(Entry { generation, waker: Some(old), .. }) if *generation == key.generation => {
                Ok(std::mem::replace(old, waker))
            }
            _ => Err(waker),
        }
    }

    /// The waker of a timer that has not fired.
    pub fn waker(&self, key: Key) -> Option<&Waker> {
        self.get(key)?.waker.as_ref()
    }

    /// When [`advance`](Self::advance) should be called next: the time of the earliest timer, or
    /// somewhat before it.
    pub fn next_deadline(&self) -> Option<u64> {
        let (level, slot, start) = self.first_occupied()?;
        let mut earliest = u64::MAX;
        let mut index = self.levels[level].slots[slot].first;
        for _ in 0..LOOK_AT {
            let entry = &self.entries[index as usize];
            earliest = earliest.min(entry.deadline);
            index = entry.next;
            if index == NONE {
                return Some(earliest);
            }
        }
        Some(start << TICK)
    }

    /// Moves the wheel's time forward and takes out the wakers of all timers that are due, the
    /// earliest first.
    pub fn advance(&mut self, time: u64, fired: &mut Vec<Waker>) {
        let target = time >> TICK;
        while let Some((level, slot, start)) = self.first_occupied() {
            if start > target {
                break;
            }
            self.now = self.now.max(start);
            if level > 0 {
                self.move_down(level, slot);
            } else if !self.fire(slot, time, fired) {
                // The rest of this slot is due later within the tick that has begun.
                break;
            }
        }
        self.now = self.now.max(target);
    }

    /// Fires what is due in a slot of the lowest level; true if nothing is left in it.
    fn fire(&mut self, slot: usize, time: u64, fired: &mut Vec<Waker>) -> bool {
        let mut due = Vec::new();
        let mut index = self.levels[0].slots[slot].first;
        while index != NONE {
            let entry = &self.entries[index as usize];
            if entry.deadline <= time {
                due.push((entry.deadline, index));
            }
            index = entry.next;
        }
        // Stable: equal times stay in the order of arming.
        due.sort_by_key(|(deadline, _)| *deadline);
        for (_, index) in due {
            self.unlink(index);
            fired.extend(self.free(index));
        }
        self.levels[0].occupied & (1 << slot) == 0
    }

    /// Puts the timers of a slot whose time has come where they belong now, in their order.
    fn move_down(&mut self, level: usize, slot: usize) {
        let list = &mut self.levels[level].slots[slot];
        let mut index = std::mem::replace(list, List { first: NONE, last: NONE }).first;
        self.levels[level].occupied &= !(1 << slot);
        while index != NONE {
            let next = self.entries[index as usize].next;
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

    fn link(&mut self, index: u32) {
        let tick = (self.entries[index as usize].deadline >> TICK).max(self.now);
        let differs = tick ^ self.now;
        let level = differs.checked_ilog2().unwrap_or(0) / BITS;
        let slot = (tick >> (level * BITS)) & (SLOTS as u64 - 1);
        let (level, slot) = (level as usize, slot as usize);
        let list = &mut self.levels[level].slots[slot];
        let previous = std::mem::replace(&mut list.last, index);
        if previous == NONE {
            list.first = index;
            self.levels[level].occupied |= 1 << slot;
        } else {
            self.entries[previous as usize].next = index;
        }
        let entry = &mut self.entries[index as usize];
        (entry.previous, entry.next) = (previous, NONE);
        (entry.level, entry.slot) = (level as u8, slot as u8);
    }

    fn unlink(&mut self, index: u32) {
        let Entry { next, previous, level, slot, .. } = self.entries[index as usize];
        let level = &mut self.levels[usize::from(level)];
        let list = &mut level.slots[usize::from(slot)];
        if previous == NONE {
            list.first = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        if next == NONE {
            list.last = previous;
        } else {
            self.entries[next as usize].previous = previous;
        }
        if list.first == NONE {
            level.occupied &= !(1 << slot);
        }
    }

    fn free(&mut self, index: u32) -> Option<Waker> {
        self.armed -= 1;
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.next = std::mem::replace(&mut self.vacant, index);
        entry.waker.take()
    }

    fn get(&self, key: Key) -> Option<&Entry> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.generation == key.generation && entry.waker.is_some()).then_some(entry)
    }
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}
