//! A hierarchical timing wheel: arming and cancelling in constant time, firing in order.
//!
//! Time is a number of nanoseconds. Eleven levels of 64 slots cover every `u64`: a slot of the lowest level is a
//! nanosecond long, and a slot of each other level is as long as the whole level below. A timer is in a slot of the
//! lowest level at which its time differs from the wheel's, but not below the *base level*, whose slots are 4.096 µs
//! long. When the wheel's time reaches a slot above the base level, the timers in it cascade to lower levels. In a slot
//! of the base level, the timers' times are compared exactly, so no timer fires early. Timers cascade from there, to
//! the two levels below, only if the slot is crowded.
//!
//! **Order.** Timers fire in the order of their times, and timers with equal times in the order in which they were
//! armed: a slot is a queue, cascading keeps the order, and a timer that is armed later for the same time is put into
//! the same slot, behind the others. A timer whose time is past when it is armed or moved counts as due at that moment.
//!
//! **Bounded work.** A lock around the wheel must not be held for long, however many timers are in a slot. Due timers
//! are taken out in batches, and a slot *cascades* in batches. Until it is empty, no timer fires and the wheel's time
//! stands still. A timer that is armed for the span of that slot is put at the slot's end, which keeps the order.
//!
//! Timers are stored in [`Entries`], and the slots are lists of their numbers; see [`Slots`]. No timer is allocated
//! individually, and nothing here is unsafe.

mod firing;

use std::task::Waker;

use firing::Scan;

use crate::batch::Batch;
use crate::entries::{Entries, Garbage};
use crate::policy::{BASE_LEVEL, CASCADED_TIMERS, SCANNED_TIMERS};
use crate::slots::{BITS, DUE, SLOTS, Slots, level_of};

/// Identifies a timer until it is [removed](Wheel::remove), even after it has fired.
#[derive(Debug, PartialEq, Eq)]
pub struct Key(pub(crate) u32);

/// A set of timers, ordered by deadline.
///
/// # Examples
///
/// ```
/// use std::task::Waker;
/// use windlass_timer::Wheel;
///
/// let mut wheel = Wheel::new();
/// let first = wheel.insert(1_000, Waker::noop().clone());
/// let second = wheel.insert(2_000, Waker::noop().clone());
/// assert_eq!((wheel.len(), wheel.earliest()), (2, Some(1_000)));
///
/// let mut fired = Vec::new();
/// wheel.advance(1_500, &mut fired);
/// assert_eq!(fired.len(), 1);
/// assert!(!wheel.is_armed(&first) && wheel.is_armed(&second));
///
/// assert!(wheel.remove(first).is_none(), "it has fired");
/// assert!(wheel.remove(second).is_some());
/// assert!(wheel.is_empty());
/// ```
#[derive(Debug)]
pub struct Wheel {
    /// The wheel's time.
    now: u64,
    slots: Slots,
    entries: Entries,
    armed: usize,
    /// The list of the slot that cascades, if one does.
    cascading: Option<usize>,
}

impl Wheel {
    /// Creates an empty wheel at time zero.
    pub fn new() -> Self {
        Self { now: 0, slots: Slots::new(), entries: Entries::new(), armed: 0, cascading: None }
    }

    /// Returns the number of armed timers.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Returns true if no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// Arms a timer. If its time has already passed, it fires with the next [`advance`](Self::advance).
    ///
    /// # Panics
    ///
    /// Panics if there are more than two billion timers.
    #[inline]
    pub fn insert(&mut self, deadline: u64, waker: Waker) -> Key {
        let index = self.entries.insert(deadline, waker);
        self.armed += 1;
        self.link(index, deadline);
        Key(index)
    }

    /// Removes a timer. Returns its waker if it has not fired.
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<Waker> {
        if self.is_armed(&key) {
            self.unlink(key.0);
            self.armed -= 1;
        }
        self.entries.remove(key.0)
    }

    /// Moves a timer to another time, behind those already armed for that time. Returns `None` if it has fired.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::Wheel;
    ///
    /// let mut wheel = Wheel::new();
    /// let key = wheel.insert(1_000, Waker::noop().clone());
    /// assert!(wheel.reset(&key, 5_000).is_some());
    /// assert_eq!(wheel.earliest(), Some(5_000));
    /// ```
    pub fn reset(&mut self, key: &Key, deadline: u64) -> Option<()> {
        self.waker(key)?;
        self.unlink(key.0);
        self.entries[key.0].deadline = deadline;
        self.link(key.0, deadline);
        Some(())
    }

    /// Returns true until the timer has fired.
    #[inline]
    pub fn is_armed(&self, key: &Key) -> bool {
        self.waker(key).is_some()
    }

    /// Replaces a timer's waker and returns the old one.
    ///
    /// # Errors
    ///
    /// Returns the new waker if the timer has fired.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::Wheel;
    ///
    /// let mut wheel = Wheel::new();
    /// let key = wheel.insert(1_000, Waker::noop().clone());
    /// assert!(wheel.replace_waker(&key, Waker::noop().clone()).is_ok());
    /// wheel.advance(1_000, &mut Vec::new());
    /// assert!(wheel.replace_waker(&key, Waker::noop().clone()).is_err());
    /// ```
    pub fn replace_waker(&mut self, key: &Key, waker: Waker) -> Result<Waker, Waker> {
        match &mut self.entries[key.0].waker {
            Some(old) => Ok(std::mem::replace(old, waker)),
            None => Err(waker),
        }
    }

