//! `map_collect`: results written in place, by the threads that compute them.

use std::mem::MaybeUninit;

use super::items::parts::Parts;
use super::splitter::Splitter;
use super::{Items, join};

/// Maps each item and collects the results, in the order of the items.
///
/// # Panics
///
/// Panics if `f` panics. Results that already exist are dropped.
///
/// # Examples
///
/// ```
/// let lengths = windlass::par::map_collect(&["a", "bc", ""], |text| text.len());
/// assert_eq!(lengths, [1, 2, 0]);
/// ```
#[track_caller]
pub fn map_collect<I, R, F>(items: I, f: F) -> Vec<R>
where
    I: Items,
    R: Send,
    F: Fn(I::Item) -> R + Sync,
{
    let items = items.parts();
    let length = items.length();
    let mut results = Vec::with_capacity(length);
    let filled = fill(items, &mut results.spare_capacity_mut()[..length], &f, Splitter::new());
    assert_eq!(filled.length, length, "each item has its place");
    std::mem::forget(filled);
    // SAFETY: the first `length` places have been filled, and the threads that filled them have let go of them.
    unsafe { results.set_len(length) };
    results
}

#[track_caller]
fn fill<'a, I, R, F>(
    items: I,
    places: &'a mut [MaybeUninit<R>],
    f: &F,
    mut splitter: Splitter,
) -> Filled<'a, R>
where
    I: Parts,
    R: Send,
    F: Fn(I::Item) -> R + Sync,
{
    if !splitter.split(items.length()) {
        let mut filled = Filled { places, length: 0 };
        for item in items.each() {
            filled.places[filled.length].write(f(item));
            filled.length += 1;
        }
        return filled;
    }
    let middle = items.length() / 2;
    let (left, right) = items.halves();
    let whole: *mut [MaybeUninit<R>] = places;
    // SAFETY: from here on, `places` is used only through this pointer. The halves are taken from the pointer too:
    // taking them from the reference that it was made of would end the right to use it again.
    let (first, second) = unsafe { (&mut *whole).split_at_mut(middle) };
    let (first, second) =
        join(|| fill(left, first, f, splitter), || fill(right, second, f, splitter));
    // Neighbours, both full.
    let length = first.length + second.length;
    std::mem::forget((first, second));
    // SAFETY: made of a reference that nobody has used since. The halves are forgotten, so this is again the only
    // reference to the places.
    Filled { places: unsafe { &mut *whole }, length }
}

/// Places of which the first few are filled. If a panic comes before the rest are filled, these are dropped.
struct Filled<'a, R> {
    places: &'a mut [MaybeUninit<R>],
    length: usize,
}

impl<R> Drop for Filled<'_, R> {
    fn drop(&mut self) {
        for place in &mut self.places[..self.length] {
            // SAFETY: filled, and dropped once.
            unsafe { place.assume_init_drop() };
        }
    }
}
