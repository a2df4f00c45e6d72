//! `CancellationToken`: cancelling goes down the tree and not up, whichever tokens are dropped when.
#![cfg(not(loom))]

mod support;

use std::future::{pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::{Counter, LONG, OnDrop, OnWake, panic_message, poll, poll_with};
use windlass_sync::{CancellationToken, block_on};

#[test]
fn cancelling_goes_down_and_not_up() {
    let root = CancellationToken::new();
    let middle = root.child_token();
    let leaf = middle.child_token();
    let sibling = root.child_token();
    middle.cancel();
    assert!(middle.is_cancelled() && leaf.is_cancelled());
    assert!(!root.is_cancelled() && !sibling.is_cancelled());
    root.cancel();
    root.cancel();
    assert!(root.is_cancelled() && sibling.is_cancelled());
}

#[test]
fn a_child_of_a_cancelled_token_is_cancelled() {
    let token = CancellationToken::new();
    token.cancel();
    assert!(token.child_token().child_token().is_cancelled());
}

#[test]
fn clones_are_the_same_token() {
    let token = CancellationToken::new();
    let clone = token.clone();
    let child = clone.child_token();
    drop(clone);
    token.cancel();
    assert!(child.is_cancelled());
}

#[test]
fn the_grandparent_reaches_past_dropped_tokens() {
    let root = CancellationToken::new();
    let mut token = root.child_token();
    let mut siblings = Vec::new();
    for _ in 0..10 {
        siblings.push(token.child_token());
        token = token.child_token();
    }
    root.cancel();
    assert!(token.is_cancelled());
    assert!(siblings.iter().all(CancellationToken::is_cancelled));
}

#[test]
fn the_children_of_a_dropped_root_live_on() {
    let root = CancellationToken::new();
    let children: Vec<_> = (0..5).map(|_| root.child_token()).collect();
    let grandchild = children[2].child_token();
    drop(root);
    children[2].cancel();
    assert!(grandchild.is_cancelled());
    for (index, child) in children.iter().enumerate() {
        assert_eq!(child.is_cancelled(), index == 2);
    }
    drop(children);
    assert!(grandchild.is_cancelled());
}

/// Drops the tokens of a small tree in every order, cancelling the root at every point.
#[test]
fn every_order_of_dropping() {
    fn permutations(items: Vec<usize>) -> Vec<Vec<usize>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (index, &item) in items.iter().enumerate() {
            let mut rest = items.clone();
            rest.remove(index);
            for mut tail in permutations(rest) {
                tail.push(item);
                all.push(tail);
            }
        }
        all
    }
    for order in permutations((0..5).collect()) {
        for cancel_at in 0..=5 {
            let root = CancellationToken::new();
            let a = root.child_token();
            let b = root.child_token();
            let aa = a.child_token();
            let ab = a.child_token();
            let aaa = aa.child_token();
            let mut tokens = [a, b, aa, ab, aaa].map(Some);
            for (step, &index) in order.iter().enumerate() {
                if step == cancel_at {
                    root.cancel();
                }
                let live = tokens.iter().flatten();
                assert!({ live }.all(|token| token.is_cancelled() == (step >= cancel_at)));
                tokens[index] = None;
            }
        }
    }
}

#[test]
fn deep_chains_need_no_stack() {
    const DEPTH: usize = 100_000;
    let chain = || {
        let root = CancellationToken::new();
        let mut chain = vec![root];
        for depth in 0..DEPTH {
            chain.push(chain[depth].child_token());
        }
        chain
    };
    let cancelled = chain();
    cancelled[0].cancel();
    assert!(cancelled.iter().all(CancellationToken::is_cancelled));
    drop(cancelled);
    // From the root down, from the leaf up, and with only the ends left.
    drop(chain());
    let mut upwards = chain();
    while upwards.pop().is_some() {}
    let mut ends = chain();
    ends.drain(1..DEPTH);
    ends[0].cancel();
    assert!(ends[1].is_cancelled());
}

