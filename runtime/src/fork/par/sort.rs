//! Sorting slices: quicksort down to pieces that `std` sorts well by itself.
//!
//! A slice is partitioned around a pivot and its parts are sorted by a `join`. Items move by swaps only,
//! so that a comparison may panic at any time. Where pivots are bad again and again, `std`'s sort takes
//! over, which is never quadratic.

use std::cmp::Ordering;

use super::join;
use crate::context;
use crate::fork::policy::{PARTITION_BLOCK, PIECES_PER_WORKER, SORT_PIECE};
use crate::fork::split::split_here;

/// Sorts a slice, without keeping the order of equal items. Like `slice::sort_unstable`, but on all workers.
///
/// # Panics
///
/// Panics if a comparison panics, or if `T`'s order is not total. The slice then has all of its items, in some order.
///
/// # Examples
///
/// ```
/// let mut numbers = vec![3, 1, 2];
/// windlass::par::sort_unstable(&mut numbers);
/// assert_eq!(numbers, [1, 2, 3]);
/// ```
#[track_caller]
pub fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    sort(items, &T::lt, &T::cmp);
}

/// Like [`sort_unstable`], but with a comparison function.
///
/// # Panics
///
/// Panics where `sort_unstable` does.
///
/// # Examples
///
/// ```
/// let mut numbers = vec![3.0, 1.0, 2.0];
/// windlass::par::sort_unstable_by(&mut numbers, f64::total_cmp);
/// assert_eq!(numbers, [1.0, 2.0, 3.0]);
/// ```
#[track_caller]
pub fn sort_unstable_by<T, F>(items: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    sort(items, &|a, b| compare(a, b) == Ordering::Less, &compare);
}

/// Like [`sort_unstable`], but by a key that is computed for each comparison.
///
/// # Panics
///
/// Panics where `sort_unstable` does, and if `key` panics.
///
/// # Examples
///
/// ```
/// let mut words = vec!["three", "a", "to"];
/// windlass::par::sort_unstable_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["a", "to", "three"]);
/// ```
#[track_caller]
pub fn sort_unstable_by_key<T, K, F>(items: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    sort_unstable_by(items, |a, b| key(a).cmp(&key(b)));
}

#[track_caller]
fn sort<T: Send>(
    items: &mut [T],
    less: &(impl Fn(&T, &T) -> bool + Sync),
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let workers = context::with_forker(|worker| worker.map_or(2, |w| w.pool().config.workers));
    let piece = (items.len() / (workers * PIECES_PER_WORKER)).clamp(SORT_PIECE.0, SORT_PIECE.1);
    // Twice the depth of a sort whose pivots are all in the middle.
    let depth = 2 * items.len().checked_ilog2().unwrap_or(0);
    recurse(items, less, compare, piece, depth);
}

#[track_caller]
fn recurse<T: Send>(
    items: &mut [T],
    less: &(impl Fn(&T, &T) -> bool + Sync),
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    piece: usize,
    depth: u32,
) {
    if items.len() <= piece || depth == 0 {
        return items.sort_unstable_by(compare);
    }
    choose_pivot(items, less);
    let (pivot, rest) = items.split_first_mut().expect("longer than a piece");
    let middle = partition(rest, |item| less(item, pivot));
    // The pivot is among the smallest items. Puts aside what equals it, because there may be a lot.
    let few = middle < rest.len() / 8;
    let equal = if few { partition(&mut rest[middle..], |item| !less(pivot, item)) } else { 0 };
    items.swap(0, middle);
    let (left, right) = items.split_at_mut(middle);
    let right = &mut right[1 + equal..];
    join(
        || recurse(left, less, compare, piece, depth - 1),
        || recurse(right, less, compare, piece, depth - 1),
    );
}

/// Moves the items for which `first` holds to the front. Returns their number.
fn partition<T>(items: &mut [T], first: impl Fn(&T) -> bool) -> usize {
    let (mut count, mut done) = (0, 0);
    while done < items.len() {
        let end = items.len().min(done + PARTITION_BLOCK);
        for index in done..end {
            // Without a branch that depends on the outcome.
            let belongs = first(&items[index]);
            items.swap(count, index);
            count += usize::from(belongs);
        }
        done = end;
        // The first partitions of a large slice take milliseconds, and there is nothing to join yet.
        split_here();
    }
    count
}

/// Brings an item that is close to the median to the front: the median of 3 times 3 times 3, spread over the slice.
fn choose_pivot<T>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    let length = items.len();
    let median = |a: usize, b: usize, c: usize| {
        let before = |x: usize, y: usize| less(&items[x], &items[y]);
        let (low, high) = if before(b, a) { (b, a) } else { (a, b) };
        if before(c, low) {
            low
        } else if before(high, c) {
            high
        } else {
            c
        }
    };
    let of_nine = |start: usize| {
        let step = length / 32;
        let of_three = |at: usize| median(at, at + step, at + 2 * step);
        median(of_three(start), of_three(start + 3 * step), of_three(start + 6 * step))
    };
    let third = length / 3;
    let pivot = median(of_nine(0), of_nine(third), of_nine(2 * third));
    items.swap(0, pivot);
}
