//! The sleeping workers and the number of searching ones, in one word.
//!
//! At most one worker sleeps in the *seat*, blocked on the OS (see `poller/seat.rs`); the others are parked and form
//! a stack. The word holds the worker in the seat, the top of the stack, the length of the stack, the number of
//! workers that search for work, and a tag that changes with every push, so that a stale pop fails. The links of the
//! stack are kept beside it.
//!
//! The worker in the seat is woken first, because it is the one that needs no futex. After it comes the top of the
//! stack, the last worker to be parked.
//!
//! Only the thread that takes a worker out of the word wakes it, and the worker is taken out *as a searcher*: a worker
//! on its way out of sleep is counted at every moment. A parked worker never takes itself off the stack. The worker in
//! the seat may leave it by itself. See `README.md` in this folder for the handshake and the proof that no wake-up is
//! lost.

use crate::primitives::{AtomicU32, AtomicU64, Ordering};

/// The word, taken apart.
///
/// ```text
///   63..44 tag | 43..33 seat + 1 | 32..22 parked | 21..11 searching | 10..0 top + 1
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    tag: u32,
    /// Index of the worker that sleeps in the seat, plus one; zero if none does.
    seat: u16,
    parked: u16,
    searching: u16,
    /// Index of the last worker to be parked, plus one; zero if none is.
    top: u16,
}

/// Bits of each field but the tag.
const FIELD: u32 = 11;
const FIELD_MASK: u64 = (1 << FIELD) - 1;

/// Masks that show whether a worker searches or sleeps, without taking the word apart.
const SEARCHING: u64 = FIELD_MASK << FIELD;
const ASLEEP: u64 = FIELD_MASK << (2 * FIELD) | FIELD_MASK << (3 * FIELD);

/// The largest number of workers, spares included, that the word can count.
pub(crate) const MOST_WORKERS: usize = FIELD_MASK as usize - 1;

impl Word {
    fn unpack(bits: u64) -> Self {
        let field = |place: u32| (bits >> (place * FIELD) & FIELD_MASK) as u16;
        Self {
            tag: (bits >> (4 * FIELD)) as u32,
            seat: field(3),
            parked: field(2),
            searching: field(1),
            top: field(0),
        }
    }

    fn pack(self) -> u64 {
        // Shifting drops the tag's upper bits: it wraps.
        u64::from(self.tag) << (4 * FIELD)
            | u64::from(self.seat) << (3 * FIELD)
            | u64::from(self.parked) << (2 * FIELD)
            | u64::from(self.searching) << FIELD
            | u64::from(self.top)
    }

    fn top(self) -> Option<usize> {
        usize::from(self.top).checked_sub(1)
    }

    fn seat(self) -> Option<usize> {
        usize::from(self.seat).checked_sub(1)
    }

    fn sleeping(self) -> usize {
        usize::from(self.parked) + usize::from(self.seat != 0)
    }
}

/// The place where a worker sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleepPlace {
    /// Blocked on the OS. At most one worker at a time.
    Seat,
    /// Parked.
    Parker,
}

/// A worker that was taken out of its sleep. The thread that has this must wake it.
#[must_use = "a worker that was taken out must be woken"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Popped {
    pub(crate) index: usize,
    pub(crate) place: SleepPlace,
}

/// The sleepers and searchers of one runtime.
pub(crate) struct Sleepers {
    word: AtomicU64,
    /// For a worker on the stack: what `top` was before it. Written by the worker before it
    /// pushes itself, so never while it is on the stack.
    below: Box<[AtomicU32]>,
}

