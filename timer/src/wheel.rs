//! A hierarchical timing wheel: arming and cancelling in constant time, firing in order.
//!
//! Time is a number of nanoseconds. Eleven levels of 64 slots cover everything a `u64` can say: a slot of the
//! lowest level is a nanosecond, and a slot of each level above as long as the whole level below. A timer
//! lies in the slot of the lowest level at which its time differs from the wheel's, but not below the
//! *base*, whose slots are 4.096 µs. When the wheel's time reaches a slot above the base, what is in it falls
//! to lower levels. A slot of the base is looked through: times are compared exactly, so nothing fires
//! early. Only if it is crowded, it falls as well, down to the two levels below.
//!
//! **The order.** Timers fire in the order of their times, and those with equal times in the order in which
//! they were armed: a slot is a queue, falling keeps the order, and a timer armed later for the same
//! time ends up in the same slot, behind. One that was past when it was armed, or moved, counts as due at
//! that moment.
//!
//! **Bounded work.** A lock around the wheel must not be held for long, however many timers are in a
//! slot. What is due is taken out in portions, and a slot *falls* in portions: until it is empty, nothing fires
//! and the wheel's time stands still, and what is armed for its span goes to its end, so that the
//! order holds.
//!
//! Timers live in a [`Slab`]; the slots are lists of numbers, and the last link of a list names the list. No
//! timer is allocated by itself, and nothing here is unsafe.

use std::task::Waker;

use crate::slab::{Garbage, LIMIT, Slab};

/// Slots of a level, as bits of time.
const BITS: u32 = 6;
const SLOTS: u32 = 1 << BITS;
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// The lowest level that is used unless it is crowded.
const BASE: u32 = 2;
/// Timers of a slot that are looked at. One with more is crowded.
const LOOK_AT: usize = 32;
/// Timers that fall in one go.
const FALL: usize = 256;
/// After those of the slots: the list of those that are due.
const DUE: usize = LEVELS * SLOTS as usize;

/// Names a timer, also after it has fired, until it is [removed](Wheel::remove).
#[derive(Debug, PartialEq, Eq)]
pub struct Key(pub(crate) u32);

/// A link is the number of a timer, or if it has this bit that of a list.
const LIST: u32 = LIMIT;

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// The timers of one shard.
#[derive(Debug)]
pub struct Wheel {
    /// The wheel's time.
    now: u64,
    /// A bit for each level that is not empty.
    levels: u32,
    /// For each level a bit for each slot that is not empty; the last is for those that are due.
    slots: [u64; LEVELS + 1],
    lists: Box<[List; DUE + 1]>,
    entries: Slab,
    armed: usize,
    /// The list of the slot that falls, if one does.
    falling: Option<usize>,
}

