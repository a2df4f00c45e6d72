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
//! Timers live in a [`Slab`], and the slots are lists of numbers: see [`Slots`]. No timer is allocated by itself,
//! and nothing here is unsafe.

use std::task::Waker;

use crate::slab::{Garbage, Slab};
use crate::slots::{BITS, DUE, SLOTS, Slots, level_of};

/// The lowest level that is used unless it is crowded.
const BASE: u32 = 2;
/// Timers of a slot that are looked at. One with more is crowded.
const LOOK_AT: usize = 32;
/// Timers that fall in one go.
const FALL: usize = 256;

/// Names a timer, also after it has fired, until it is [removed](Wheel::remove).
#[derive(Debug, PartialEq, Eq)]
pub struct Key(pub(crate) u32);

/// The timers of one shard.
#[derive(Debug)]
pub struct Wheel {
    /// The wheel's time.
    now: u64,
    slots: Slots,
    entries: Slab,
    armed: usize,
    /// The list of the slot that falls, if one does.
    falling: Option<usize>,
}

impl Wheel {
    /// An empty wheel at time zero.
    pub fn new() -> Self {
        Self { now: 0, slots: Slots::new(), entries: Slab::new(), armed: 0, falling: None }
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
        if let Some(due) = self.slots.first(DUE) {
            return Some(self.entries[due].deadline);
        }
        if self.falling.is_some() {
            return Some(self.now);
        }
        let (list, start) = self.slots.first_occupied(self.now)?;
        let mut earliest = u64::MAX;
        for (seen, index) in self.slots.all(&self.entries, list).enumerate() {
            if seen == LOOK_AT {
                return Some(start);
            }
            earliest = earliest.min(self.entries[index].deadline);
        }
        Some(earliest)
    }

    /// The time of the earliest timer, exactly. It may have to look at many.
    pub fn earliest(&self) -> Option<u64> {
        let places = match self.slots.first(DUE) {
            Some(_) => [Some(DUE), None],
            None => [self.slots.first_occupied(self.now).map(|(list, _)| list), self.falling],
        };
        let lists = places.into_iter().flatten();
        let timers = lists.flat_map(|list| self.slots.all(&self.entries, list));
        timers.map(|index| self.entries[index].deadline).min()
    }

    /// Moves the wheel's time forward and takes out the wakers of all timers that are due, the
    /// earliest first.
    pub fn advance(&mut self, time: u64, fired: &mut Vec<Waker>) {
        while self.advance_some(time, usize::MAX, fired) {}
    }

    /// As [`advance`](Self::advance), for so many timers at the most, and for as long as a lock may be
    /// held; true if there may be more.
    pub fn advance_some(&mut self, time: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        let ends = |_: &Waker| false;
        self.take(time, &mut Portion { left: most, ends, fired })
    }

    /// As [`advance_some`](Self::advance_some).
    pub(crate) fn take(
        &mut self,
        time: u64,
        portion: &mut Portion<'_, impl Fn(&Waker) -> bool>,
    ) -> bool {
        let mut falls = FALL;
        loop {
            if !self.fire_list(DUE, portion) {
                return true;
            }
            if let Some(list) = self.falling {
                if !self.fall(list, &mut falls) {
                    return true;
                }
                continue;
            }
            let Some((list, start)) =
                self.slots.first_occupied(self.now).filter(|(_, start)| *start <= time)
            else {
                break;
            };
            self.now = self.now.max(start);
            match level_of(list) {
                // All for this very nanosecond.
                0 => {
                    if !self.fire_list(list, portion) {
                        return true;
                    }
                }
                BASE => match self.look_through(list, time, portion) {
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
    fn fire_list(
        &mut self,
        list: usize,
        portion: &mut Portion<'_, impl Fn(&Waker) -> bool>,
    ) -> bool {
        while let Some(index) = self.slots.first(list) {
            if portion.left == 0 {
                return false;
            }
            self.fire(index, portion);
        }
        true
    }

    fn fire(&mut self, index: u32, portion: &mut Portion<'_, impl Fn(&Waker) -> bool>) {
        self.unlink(index);
        self.armed -= 1;
        if let Some(waker) = self.entries[index].waker.take() {
            portion.push(waker);
        }
    }

    /// Fires what is due in a slot of the base, up to so many; what is left goes to the list of those
    /// that are due, in the order in which it is to fire.
    fn look_through(
        &mut self,
        list: usize,
        time: u64,
        portion: &mut Portion<'_, impl Fn(&Waker) -> bool>,
    ) -> Look {
        let mut due = [(0, 0); LOOK_AT];
        let mut found = 0;
        for (seen, index) in self.slots.all(&self.entries, list).enumerate() {
            if seen == LOOK_AT {
                return Look::Crowded;
            }
            let deadline = self.entries[index].deadline;
            if deadline <= time {
                due[found] = (deadline, index);
                found += 1;
            }
        }
        if found == 0 {
            return Look::NothingDue;
        }
        let due = &mut due[..found];
        // Stable: equal times stay in the order of arming.
        due.sort_by_key(|(deadline, _)| *deadline);
        for &(_, index) in &*due {
            if portion.left == 0 {
                self.unlink(index);
                self.push(index, DUE);
            } else {
                self.fire(index, portion);
            }
        }
        Look::Due
    }

    /// Puts the timers of a slot whose time has come where they belong now, in their order, up to so
    /// many; false if there are more.
    fn fall(&mut self, list: usize, most: &mut usize) -> bool {
        let floor = if level_of(list) <= BASE { 0 } else { BASE };
        while let Some(index) = self.slots.first(list) {
            if *most == 0 {
                return false;
            }
            *most -= 1;
            self.unlink(index);
            let place = self.place(self.entries[index].deadline, floor);
            self.push(index, place);
        }
        self.falling = None;
        true
    }

    /// Puts a timer where it belongs.
    #[inline]
    fn link(&mut self, index: u32, deadline: u64) {
        // The levels below the base hold what is left of this very slot of the base, if anything is.
        let floor = if self.slots.is_empty_below(BASE) { BASE } else { 0 };
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

    #[inline]
    fn push(&mut self, index: u32, list: usize) {
        self.slots.push(&mut self.entries, index, list);
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        self.slots.unlink(&mut self.entries, index);
    }
}

/// What is taken out in one go.
pub(crate) struct Portion<'a, F> {
    /// So many at the most.
    pub(crate) left: usize,
    /// True for a waker that has to be the last.
    pub(crate) ends: F,
    pub(crate) fired: &'a mut Vec<Waker>,
}

impl<F: Fn(&Waker) -> bool> Portion<'_, F> {
    fn push(&mut self, waker: Waker) {
        self.left = if (self.ends)(&waker) { 0 } else { self.left - 1 };
        self.fired.push(waker);
    }
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