    /// Returns the waker of a timer, or `None` if it has fired.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::Wheel;
    ///
    /// let mut wheel = Wheel::new();
    /// let key = wheel.insert(1_000, Waker::noop().clone());
    /// assert!(wheel.waker(&key).is_some_and(|waker| waker.will_wake(Waker::noop())));
    /// ```
    #[inline]
    pub fn waker(&self, key: &Key) -> Option<&Waker> {
        self.entries[key.0].waker.as_ref()
    }

    /// Returns the time at which [`advance`](Self::advance) should be called next: that of the earliest timer, or a
    /// slightly earlier one. The work is bounded.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::Wheel;
    ///
    /// let mut wheel = Wheel::new();
    /// assert_eq!(wheel.next_deadline(), None);
    /// wheel.insert(1_000, Waker::noop().clone());
    /// assert!(wheel.next_deadline().is_some_and(|time| time <= 1_000));
    /// ```
    pub fn next_deadline(&self) -> Option<u64> {
        if let Some(due) = self.slots.first(DUE) {
            return Some(self.entries[due].deadline);
        }
        if self.cascading.is_some() {
            return Some(self.now);
        }
        let (list, start) = self.slots.first_occupied(self.now)?;
        let mut earliest = u64::MAX;
        for (seen, index) in self.slots.all(&self.entries, list).enumerate() {
            if seen == SCANNED_TIMERS {
                return Some(start);
            }
            earliest = earliest.min(self.entries[index].deadline);
        }
        Some(earliest)
    }

    /// Returns the exact time of the earliest timer. It may have to compare many timers.
    pub fn earliest(&self) -> Option<u64> {
        let places = match self.slots.first(DUE) {
            Some(_) => [Some(DUE), None],
            None => [self.slots.first_occupied(self.now).map(|(list, _)| list), self.cascading],
        };
        let lists = places.into_iter().flatten();
        let timers = lists.flat_map(|list| self.slots.all(&self.entries, list));
        timers.map(|index| self.entries[index].deadline).min()
    }

    /// Moves the wheel's time forward and takes out the wakers of all timers that are due, the earliest first.
    pub fn advance(&mut self, time: u64, fired: &mut Vec<Waker>) {
        while self.advance_some(time, usize::MAX, fired) {}
    }

    /// Like [`advance`](Self::advance), but takes out at most `most` timers and does a bounded amount of work. Returns
    /// true if more timers may be due.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::Wheel;
    ///
    /// let mut wheel = Wheel::new();
    /// let keys = [10, 20, 30].map(|time| wheel.insert(time, Waker::noop().clone()));
    /// let mut fired = Vec::new();
    /// assert!(wheel.advance_some(100, 2, &mut fired));
    /// assert_eq!((fired.len(), wheel.is_armed(&keys[2])), (2, true));
    /// ```
    pub fn advance_some(&mut self, time: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        let ends = |_: &Waker| false;
        self.take(time, &mut Batch { left: most, ends, own_only: false, refused: false, fired })
    }

    /// Like [`advance_some`](Self::advance_some), but for a batch that may end earlier.
    pub(crate) fn take(
        &mut self,
        time: u64,
        batch: &mut Batch<'_, impl Fn(&Waker) -> bool>,
    ) -> bool {
        let mut cascades = CASCADED_TIMERS;
        loop {
            if !self.fire_list(DUE, batch) {
                return true;
            }
            if let Some(list) = self.cascading {
                if !self.cascade(list, &mut cascades) {
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
                // All timers in the slot have the same time.
                0 => {
                    if !self.fire_list(list, batch) {
                        return true;
                    }
                }
                BASE_LEVEL => match self.scan(list, time, batch) {
                    Scan::Crowded => self.cascading = Some(list),
                    Scan::Due => {}
                    // The other timers of this slot are due later within its span, which has begun.
                    Scan::NothingDue => break,
                },
                _ => self.cascading = Some(list),
            }
        }
        self.now = self.now.max(time);
        false
    }

    /// Takes out memory that a burst of timers has left behind, to be dropped without a lock. Returns `None` if there
    /// is none, or a timer has not been removed yet.
    ///
    /// ```
    /// use std::task::Waker;
    /// use windlass_timer::{Key, Wheel};
    ///
    /// let mut wheel = Wheel::new();
    /// let keys: Vec<Key> =
    ///     (0..10_000).map(|time| wheel.insert(time, Waker::noop().clone())).collect();
    /// assert!(wheel.take_garbage().is_none());
    /// for key in keys {
    ///     wheel.remove(key);
    /// }
    /// drop(wheel.take_garbage().unwrap());
    /// ```
    #[inline]
    pub fn take_garbage(&mut self) -> Option<Garbage> {
        self.entries.take_garbage()
    }

    /// Puts a timer into the list for its time.
    #[inline]
    fn link(&mut self, index: u32, deadline: u64) {
        // If the levels below the base level are in use, they hold the rest of the current slot of the base level.
        let floor = if self.slots.is_empty_below(BASE_LEVEL) { BASE_LEVEL } else { 0 };
        let mut place = self.place(deadline, floor);
        if let Some(cascading) = self.cascading {
            if level_of(place) < level_of(cascading) {
                place = cascading;
            }
        }
        self.push(index, place);
    }

    /// Returns the list for a time, on no level below `floor`.
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

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}