impl Wheel {
    /// An empty wheel at time zero.
    pub fn new() -> Self {
        let empty = |list| List { first: list as u32 | LIST, last: list as u32 | LIST };
        Self {
            now: 0,
            levels: 0,
            slots: [0; LEVELS + 1],
            lists: Box::new(std::array::from_fn(empty)),
            entries: Slab::new(),
            armed: 0,
            falling: None,
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
    /// With more than two billion timers.
    #[inline]
    pub fn insert(&mut self, deadline: u64, waker: Waker) -> Key {
        let index = self.entries.insert(deadline, waker);
        self.armed += 1;
        self.link(index, deadline);
        Key(index)
    }

    /// Forgets a timer, and gives its waker if it has not fired.
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<Waker> {
        if self.is_armed(&key) {
            self.unlink(key.0);
            self.armed -= 1;
        }
        self.entries.remove(key.0)
    }

    /// Moves a timer to another time, behind those that are armed for it; `None` if it has fired.
    pub fn reset(&mut self, key: &Key, deadline: u64) -> Option<()> {
        self.waker(key)?;
        self.unlink(key.0);
        self.entries[key.0].deadline = deadline;
        self.link(key.0, deadline);
        Some(())
    }

    /// True until the timer has fired.
    #[inline]
    pub fn is_armed(&self, key: &Key) -> bool {
        self.waker(key).is_some()
    }

    /// Replaces a timer's waker and gives the old one.
    ///
    /// # Errors
    ///
    /// If the timer has fired: the new one.
    pub fn replace_waker(&mut self, key: &Key, waker: Waker) -> Result<Waker, Waker> {
        match &mut self.entries[key.0].waker {
            Some(old) => Ok(std::mem::replace(old, waker)),
            None => Err(waker),
        }
    }

    /// The waker of a timer that has not fired.
    #[inline]
    pub fn waker(&self, key: &Key) -> Option<&Waker> {
        self.entries[key.0].waker.as_ref()
    }

    /// When [`advance`](Self::advance) should be called next: the time of the earliest timer, or
    /// somewhat before it.
    pub fn next_deadline(&self) -> Option<u64> {
        let due = self.lists[DUE].first;
        if due & LIST == 0 {
            return Some(self.entries[due].deadline);
        }
        if self.falling.is_some() {
            return Some(self.now);
        }
        let (list, start) = self.first_occupied()?;
        let mut index = self.lists[list].first;
        let mut earliest = u64::MAX;
        for _ in 0..LOOK_AT {
            let entry = &self.entries[index];
            earliest = earliest.min(entry.deadline);
            index = entry.next;
            if index & LIST != 0 {
                return Some(earliest);
            }
        }
        Some(start)
    }

    /// The time of the earliest timer, exactly. It may have to look at many.
    pub fn earliest(&self) -> Option<u64> {
        let first_slot = || self.first_occupied().map(|(list, _)| list);
        let places = match self.lists[DUE].first & LIST {
            0 => [Some(DUE), None],
            _ => [first_slot(), self.falling],
        };
        let mut earliest = None;
        for list in places.into_iter().flatten() {
            let mut index = self.lists[list].first;
            while index & LIST == 0 {
                let entry = &self.entries[index];
                earliest = Some(earliest.unwrap_or(u64::MAX).min(entry.deadline));
                index = entry.next;
            }
        }
        earliest
    }

    /// Moves the wheel's time forward and takes out the wakers of all timers that are due, the
    /// earliest first.
    pub fn advance(&mut self, time: u64, fired: &mut Vec<Waker>) {
        while self.advance_some(time, usize::MAX, fired) {}
    }

    /// As [`advance`](Self::advance), for so many timers at the most, and for as long as a lock may be
    /// held; true if there may be more.
    pub fn advance_some(&mut self, time: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        let (mut left, mut falls) = (most, FALL);
        loop {
            if !self.fire_list(DUE, &mut left, fired) {
                return true;
            }
            if let Some(list) = self.falling {
                if !self.fall(list, &mut falls) {
                    return true;
                }
                continue;
            }
            let Some((list, start)) = self.first_occupied().filter(|(_, start)| *start <= time)
            else {
                break;
            };
            self.now = self.now.max(start);
            match level_of(list) {
                // All for this very nanosecond.
                0 => {
                    if !self.fire_list(list, &mut left, fired) {
                        return true;
                    }
                }
                BASE => match self.look_through(list, time, &mut left, fired) {
                    Look::Crowded => self.falling = Some(list),
                    Look::Due => {}
                    // The rest of this slot is due later within its span, which has begun.
                    Look::NothingDue => break,
                },
                _ => self.falling = Some(list),
            }
        }
        self.now = self.now.max(time);
        false
    }

    /// Blocks that a burst of timers has left behind; to be dropped without a lock.
    #[inline]
    pub fn take_garbage(&mut self) -> Option<Garbage> {
        self.entries.take_garbage()
    }

    /// Fires what is in a list, up to so many; false if there is more.
    fn fire_list(&mut self, list: usize, left: &mut usize, fired: &mut Vec<Waker>) -> bool {
        loop {
            let index = self.lists[list].first;
            if index & LIST != 0 {
                return true;
            }
            if *left == 0 {
                return false;
            }
            *left -= 1;
            self.fire(index, fired);
        }
    }

    fn fire(&mut self, index: u32, fired: &mut Vec<Waker>) {
        self.unlink(index);
        self.armed -= 1;
        fired.extend(self.entries[index].waker.take());
    }

    /// Fires what is due in a slot of the base, up to so many; what is left goes to the list of those
    /// that are due, in the order in which it is to fire.
    fn look_through(
        &mut self,
        list: usize,
        time: u64,
        left: &mut usize,
        fired: &mut Vec<Waker>,
    ) -> Look {
        let mut due = [(0, 0); LOOK_AT];
        let (mut seen, mut found) = (0, 0);
        let mut index = self.lists[list].first;
        while index & LIST == 0 {
            if seen == LOOK_AT {
                return Look::Crowded;
            }
            seen += 1;
            let entry = &self.entries[index];
            if entry.deadline <= time {
                due[found] = (entry.deadline, index);
                found += 1;
            }
            index = entry.next;
        }
        if found == 0 {
            return Look::NothingDue;
        }
        let due = &mut due[..found];
        // Stable: equal times stay in the order of arming.
        due.sort_by_key(|(deadline, _)| *deadline);
        for &(_, index) in &*due {
            if *left == 0 {
                self.unlink(index);
                self.push(index, DUE);
            } else {
                *left -= 1;
                self.fire(index, fired);
            }
        }
        Look::Due
    }

    /// Puts the timers of a slot whose time has come where they belong now, in their order, up to so
    /// many; false if there are more.
    fn fall(&mut self, list: usize, most: &mut usize) -> bool {
        let floor = if level_of(list) <= BASE { 0 } else { BASE };
        loop {
            let index = self.lists[list].first;
            if index & LIST != 0 {
                self.falling = None;
                return true;
            }
            if *most == 0 {
                return false;
            }
            *most -= 1;
            self.unlink(index);
            let place = self.place(self.entries[index].deadline, floor);
            self.push(index, place);
        }
    }

    /// The first slot that is not empty, and the time at which it begins. All of a level comes before
    /// anything of the level above.
    fn first_occupied(&self) -> Option<(usize, u64)> {
        let level = self.levels.trailing_zeros();
        let slot = self.slots.get(level as usize).filter(|_| level < DUE_LEVEL)?.trailing_zeros();
        let shift = level * BITS;
        let base = self.now >> shift >> BITS << BITS;
        Some(((level * SLOTS + slot) as usize, (base | u64::from(slot)) << shift))
    }

    /// Puts a timer where it belongs.
    #[inline]
    fn link(&mut self, index: u32, deadline: u64) {
        // The levels below the base hold what is left of this very slot of the base, if anything is.
        let floor = if self.levels & ((1 << BASE) - 1) == 0 { BASE } else { 0 };
        let mut place = self.place(deadline, floor);
        if let Some(falling) = self.falling {
            if level_of(place) < level_of(falling) {
                place = falling;
            }
        }
        self.push(index, place);
    }

    /// The list for a time, on no level below `floor`.
    #[inline]
    fn place(&self, deadline: u64, floor: u32) -> usize {
        let time = deadline.max(self.now);
        let level = ((time ^ self.now).checked_ilog2().unwrap_or(0) / BITS).max(floor);
        let slot = (time >> (level * BITS)) & u64::from(SLOTS - 1);
        (level * SLOTS) as usize + slot as usize
    }

    /// Puts an entry at the end of a list.
    #[inline]
    fn push(&mut self, index: u32, list: usize) {
        let end = list as u32 | LIST;
        let previous = std::mem::replace(&mut self.lists[list].last, index);
        if previous == end {
            self.lists[list].first = index;
            self.levels |= 1 << level_of(list);
            self.slots[level_of(list) as usize] |= 1 << (list as u32 % SLOTS);
        } else {
            self.entries[previous].next = index;
        }
        let entry = &mut self.entries[index];
        (entry.previous, entry.next) = (previous, end);
    }

    /// Takes an entry out of its list.
    #[inline]
    fn unlink(&mut self, index: u32) {
        let entry = &self.entries[index];
        let (previous, next) = (entry.previous, entry.next);
        if previous & LIST == 0 {
            self.entries[previous].next = next;
        } else {
            self.lists[(previous & !LIST) as usize].first = next;
        }
        if next & LIST == 0 {
            self.entries[next].previous = previous;
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

/// In place of a level, for those that are due.
const DUE_LEVEL: u32 = LEVELS as u32;

#[inline]
fn level_of(list: usize) -> u32 {
    list as u32 / SLOTS
}

/// What a look at a slot of the base has brought.
enum Look {
    Due,
    NothingDue,
    Crowded,
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}
