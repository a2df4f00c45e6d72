//! `par`: every item once, in order where order counts, also with panics in between.

mod util;

use std::cmp::Reverse;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use util::{Count, runtime, text_of, throw};
use windlass::par;

/// Numbers that look random and are the same each time.
fn numbers(count: usize, below: u32) -> Vec<u32> {
    let mut x = 0x2545_f491_u32;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x % below
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn each_item_of_slices_and_ranges_comes_once() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    for count in [0, 1, 2, 3, 100, 5_000, 100_000] {
        let sum = AtomicU64::new(0);
        par::for_each(0..count, |i: u64| {
            sum.fetch_add(i + 1, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), count * (count + 1) / 2);
        let items: Vec<u64> = (1..=count).collect();
        let sum = AtomicU64::new(0);
        par::for_each(&items, |i| {
            sum.fetch_add(*i, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), count * (count + 1) / 2);
    }
    let most = AtomicUsize::new(0);
    par::for_each(i8::MIN..=i8::MAX, |_| {
        most.fetch_add(1, Ordering::Relaxed);
    });
    par::for_each(5..5_i32, |_| unreachable!("empty"));
    #[allow(clippy::reversed_empty_ranges)]
    par::for_each(7..5_i32, |_| unreachable!("empty"));
    assert_eq!(most.into_inner(), 256);
}

#[test]
fn items_are_changed_in_place() {
    let mut items: Vec<usize> = (0..50_000).collect();
    par::for_each_mut(&mut items, |item| *item *= 2);
    assert!(items.iter().enumerate().all(|(i, &item)| item == 2 * i));
}

#[test]
fn chunks_come_with_their_index() {
    let mut items = vec![0; 1003];
    par::chunks_mut(&mut items, 10, |index, chunk| {
        assert_eq!(chunk.len(), if index == 100 { 3 } else { 10 });
        chunk.fill(index);
    });
    assert!(items.iter().enumerate().all(|(i, &item)| item == i / 10));
    par::chunks_mut(&mut [0_u8; 0], 4, |_, _| unreachable!("empty"));
    let refused = panic::catch_unwind(|| par::chunks_mut(&mut [1], 0, |_, _| ()));
    assert!(refused.is_err());
}

#[test]
fn reducing_keeps_the_order() {
    let text = par::map_reduce(0..5000_u32, |i| i.to_string(), |a, b| a + &b);
    assert_eq!(text.unwrap(), (0..5000).map(|i| i.to_string()).collect::<String>());
    assert_eq!(par::map_reduce(&[] as &[u8], |&x| x, |a, _| a), None);
}

#[test]
fn results_are_collected_in_order() {
    for count in [0, 1, 2, 1000, 100_000] {
        let collected = par::map_collect(0..count, |i: usize| Box::new(i));
        assert_eq!(collected.len(), count);
        assert!(collected.iter().enumerate().all(|(i, item)| **item == i));
    }
}

#[test]
fn a_panic_while_collecting_drops_each_result_once() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    for bad in [0, 1, 4_999, 9_999] {
        let (made, dropped) = (Count::new(), Count::new());
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            par::map_collect(0..10_000_usize, |i: usize| {
                if i == bad {
                    throw("bad");
                }
                made.add();
                dropped.on_drop()
            })
        }));
        assert_eq!(text_of(&*caught.err().unwrap()), "bad");
        assert_eq!(made.get(), dropped.get());
    }
}

#[test]
fn sorting_agrees_with_std() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    for count in [0, 1, 2, 100, 5_000, 200_000] {
        for below in [1, 2, 100, u32::MAX] {
            let mut sorted = numbers(count, below);
            let mut expected = sorted.clone();
            expected.sort_unstable();
            par::sort_unstable(&mut sorted);
            assert_eq!(sorted, expected, "{count} below {below}");
            par::sort_unstable(&mut sorted);
            assert_eq!(sorted, expected, "sorted already");
            par::sort_unstable_by(&mut sorted, |a, b| b.cmp(a));
            expected.reverse();
            assert_eq!(sorted, expected, "the other way round");
            par::sort_unstable_by_key(&mut sorted, |&x| Reverse(x));
            assert_eq!(sorted, expected);
        }
    }
}

/// Up and down, which is what bad pivots are chosen from.
#[test]
fn patterns_are_sorted_too() {
    let count = 300_000;
    let pipe: Vec<usize> = (0..count / 2).chain((0..count / 2).rev()).collect();
    let saw: Vec<usize> = (0..count).map(|i| i % 1000).collect();
    for mut items in [pipe, saw] {
        let mut expected = items.clone();
        expected.sort_unstable();
        par::sort_unstable(&mut items);
        assert_eq!(items, expected);
    }
}

#[test]
fn a_comparison_that_panics_loses_no_item() {
    let items = numbers(100_000, u32::MAX);
    let mut sorted = items.clone();
    let left = AtomicUsize::new(500_000);
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        par::sort_unstable_by(&mut sorted, |a, b| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                throw("enough");
            }
            a.cmp(b)
        });
    }));
    assert!(caught.is_err());
    let (mut before, mut after) = (items, sorted);
    before.sort_unstable();
    after.sort_unstable();
    assert_eq!(before, after);
}

/// An order that is none must not hang or lose items; it may panic, as `std`'s does.
#[test]
fn a_comparison_without_order_comes_to_an_end() {
    let mut items = numbers(100_000, u32::MAX);
    let sum: u64 = items.iter().map(|&x| u64::from(x)).sum();
    let toggle = AtomicUsize::new(0);
    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
        par::sort_unstable_by(&mut items, |_, _| {
            [std::cmp::Ordering::Less, std::cmp::Ordering::Greater]
                [toggle.fetch_add(1, Ordering::Relaxed) / 3 % 2]
        });
    }));
    assert_eq!(items.iter().map(|&x| u64::from(x)).sum::<u64>(), sum);
}

/// A task that comes while the only worker partitions is polled before it is through: there are a million and more
/// comparisons left in the first partition.
#[test]
fn tasks_are_polled_in_the_middle_of_a_partition() {
    static COMPARED: AtomicUsize = AtomicUsize::new(0);
    static POLLED_AFTER: AtomicUsize = AtomicUsize::new(usize::MAX);

    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let mut items = numbers(2_000_000, u32::MAX);
    let _entered = runtime.enter();
    let sorting = windlass::compute(move || {
        par::sort_unstable_by(&mut items, |a, b| {
            if COMPARED.fetch_add(1, Ordering::Relaxed) == 100 {
                drop(windlass::spawn(async {
                    POLLED_AFTER.store(COMPARED.load(Ordering::Relaxed), Ordering::Relaxed);
                }));
            }
            a.cmp(b)
        });
        items
    });
    assert!(runtime.block_on(sorting).unwrap().is_sorted());
    let after = POLLED_AFTER.load(Ordering::Relaxed);
    assert!(after < 1_900_000, "polled after {after} comparisons");
}
