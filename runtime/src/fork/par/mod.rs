//! Data parallelism on slices and ranges, in the few forms that servers need most.
//!
//! Everything here is built on [`join`](crate::join): it may be called wherever `join` may, and what its documentation
//! says about locks, calls that block and async code holds here too. The work is halved until there is enough for all
//! workers. It is divided further where thieves take it, and where there are many items, so that a computation over
//! them can be interrupted for tasks that wait.
//!
//! # These functions, or rayon
//!
//! Use these for slices and ranges in new code: they need no other crate, a thread outside the runtime takes part in
//! its own call, and a loop over many items is interrupted for tasks that wait.
//!
//! Use [rayon](https://docs.rs/rayon) if the program already has it, or needs more: chains of adapters, parallel
//! iterators over maps and strings, stable sorts. With this repository's `rayon-core` in place of its own, its
//! iterators run on the workers of this runtime, and tasks that wait are polled between two of their pieces.
//! `docs/rayon.md` says how. Both may be mixed.
//!
//! # Panics
//!
//! If a closure panics, the panic is passed on after all calls that had begun have ended; the remaining items may be
//! left out. Slices being sorted keep all of their items, in some order.
//!
//! # Examples
//!
//! ```
//! use windlass::par;
//!
//! let mut numbers: Vec<u64> = (0..10_000).rev().collect();
//! par::for_each_mut(&mut numbers, |x| *x *= 2);
//! par::sort_unstable(&mut numbers);
//! let sum = par::map_reduce(&numbers, |&x| x, |a, b| a + b);
//! assert_eq!(sum, Some(99_990_000));
//! let texts = par::map_collect(0..4_usize, |i| i.to_string());
//! assert_eq!(texts, ["0", "1", "2", "3"]);
//! ```

// Each function knows its caller, down to the first `join`: on a thread that is not a worker, that is the origin of the
// task, which a shutdown may have to name.

mod collect;
mod items;
mod sort;
mod splitter;

pub use collect::map_collect;
pub use items::Items;
pub use sort::{sort_unstable, sort_unstable_by, sort_unstable_by_key};

use items::parts::Parts;
use splitter::Splitter;

use super::join::join;

/// Calls `f` with each item: those of `&[T]`, `&mut [T]`, or a range of integers.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let sum = AtomicU64::new(0);
/// windlass::par::for_each(0..1000_u64, |i| {
///     sum.fetch_add(i, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
#[track_caller]
pub fn for_each<I, F>(items: I, f: F)
where
    I: Items,
    F: Fn(I::Item) + Sync,
{
    each(items.parts(), &f, Splitter::new());
}

#[track_caller]
fn each<I, F>(items: I, f: &F, mut splitter: Splitter)
where
    I: Parts,
    F: Fn(I::Item) + Sync,
{
    if splitter.split(items.length()) {
        let (left, right) = items.halves();
        join(|| each(left, f, splitter), || each(right, f, splitter));
    } else {
        items.each().for_each(f);
    }
}

/// Calls `f` with each item of a slice, to change it.
///
/// # Examples
///
/// ```
/// let mut numbers = vec![1, 2, 3];
/// windlass::par::for_each_mut(&mut numbers, |number| *number *= 2);
/// assert_eq!(numbers, [2, 4, 6]);
/// ```
#[track_caller]
pub fn for_each_mut<T, F>(items: &mut [T], f: F)
where
    T: Send,
    F: Fn(&mut T) + Sync,
{
    for_each(items, f);
}

/// Calls `f` with the index and the items of each chunk of `size` items; the last may be shorter. Each chunk is one
/// call, however large.
///
/// # Panics
///
/// Panics if `size` is 0, or if `f` panics.
///
/// # Examples
///
/// ```
/// let mut picture = vec![0; 640 * 480];
/// windlass::par::chunks_mut(&mut picture, 640, |y, row| row.fill(y));
/// assert_eq!(picture[640 * 7], 7);
/// ```
#[track_caller]
pub fn chunks_mut<T, F>(items: &mut [T], size: usize, f: F)
where
    T: Send,
    F: Fn(usize, &mut [T]) + Sync,
{
    assert!(size > 0, "chunks of 0 items");
    chunks(items, size, 0, &f);
}

#[track_caller]
fn chunks<T, F>(items: &mut [T], size: usize, first: usize, f: &F)
where
    T: Send,
    F: Fn(usize, &mut [T]) + Sync,
{
    let count = items.len().div_ceil(size);
    if count > 1 {
        // The caller has chosen how much work a chunk is, so each is worth a join.
        let (left, right) = items.split_at_mut(count / 2 * size);
        let middle = first + count / 2;
        join(|| chunks(left, size, first, f), || chunks(right, size, middle, f));
    } else if count == 1 {
        f(first, items);
    }
}

/// Maps each item and reduces the results to one. Returns `None` if there are no items. The order of the items is kept,
/// but not how they are grouped: `reduce` has to be associative.
///
/// # Examples
///
/// ```
/// let words = ["fork", "and", "join"];
/// let longest = windlass::par::map_reduce(&words, |word| word.len(), usize::max);
/// assert_eq!(longest, Some(4));
/// ```
#[track_caller]
pub fn map_reduce<I, R, M, F>(items: I, map: M, reduce: F) -> Option<R>
where
    I: Items,
    R: Send,
    M: Fn(I::Item) -> R + Sync,
    F: Fn(R, R) -> R + Sync,
{
    reduced(items.parts(), &map, &reduce, Splitter::new())
}

#[track_caller]
fn reduced<I, R, M, F>(items: I, map: &M, reduce: &F, mut splitter: Splitter) -> Option<R>
where
    I: Parts,
    R: Send,
    M: Fn(I::Item) -> R + Sync,
    F: Fn(R, R) -> R + Sync,
{
    if !splitter.split(items.length()) {
        return items.each().map(map).reduce(reduce);
    }
    let (left, right) = items.halves();
    let both =
        join(|| reduced(left, map, reduce, splitter), || reduced(right, map, reduce, splitter));
    match both {
        (Some(left), Some(right)) => Some(reduce(left, right)),
        (left, right) => left.or(right),
    }
}
