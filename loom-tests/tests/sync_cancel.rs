//! The cancellation tree: `cancel` reaches all descendants, and does not access nodes that are gone.
#![cfg(loom)]

use std::future::Future;
use std::task::{Context, Waker};

use loom::thread;
use windlass_sync::CancellationToken;

/// A child is dropped while its parent is cancelled: the sibling is cancelled, and loom sees no
/// access to the child that was dropped.
///
/// Fails when `Node::drop` or `Node::cancel` does not take the tree's lock (loom reports the race).
#[test]
fn parent_cancel_races_with_child_drop() {
    loom::model(|| {
        let parent = CancellationToken::new();
        let leaving = parent.child_token();
        let staying = parent.child_token();
        let thread = thread::spawn(move || drop(leaving));
        parent.cancel();
        assert!(staying.is_cancelled());
        thread.join().unwrap();
    });
}

/// A token is dropped while its parent is cancelled: its child is cancelled as well.
///
/// Fails when `Node::drop` does not leave its children to its parent (the assertion).
#[test]
fn root_cancel_races_with_drop_in_the_middle() {
    loom::model(|| {
        let root = CancellationToken::new();
        let middle = root.child_token();
        let leaf = middle.child_token();
        let thread = thread::spawn(move || drop(middle));
        root.cancel();
        assert!(leaf.is_cancelled());
        thread.join().unwrap();
    });
}

/// The parent and the child are dropped at the same time.
///
/// Fails when `Node::drop` does not take the tree's lock (loom reports the race).
#[test]
fn parent_drop_races_with_child_drop() {
    loom::model(|| {
        let parent = CancellationToken::new();
        let child = parent.child_token();
        let sibling = parent.child_token();
        let thread = thread::spawn(move || drop(child));
        drop(parent);
        thread.join().unwrap();
        sibling.cancel();
        assert!(sibling.is_cancelled());
    });
}

/// A child that is created while its parent is cancelled is cancelled.
///
/// Fails when `Node::child` checks the parent before it takes the lock, and not under it.
#[test]
fn cancel_races_with_child_token() {
    loom::model(|| {
        let parent = CancellationToken::new();
        let thread = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        let child = parent.child_token();
        thread.join().unwrap();
        assert!(child.is_cancelled());
    });
}

/// A waiter for the child finds the parent cancelled.
///
/// Fails when `cancel` sets the events from the leaves up (assertion), and when it does not wake the waiter (deadlock).
#[test]
fn parent_cancel_races_with_wait() {
    loom::model(|| {
        let parent = CancellationToken::new();
        let child = parent.child_token();
        let thread = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        child.wait_blocking();
        assert!(parent.is_cancelled());
        thread.join().unwrap();
    });
}

/// When `cancel` returns, all descendants are cancelled, even if another thread was the first to cancel.
///
/// Fails when `cancel` of a cancelled token returns without waiting for the lock.
#[test]
fn cancel_races_with_cancel_above() {
    loom::model(|| {
        let root = CancellationToken::new();
        let middle = root.child_token();
        let leaf = middle.child_token();
        let thread = thread::spawn(move || root.cancel());
        middle.cancel();
        assert!(leaf.is_cancelled());
        thread.join().unwrap();
    });
}

/// A wait that owns the last clone of its token is dropped while the parent is cancelled.
///
/// Fails when `Node::drop` does not take the tree's lock (loom reports the race).
#[test]
fn parent_cancel_races_with_drop_of_an_owned_wait() {
    loom::model(|| {
        let parent = CancellationToken::new();
        let mut wait = Box::pin(parent.child_token().cancelled_owned());
        let _ = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let thread = thread::spawn(move || drop(wait));
        parent.cancel();
        thread.join().unwrap();
    });
}
