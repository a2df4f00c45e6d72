//! Items that can be divided in two: slices and ranges.

use std::ops::{Range, RangeInclusive};

use parts::Parts;

/// Items that [`par`](super) can work on: `&[T]`, `&mut [T]`, references to vectors and arrays, and ranges of integers.
/// Not meant to be implemented elsewhere.
pub trait Items {
    /// The items that closures get.
    type Item;

    #[doc(hidden)]
    type Parts: Parts<Item = Self::Item>;

    #[doc(hidden)]
    fn parts(self) -> Self::Parts;
}

pub(super) mod parts {
    /// Items that can be divided.
    pub trait Parts: Send + Sized {
        /// The items that closures get.
        type Item;

        /// Returns the number of items.
        fn length(&self) -> usize;

        /// Returns the first half and the rest.
        fn halves(self) -> (Self, Self);

        /// Returns an iterator over the items.
        fn each(self) -> impl Iterator<Item = Self::Item>;
    }
}

impl<'a, T: Sync> Parts for &'a [T] {
    type Item = &'a T;

    fn length(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        self.split_at(self.len() / 2)
    }

    fn each(self) -> impl Iterator<Item = &'a T> {
        self.iter()
    }
}

impl<'a, T: Send> Parts for &'a mut [T] {
    type Item = &'a mut T;

    fn length(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        let middle = self.len() / 2;
        self.split_at_mut(middle)
    }

    fn each(self) -> impl Iterator<Item = &'a mut T> {
        self.iter_mut()
    }
}

macro_rules! items {
    ($([$($generics:tt)*] $items:ty => $parts:ty, $item:ty;)+) => {$(
        impl<'a, $($generics)*> Items for $items {
            type Item = $item;
            type Parts = $parts;

            fn parts(self) -> $parts {
                self
            }
        }
    )+};
}

items! {
    [T: Sync] &'a [T] => &'a [T], &'a T;
    [T: Sync] &'a Vec<T> => &'a [T], &'a T;
    [T: Sync, const N: usize] &'a [T; N] => &'a [T], &'a T;
    [T: Send] &'a mut [T] => &'a mut [T], &'a mut T;
    [T: Send] &'a mut Vec<T> => &'a mut [T], &'a mut T;
    [T: Send, const N: usize] &'a mut [T; N] => &'a mut [T], &'a mut T;
}

/// A range of integers, as its start and its length: the length of `i64::MIN..i64::MAX` does not fit an `i64`.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Span<T> {
    start: T,
    length: usize,
}

macro_rules! ranges {
    ($($int:ident)+) => {$(
        impl Parts for Span<$int> {
            type Item = $int;

            fn length(&self) -> usize {
                self.length
            }

            fn halves(self) -> (Self, Self) {
                let middle = self.length / 2;
                let left = Span { start: self.start, length: middle };
                // Within the range, because the length is part of it.
                let start = self.start.wrapping_add(middle as $int);
                (left, Span { start, length: self.length - middle })
            }

            fn each(self) -> impl Iterator<Item = $int> {
                (0..self.length).map(move |i| self.start.wrapping_add(i as $int))
            }
        }

        impl Items for Range<$int> {
            type Item = $int;
            type Parts = Span<$int>;

            fn parts(self) -> Span<$int> {
                let length = if self.start < self.end {
                    usize::try_from(self.end as i128 - self.start as i128)
                } else {
                    Ok(0)
                };
                let length = length.expect("a range of more items than a usize can count");
                Span { start: self.start, length }
            }
        }

        impl Items for RangeInclusive<$int> {
            type Item = $int;
            type Parts = Span<$int>;

            fn parts(self) -> Span<$int> {
                let (start, end) = (*self.start(), *self.end());
                let length = if self.is_empty() {
                    Ok(0)
                } else {
                    usize::try_from(end as i128 - start as i128 + 1)
                };
                let length = length.expect("a range of more items than a usize can count");
                Span { start, length }
            }
        }
    )+};
}

ranges! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }
