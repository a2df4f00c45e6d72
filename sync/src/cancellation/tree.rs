//! The tree of tokens: which tokens are cancelled together.
//!
//! A node knows its children, but not its parent, and keeps no other node alive. The children of a node form a ring
//! through their `siblings` links, closed by the node's own `children` link. All links of a tree are guarded by one
//! mutex, which its nodes share; a node that loses its ancestors keeps it. So no node has a lock of its own whose order
//! could be wrong, and every operation except `cancel` takes constant time:
//!
//! - A new child is added to the ring behind the others.
//! - A node that is dropped leaves its ring, and its children take its place there: they are now children of their
//!   grandparent. If there is none, they remain as a ring without a parent, which they can only leave.
//! - `cancel` moves the node to a ring on its own stack. Until that ring is empty, it takes out one node, moves the
//!   node's children in, and sets the node's event. There is no recursion and no allocation.
//!
//! A ring contains at most one link that is not a node's `siblings`, and is traversed only from that link. A node that
//! has been cancelled is alone.
//!
//! Lock order: the tree's lock, then the lock of an event's queue. No foreign code runs under either. The wakers are
//! collected, and woken at the end. The whole subtree is cancelled in one critical section, so a child that is created
//! at the same time is either found there or sees that its parent is cancelled.

use std::marker::PhantomPinned;
use std::ptr;

use crate::ManualResetEvent;
use crate::primitives::{Arc, Mutex, UnsafeCell};
use crate::wake_batch::WakeBatch;

/// A link of a ring. A link that is alone points to itself.
struct Link {
    ends: UnsafeCell<Ends>,
}

#[derive(Clone, Copy)]
struct Ends {
    prev: *const Link,
    next: *const Link,
}

impl Link {
    /// Creates a link. Call `isolate` when it has reached its final place.
    fn new() -> Self {
        Self { ends: UnsafeCell::new(Ends { prev: ptr::null(), next: ptr::null() }) }
    }
}

/// Operations on links.
///
/// # Safety
///
/// For each function: the caller holds the tree's lock (or no other thread can reach the links yet). The links passed
/// to it, and all others in their rings, are alive and have been isolated once.
mod ring {
    use super::{Ends, Link};
    use std::ptr;

    unsafe fn ends(link: *const Link) -> Ends {
        // SAFETY: alive, and the lock keeps others away, by the module's contract.
        unsafe { (*link).ends.with(|ends| *ends) }
    }

    unsafe fn connect(prev: *const Link, next: *const Link) {
        // SAFETY: alive, and the lock keeps others away, by the module's contract.
        unsafe {
            (*prev).ends.with_mut(|ends| (*ends).next = next);
            (*next).ends.with_mut(|ends| (*ends).prev = prev);
        }
    }

    /// Makes `link` a ring of its own, and ignores the ring that it was in.
    pub(super) unsafe fn isolate(link: *const Link) {
        // SAFETY: the module's contract.
        unsafe { connect(link, link) };
    }

    /// Takes `link` out of its ring.
    pub(super) unsafe fn leave(link: *const Link) {
        // SAFETY: the module's contract.
        unsafe {
            let Ends { prev, next } = ends(link);
            connect(prev, next);
            isolate(link);
        }
    }

    /// Inserts `link`, which is alone, before `place`. That is the end of the ring if `place` is its beginning.
    pub(super) unsafe fn insert_before(place: *const Link, link: *const Link) {
        // SAFETY: the module's contract.
        unsafe {
            let last = ends(place).prev;
            connect(last, link);
            connect(link, place);
        }
    }

    /// Moves all links of the ring of `head`, except `head` itself, before `place`, which is in another ring.
    pub(super) unsafe fn splice_before(place: *const Link, head: *const Link) {
        // SAFETY: the module's contract.
        unsafe {
            let Ends { prev: last, next: first } = ends(head);
            if ptr::eq(first, head) {
                return;
            }
            isolate(head);
            connect(ends(place).prev, first);
            connect(last, place);
        }
    }

    /// Returns the link after `head`, or `None` if `head` is alone.
    pub(super) unsafe fn first(head: *const Link) -> Option<*const Link> {
        // SAFETY: the module's contract.
        let first = unsafe { ends(head) }.next;
        (!ptr::eq(first, head)).then_some(first)
    }
}

/// The state that the clones of a token share.
// `siblings` comes first, so that a pointer to it is one to the node.
#[repr(C)]
pub(super) struct Node {
    siblings: Link,
    children: Link,
    event: ManualResetEvent,
    tree: Arc<Mutex<()>>,
    // Other threads have pointers to the links, and write to them while the node's drop waits for the lock. So the
    // `&mut self` of the drop must not count as exclusive.
    _pinned: PhantomPinned,
}

// SAFETY: the links are accessed only under the tree's lock, except while the node is created. All other fields are
// `Send` and `Sync`.
unsafe impl Send for Node {}
// SAFETY: as for `Send`.
unsafe impl Sync for Node {}

impl Node {
    /// Creates a node without a parent.
    pub(super) fn root() -> Arc<Self> {
        Self::alone(Arc::new(Mutex::new(())))
    }

    fn alone(tree: Arc<Mutex<()>>) -> Arc<Self> {
        let event = ManualResetEvent::new(false);
        let node = Arc::new(Self {
            siblings: Link::new(),
            children: Link::new(),
            event,
            tree,
            _pinned: PhantomPinned,
        });
        // SAFETY: the links have reached their final place on the heap, and no other thread can reach them yet.
        unsafe {
            ring::isolate(node.siblings());
            ring::isolate(node.children());
        }
        node
    }

    /// Creates a node that is cancelled together with `self`, or at once if `self` is already cancelled.
    pub(super) fn child(&self) -> Arc<Self> {
        let child = Self::alone(self.tree.clone());
        let tree = self.tree.lock();
        if self.event.is_set() {
            child.event.set();
        } else {
            // SAFETY: the lock is held. Both nodes are alive, and so are all links in the ring of
            // `self.children()`, because a node leaves its ring before it is freed.
            unsafe { ring::insert_before(self.children(), child.siblings()) };
        }
        drop(tree);
        child
    }

    /// Cancels the node and all its descendants.
    pub(super) fn cancel(&self) {
        let mut batch = WakeBatch::new();
        let pending = Link::new();
        let head = ptr::from_ref(&pending);
        let tree = self.tree.lock();
        // SAFETY: the lock is held until `pending` is empty again, so no other thread sees it. All links in a ring are
        // alive, because a node leaves its ring, under the lock, before it is freed. That includes a node whose last
        // handle was dropped, but whose drop still waits for the lock. All links in the ring of `pending` are the
        // `siblings` of a node.
        unsafe {
            ring::isolate(head);
            ring::leave(self.siblings());
            ring::insert_before(head, self.siblings());
            while let Some(link) = ring::first(head) {
                ring::leave(link);
                let node = &*link.cast::<Node>();
                ring::splice_before(head, node.children());
                node.event.set_into(&mut batch);
            }
        }
        drop(tree);
        batch.wake_all();
    }

    pub(super) fn event(&self) -> &ManualResetEvent {
        &self.event
    }

    /// Returns a pointer to `siblings`, made from a pointer to the node, so that it can be cast back.
    fn siblings(&self) -> *const Link {
        ptr::from_ref(self).cast()
    }

    fn children(&self) -> *const Link {
        ptr::from_ref(&self.children)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let tree = self.tree.lock();
        // SAFETY: the lock is held; all links in a ring with this node are alive, as in `cancel`.
        unsafe {
            ring::splice_before(self.siblings(), self.children());
            ring::leave(self.siblings());
        }
        drop(tree);
    }
}