impl Sleepers {
    /// Returns sleepers with all workers awake and none of them searching.
    pub(crate) fn new(workers: usize) -> Self {
        assert!(workers <= MOST_WORKERS, "the builder bounds the number of workers");
        Self { word: AtomicU64::new(0), below: (0..workers).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Becomes a searcher, unless `most` search already.
    #[must_use]
    pub(crate) fn start_search(&self, most: usize) -> bool {
        self.update(|word| {
            (usize::from(word.searching) < most)
                .then(|| Word { searching: word.searching + 1, ..word })
        })
        .is_some()
    }

    /// Counts out a searcher that has found work, or leaves. Returns true if it was the last: then it must pass a
    /// fence, and look whether there is more.
    #[must_use]
    pub(crate) fn stop_search(&self) -> bool {
        let before = self.update(|word| Some(Word { searching: word.searching - 1, ..word }));
        before.is_some_and(|word| word.searching == 1)
    }

    /// Announces that worker `index` sleeps from now on and, if it was searching, has stopped. After a fence it must
    /// look once more, and then sleep until it is popped. Only the thread that holds the seat's lock may announce
    /// itself there.
    pub(crate) fn announce(&self, index: usize, place: SleepPlace, searching: bool) {
        self.update(|word| {
            let name = index as u16 + 1;
            let word = Word { searching: word.searching - u16::from(searching), ..word };
            if place == SleepPlace::Seat {
                debug_assert_eq!(word.seat, 0, "the seat's lock admits one");
                return Some(Word { seat: name, ..word });
            }
            // Relaxed: the compare-exchange that publishes the worker publishes its link.
            self.below[index].store(u32::from(word.top), Ordering::Relaxed);
            let tag = word.tag.wrapping_add(1);
            Some(Word { tag, parked: word.parked + 1, top: name, ..word })
        });
    }

    /// Takes worker `index` out of the seat, as a searcher, because it wakes up by itself. Returns false if another
    /// thread has popped it; a token is on its way then.
    #[must_use]
    pub(crate) fn leave_seat(&self, index: usize) -> bool {
        self.update(|word| {
            (word.seat() == Some(index)).then(|| Word {
                seat: 0,
                searching: word.searching + 1,
                ..word
            })
        })
        .is_some()
    }

    /// Takes all sleepers, as searchers, in one step: those that come back while the caller
    /// still wakes the others are not woken again.
    pub(crate) fn pop_all(&self) -> impl Iterator<Item = Popped> + '_ {
        let before = self.update(|word| {
            (word.sleeping() > 0).then(|| Word {
                seat: 0,
                parked: 0,
                searching: word.searching + word.sleeping() as u16,
                top: 0,
                ..word
            })
        });
        let seat =
            before.and_then(Word::seat).map(|index| Popped { index, place: SleepPlace::Seat });
        let mut next = before.and_then(Word::top);
        let parked = std::iter::from_fn(move || {
            let index = next?;
            // Relaxed as in `pop`. Read before the caller wakes the worker, which may come back and
            // write it.
            next = (self.below[index].load(Ordering::Relaxed) as usize).checked_sub(1);
            Some(Popped { index, place: SleepPlace::Parker })
        });
        seat.into_iter().chain(parked)
    }

    /// Takes one sleeper, as a searcher, unless a worker searches already.
    pub(crate) fn pop(&self) -> Option<Popped> {
        self.pop_if(|word| word.searching == 0)
    }

    /// Takes one sleeper, as a searcher, even if others search.
    pub(crate) fn pop_any(&self) -> Option<Popped> {
        self.pop_if(|_| true)
    }

    fn pop_if(&self, wanted: impl Fn(Word) -> bool) -> Option<Popped> {
        let before = self.update(|word| {
            if word.sleeping() == 0 || !wanted(word) {
                return None;
            }
            let word = Word { searching: word.searching + 1, ..word };
            let Some(top) = word.top().filter(|_| word.seat == 0) else {
                return Some(Word { seat: 0, ..word });
            };
            // Relaxed: the Acquire load of the word that named `top` made its link visible. If the
            // worker has been popped and has come back since, the tag has changed and the exchange
            // fails.
            let below = self.below[top].load(Ordering::Relaxed);
            Some(Word { parked: word.parked - 1, top: below as u16, ..word })
        })?;
        let seat = before.seat().map(|index| Popped { index, place: SleepPlace::Seat });
        seat.or_else(|| before.top().map(|index| Popped { index, place: SleepPlace::Parker }))
    }

    /// Returns true if a push would wake a worker. A hint, except after a fence.
    pub(crate) fn would_wake(&self) -> bool {
        // Acquire as in `load`.
        let bits = self.word.load(Ordering::Acquire);
        bits & SEARCHING == 0 && bits & ASLEEP != 0
    }

    /// Returns true if nobody sleeps and nobody searches.
    pub(crate) fn all_busy(&self) -> bool {
        // Acquire as in `load`.
        self.word.load(Ordering::Acquire) & (SEARCHING | ASLEEP) == 0
    }

    /// Returns the number of workers that sleep at this moment.
    pub(crate) fn sleeping(&self) -> usize {
        self.load().sleeping()
    }

    /// Returns true if a worker sleeps in the seat at this moment.
    pub(crate) fn is_seat_taken(&self) -> bool {
        self.load().seat != 0
    }

    /// Returns the number of workers that search at this moment.
    pub(crate) fn searching(&self) -> usize {
        usize::from(self.load().searching)
    }

    /// Returns the number of workers that sleep, by a read-modify-write. A worker that is popped after this
    /// sees what the caller did before it: the pop's Acquire pairs with this Release.
    pub(crate) fn sleeping_settled(&self) -> usize {
        Word::unpack(self.word.fetch_or(0, Ordering::AcqRel)).sleeping()
    }

    /// Loads the word. Acquire pairs with the Release of every update, `sleeping_settled` above all.
    fn load(&self) -> Word {
        Word::unpack(self.word.load(Ordering::Acquire))
    }

    /// Applies a transition. Returns the word before it, or `None` if the transition was declined.
    fn update(&self, next: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        // Acquire pairs with the Release of the exchange in `announce`: the links are visible.
        let mut bits = self.word.load(Ordering::Acquire);
        loop {
            let word = Word::unpack(bits);
            let new = next(word)?;
            match self.word.compare_exchange_weak(
                bits,
                new.pack(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(word),
                Err(changed) => bits = changed,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_word_survives_packing() {
        let word = Word { tag: 0xa_bcde, seat: 5, parked: 7, searching: 3, top: 0x7ff };
        assert_eq!(Word::unpack(word.pack()), word);
    }

    fn parked(index: usize) -> Option<Popped> {
        Some(Popped { index, place: SleepPlace::Parker })
    }

    #[test]
    fn the_last_to_be_parked_is_woken_first_and_as_a_searcher() {
        let sleepers = Sleepers::new(3);
        for index in 0..3 {
            assert!(sleepers.start_search(1));
            sleepers.announce(index, SleepPlace::Parker, true);
        }
        assert_eq!(sleepers.pop(), parked(2));
        assert_eq!(sleepers.pop(), None, "somebody searches");
        assert!(sleepers.stop_search());
        assert_eq!(sleepers.pop(), parked(1));
        assert_eq!(sleepers.pop_all().collect::<Vec<_>>(), [parked(0).unwrap()]);
        assert_eq!(sleepers.pop_all().next(), None);
        assert!(!sleepers.stop_search());
        assert!(sleepers.stop_search());
        assert_eq!(sleepers.sleeping(), 0);
    }

    #[test]
    fn the_worker_in_the_seat_comes_before_those_that_are_parked_and_may_leave_by_itself() {
        let sleepers = Sleepers::new(3);
        let seated = |index| Some(Popped { index, place: SleepPlace::Seat });
        sleepers.announce(0, SleepPlace::Seat, false);
        sleepers.announce(1, SleepPlace::Parker, false);
        assert_eq!((sleepers.sleeping(), sleepers.is_seat_taken()), (2, true));
        assert!(sleepers.leave_seat(0));
        assert!(!sleepers.leave_seat(0), "it has left");
        assert_eq!((sleepers.sleeping(), sleepers.searching()), (1, 1));
        sleepers.announce(0, SleepPlace::Seat, true);
        assert_eq!(sleepers.pop(), seated(0));
        assert!(!sleepers.leave_seat(0), "it was popped");
        assert_eq!(sleepers.pop_any(), parked(1));
        sleepers.announce(2, SleepPlace::Parker, true);
        sleepers.announce(1, SleepPlace::Seat, true);
        let all = [seated(1).unwrap(), parked(2).unwrap()];
        assert_eq!(sleepers.pop_all().collect::<Vec<_>>(), all);
    }

    #[test]
    fn searchers_are_limited() {
        let sleepers = Sleepers::new(2);
        assert!(sleepers.start_search(1));
        assert!(!sleepers.start_search(1));
    }
}
