//! How tokens hang together: who is cancelled along with whom.
//!
//! A node knows its children, and nothing else: not its parent, and it keeps nobody alive. The
//! children of a node form a ring through their `siblings` links, closed by the node's own
//! `children` link. All links of a tree are guarded by one mutex, which its nodes share; a node
//! that loses its ancestors keeps it. So there is no order among node locks to get wrong, and
//! every operation but `cancel` takes constant time:
//!
//! - a new child is linked in behind the others;
//! - a node that is dropped leaves its ring, and its children take its place there: they now hang
//!   below their grandparent. If there is none, they are left as a ring that belongs to nobody,
//!   which only ever serves to be left;
//! - `cancel` moves the node to a ring on its own stack and then, until that ring is empty, takes
//!   one node out, moves its children in, and sets its event. No recursion, no allocation.
//!
//! A ring never holds more than one link that is not a node's `siblings`, and only those who
//! start from that one walk along it. A node that has been cancelled is alone.
//!
//! Locks: the tree's, then an event's queue. No foreign code runs under either; the wakers are
//! collected and woken at the end. The whole subtree is cancelled in one critical section, so a
//! child that is made at the same time is either found there or sees its parent cancelled.

use std::marker::PhantomPinned;
use std::ptr;

use crate::ManualResetEvent;
use crate::primitives::{Arc, Mutex, UnsafeCell};
use crate::wake_batch::WakeBatch;

/// A place in a ring. One that is alone points to itself.
struct Link {
    ends: UnsafeCell<Ends>,
}

#[derive(Clone, Copy)]
struct Ends {
    prev: *const Link,
    next: *const Link,
}

impl Link {
    /// To be followed by `isolate` when it is where it will stay.
    fn new() -> Self {
        Self { ends: UnsafeCell::new(Ends { prev: ptr::null(), next: ptr::null() }) }
    }
}

/// Operations on links.
///
/// # Safety
///
/// Of each function: the caller holds the tree's lock (or nobody else knows the links yet), and
/// the links given, as well as those they are in a ring with, are alive and have been isolated
/// once.
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

    /// Makes `link` a ring of its own, without regard to what it was in.
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

    /// Puts `link`, which is alone, in front of `place`; the end of the ring, if `place` is taken
    /// as its beginning.
    pub(super) unsafe fn insert_before(place: *const Link, link: *const Link) {
        // SAFETY: the module's contract.
        unsafe {
            let last = ends(place).prev;
            connect(last, link);
            connect(link, place);
        }
    }

    /// Moves all that is in a ring with `head`, but not `head`, in front of `place`, which is in
    /// another ring.
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

    /// The link behind `head`, unless that is `head` itself.
    pub(super) unsafe fn first(head: *const Link) -> Option<*const Link> {
        // SAFETY: the module's contract.
        let first = unsafe { ends(head) }.next;
        (!ptr::eq(first, head)).then_some(first)
    }
}

/// What the clones of one token share.
// `siblings` comes first, so that a pointer to it is one to the node.
#[repr(C)]
pub(super) struct Node {
    siblings: Link,
    children: Link,
    event: ManualResetEvent,
    tree: Arc<Mutex<()>>,
    // Others point to the links, and write them while the node's drop waits for the lock: `&mut self` must not
    // count as the only way to them.
    _pinned: PhantomPinned,
}

// SAFETY: the links are touched under the tree's lock only, except while the node is made; all
// else is `Send` and `Sync` by itself.
unsafe impl Send for Node {}
// SAFETY: as for `Send`.
unsafe impl Sync for Node {}

impl Node {
    /// A node without a parent.
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
        // SAFETY: the links have reached their place on the heap, and nobody knows them yet.
        unsafe {
            ring::isolate(node.siblings());
            ring::isolate(node.children());
        }
        node
    }

    /// A node that is cancelled with `self`: at once, if that is cancelled already.
    pub(super) fn child(&self) -> Arc<Self> {
        let child = Self::alone(self.tree.clone());
        let tree = self.tree.lock();
        if self.event.is_set() {
            child.event.set();
        } else {
            // SAFETY: the lock is held. Both nodes are alive, and so is everyone in a ring with
            // `self.children()`, because a node leaves its ring before it is freed.
            unsafe { ring::insert_before(self.children(), child.siblings()) };
        }
        drop(tree);
        child
    }

    /// Cancels the node and all below it.
    pub(super) fn cancel(&self) {
        let mut batch = WakeBatch::new();
        let pending = Link::new();
        let head = ptr::from_ref(&pending);
        let tree = self.tree.lock();
        // SAFETY: the lock is held until `pending` is empty again, so nobody else gets to see it.
        // Everyone in a ring is alive, because a node leaves its ring, under the lock, before it is
        // freed; that goes for a node whose last handle is gone but which has not got the lock yet.
        // What is in a ring with `pending` is the `siblings` of a node.
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

    /// Made from the pointer to the whole, so that it can be turned back into that.
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
        // SAFETY: the lock is held; those in a ring with this node are alive, as above.
        unsafe {
            ring::splice_before(self.siblings(), self.children());
            ring::leave(self.siblings());
        }
        drop(tree);
    }
}