#[test]
fn wide_trees_are_cancelled_at_once() {
    let root = CancellationToken::new();
    let children: Vec<_> = (0..1_000).map(|_| root.child_token()).collect();
    let (counter, waker) = Counter::new();
    let mut waits: Vec<_> = children.iter().map(|child| Box::pin(child.cancelled())).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    root.cancel();
    assert_eq!(counter.count(), 1_000);
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

#[test]
fn waits_of_all_kinds() {
    let token = CancellationToken::new();
    assert!(!token.wait_timeout(Duration::from_millis(1)));
    let mut dropped = Box::pin(token.cancelled());
    assert!(poll(dropped.as_mut()).is_pending());
    drop(dropped);
    let mut owned = Box::pin(token.child_token().cancelled_owned());
    assert!(poll(owned.as_mut()).is_pending());
    thread::scope(|scope| {
        scope.spawn(|| token.wait_blocking());
        scope.spawn(|| assert!(token.child_token().wait_timeout(LONG)));
        scope.spawn(|| block_on(token.cancelled()));
        scope.spawn(|| block_on(token.clone().cancelled_owned()));
        token.cancel();
    });
    assert!(poll(owned.as_mut()).is_ready());
    assert!(poll(pin!(token.cancelled())).is_ready());
}

#[test]
fn whoever_waited_finds_the_ancestors_cancelled() {
    for _ in 0..500 {
        let root = CancellationToken::new();
        let middle = root.child_token();
        let leaf = middle.child_token();
        thread::scope(|scope| {
            scope.spawn(|| {
                leaf.wait_blocking();
                assert!(middle.is_cancelled() && root.is_cancelled());
            });
            root.cancel();
        });
    }
}

#[test]
fn the_guard_cancels_unless_disarmed() {
    let token = CancellationToken::new();
    let guard = token.child_token().drop_guard();
    let child = guard.disarm();
    assert!(!child.is_cancelled());
    let guard = child.clone().drop_guard();
    drop(guard);
    assert!(child.is_cancelled() && !token.is_cancelled());

    let kept = token.drop_guard_ref().disarm();
    assert!(!kept.is_cancelled());
    drop(token.drop_guard_ref());
    assert!(token.is_cancelled());
}

#[test]
fn run_until_cancelled_drops_what_it_ran() {
    let token = CancellationToken::new();
    assert_eq!(block_on(token.run_until_cancelled(ready(1))), Some(1));
    let dropped = Arc::new(());
    let mut run = Box::pin(token.run_until_cancelled({
        let dropped = dropped.clone();
        async move {
            let _held = dropped;
            pending::<()>().await;
        }
    }));
    let (counter, waker) = Counter::new();
    assert!(poll_with(run.as_mut(), &waker).is_pending());
    token.cancel();
    assert_eq!(counter.count(), 1);
    assert!(poll(run.as_mut()) == std::task::Poll::Ready(None));
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(block_on(token.run_until_cancelled(ready(1))), None, "the token comes first");
}

#[test]
fn panicking_wakers_do_not_stop_the_cancelling() {
    let root = CancellationToken::new();
    let (a, b) = (root.child_token(), root.child_token());
    let (mut first, mut second) = (pin!(a.cancelled()), pin!(b.cancelled()));
    let (counter, counting) = Counter::new();
    assert!(poll_with(first.as_mut(), &OnWake::waker(|| panic!("waker"))).is_pending());
    assert!(poll_with(second.as_mut(), &counting).is_pending());
    assert_eq!(panic_message(|| root.cancel()), "waker");
    assert_eq!(counter.count(), 1);
    assert!(root.is_cancelled() && a.is_cancelled() && b.is_cancelled());
    assert!(root.child_token().is_cancelled());
}

#[test]
fn wakers_may_use_the_tree() {
    let root = CancellationToken::new();
    let child = root.child_token();
    let mut wait = Box::pin(child.clone().cancelled_owned());
    let on_wake = OnWake::waker({
        let (root, child) = (root.clone(), child.clone());
        move || {
            child.cancel();
            assert!(root.child_token().is_cancelled());
            root.wait_blocking();
        }
    });
    assert!(poll_with(wait.as_mut(), &on_wake).is_pending());
    let mut other = Box::pin(child.clone().cancelled_owned());
    let on_drop = OnDrop::waker({
        let root = root.clone();
        move || drop(root.child_token())
    });
    assert!(poll_with(other.as_mut(), &on_drop).is_pending());
    drop(on_drop);
    drop(other);
    root.cancel();
    assert!(poll(wait.as_mut()).is_ready());
}

/// Cancels, creates and drops tokens of one tree on several threads. No thread hangs, and in the
/// end all descendants of a cancelled root are cancelled.
#[test]
fn many_threads_in_one_tree() {
    for _ in 0..50 {
        let root = CancellationToken::new();
        let cancelled = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut kept = Vec::new();
                    while !root.is_cancelled() {
                        let child = root.child_token();
                        let grandchild = child.child_token();
                        if kept.len() % 2 == 0 {
                            child.cancel();
                            assert!(grandchild.is_cancelled());
                        }
                        drop(child);
                        kept.push(grandchild);
                        if kept.len() > 100 {
                            kept.drain(..50);
                        }
                    }
                    for token in kept {
                        assert!(token.wait_timeout(LONG));
                        cancelled.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            scope.spawn(|| {
                thread::yield_now();
                root.cancel();
            });
        });
        assert!(root.is_cancelled());
    }
}
