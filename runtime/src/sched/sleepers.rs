//! Who sleeps and how many search, in one word.
//!
//! The sleepers form a stack (the last to fall asleep is woken first: its cache is warmest). The
//! word holds the top of the stack, the number of workers on it, the number that search for work,
//! and a tag that changes with every push, so that a stale pop fails. Links are kept beside it.
//!
//! Only whoever pops a worker off the stack wakes it, and it is popped *as a searcher*: there is no
//! moment at which a worker is on its way out of sleep and not counted. A sleeper never takes
//! itself off the stack. See `README.md` in this folder for the handshake and why no wake-up is
//! lost.

use crate::primitives::{AtomicU32, AtomicU64, Ordering};

/// The word, taken apart.
///
/// ```text
///   63..36 tag | 35..24 sleeping | 23..12 searching | 11..0 top + 1
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    tag: u32,
    sleeping: u16,
    searching: u16,
    /// Index of the last to fall asleep plus one; zero if nobody sleeps.
    top: u16,
}

/// Bits of each count.
const COUNT: u32 = 12;
const COUNT_MASK: u64 = (1 << COUNT) - 1;

/// The most workers, spares included, that the word can count.
pub(crate) const MOST_WORKERS: usize = COUNT_MASK as usize - 1;

impl Word {
    fn unpack(bits: u64) -> Self {
        let count = |place: u32| (bits >> (place * COUNT) & COUNT_MASK) as u16;
        Self {
            tag: (bits >> (3 * COUNT)) as u32,
            sleeping: count(2),
            searching: count(1),
            top: count(0),
        }
    }

    fn pack(self) -> u64 {
        // Shifting drops the tag's upper bits: it wraps.
        u64::from(self.tag) << (3 * COUNT)
            | u64::from(self.sleeping) << (2 * COUNT)
            | u64::from(self.searching) << COUNT
            | u64::from(self.top)
    }

    fn top(self) -> Option<usize> {
        usize::from(self.top).checked_sub(1)
    }
}

/// The sleepers and searchers of one runtime.
pub(crate) struct Sleepers {
    word: AtomicU64,
    /// For a worker on the stack: what `top` was before it. Written by the worker before it
    /// pushes itself, so never while it is on the stack.
    below: Box<[AtomicU32]>,
}

impl Sleepers {
    /// Everybody awake, nobody searching.
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

    /// A searcher has found work (or leaves). True if it was the last: then it must look whether
    /// there is more, after a fence.
    #[must_use]
    pub(crate) fn stop_search(&self) -> bool {
        let before = self.update(|word| Some(Word { searching: word.searching - 1, ..word }));
        before.is_some_and(|word| word.searching == 1)
    }

    /// Worker `index` announces that it sleeps from now on, and stops searching if it did. After a
    /// fence it must look once more, and then park until it is popped.
    pub(crate) fn announce(&self, index: usize, searching: bool) {
        self.update(|word| {
            // Relaxed: the compare-exchange that publishes the worker publishes its link.
            self.below[index].store(u32::from(word.top), Ordering::Relaxed);
            Some(Word {
                tag: word.tag.wrapping_add(1),
                sleeping: word.sleeping + 1,
                searching: word.searching - u16::from(searching),
                top: index as u16 + 1,
            })
        });
    }

    /// Takes the whole stack, as searchers, in one step: those that come back while the caller
    /// still wakes the others are not woken again.
    pub(crate) fn pop_all(&self) -> impl Iterator<Item = usize> + '_ {
        let before = self.update(|word| {
            (word.top != 0).then(|| Word {
                sleeping: 0,
                searching: word.searching + word.sleeping,
                top: 0,
                ..word
            })
        });
        let mut next = before.and_then(Word::top);
        std::iter::from_fn(move || {
            let index = next?;
            // Relaxed as in `pop`. Read before the caller wakes the worker, which may come back and
            // write it.
            next = (self.below[index].load(Ordering::Relaxed) as usize).checked_sub(1);
            Some(index)
        })
    }

    /// Takes one sleeper off the stack, as a searcher, unless somebody searches already. The
    /// caller wakes it.
    #[must_use]
    pub(crate) fn pop(&self) -> Option<usize> {
        self.pop_if(|word| word.searching == 0)
    }

    /// Takes one sleeper off the stack, as a searcher, whoever else searches.
    #[must_use]
    pub(crate) fn pop_any(&self) -> Option<usize> {
        self.pop_if(|_| true)
    }

    fn pop_if(&self, wanted: impl Fn(Word) -> bool) -> Option<usize> {
        self.update(|word| {
            let top = word.top().filter(|_| wanted(word))?;
            // Relaxed: the Acquire load of the word that named `top` made its link visible. If the
            // worker has been popped and has come back since, the tag has changed and the exchange
            // fails.
            let below = self.below[top].load(Ordering::Relaxed);
            Some(Word {
                sleeping: word.sleeping - 1,
                searching: word.searching + 1,
                top: below as u16,
                ..word
            })
        })
        .and_then(Word::top)
    }

    /// True if a push would wake somebody. A hint, except after a fence.
    pub(crate) fn would_wake(&self) -> bool {
        let word = self.load();
        word.searching == 0 && word.top != 0
    }

    /// True if nobody sleeps and nobody searches.
    pub(crate) fn all_busy(&self) -> bool {
        let word = self.load();
        word.searching == 0 && word.top == 0
    }

    /// How many sleep at this moment.
    pub(crate) fn sleeping(&self) -> usize {
        usize::from(self.load().sleeping)
    }

    /// How many search at this moment.
    pub(crate) fn searching(&self) -> usize {
        usize::from(self.load().searching)
    }

    /// How many sleep, by a read-modify-write. Whoever is popped after this sees what the caller
    /// did before it: the pop's Acquire pairs with this Release.
    pub(crate) fn sleeping_settled(&self) -> usize {
        usize::from(Word::unpack(self.word.fetch_or(0, Ordering::AcqRel)).sleeping)
    }

    /// Acquire pairs with the Release of every update, `sleeping_settled` above all.
    fn load(&self) -> Word {
        Word::unpack(self.word.load(Ordering::Acquire))
    }

    /// Applies a transition; gives the word before it, or `None` if it was declined.
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
        let word = Word { tag: 0xabc_def1, sleeping: 7, searching: 3, top: 0xfff };
        assert_eq!(Word::unpack(word.pack()), word);
    }

    #[test]
    fn the_last_to_sleep_is_woken_first_and_as_a_searcher() {
        let sleepers = Sleepers::new(3);
        for index in 0..3 {
            assert!(sleepers.start_search(1));
            sleepers.announce(index, true);
        }
        assert_eq!(sleepers.pop(), Some(2));
        assert_eq!(sleepers.pop(), None, "somebody searches");
        assert!(sleepers.stop_search());
        assert_eq!(sleepers.pop(), Some(1));
        assert_eq!(sleepers.pop_all().collect::<Vec<_>>(), [0]);
        assert_eq!(sleepers.pop_all().next(), None);
        assert!(!sleepers.stop_search());
        assert!(sleepers.stop_search());
        assert_eq!(sleepers.sleeping(), 0);
    }

    #[test]
    fn searchers_are_limited() {
        let sleepers = Sleepers::new(2);
        assert!(sleepers.start_search(1));
        assert!(!sleepers.start_search(1));
    }
}
