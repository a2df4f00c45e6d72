//! The side of `push` that pushes: callbacks tell the sources.

use std::io;
use std::os::windows::io::AsRawSocket;

use windlass_sync::ManualResetEvent;

use super::member::Member;
use super::{Descriptor, RawDescriptor, Selector, ended};
use crate::poller::source::Source;
use crate::primitives::{Arc, thread};

/// There is nothing to harvest.
pub(crate) const PUSHES: bool = true;

/// Registers a descriptor; its events go to the source.
pub(crate) fn register(
    selector: &Selector,
    descriptor: Descriptor<'_>,
    token: u64,
    source: &Arc<Source>,
) -> io::Result<()> {
    let mut members = selector.shared.members.lock();
    if members.ended {
        return Err(ended());
    }
    let socket = match descriptor {
        Descriptor::Socket(socket) => Some(socket.as_raw_socket()),
        Descriptor::Handle(_) => None,
    };
    if socket.is_some_and(|socket| members.sockets.contains(&socket)) {
        let message = "the socket is registered with this runtime already";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let member = Member::new(&selector.shared.pool, descriptor, source)?;
    members.registered.insert(token, member);
    members.sockets.extend(socket);
    Ok(())
}

/// Ends a registration: when this returns, no callback has to do with the descriptor any more.
pub(crate) fn deregister(selector: &Selector, descriptor: RawDescriptor, token: u64) {
    let mut members = selector.shared.members.lock();
    // Gone already if the runtime has ended.
    let Some(member) = members.registered.remove(&token) else { return };
    if let RawDescriptor::Socket(socket) = descriptor {
        members.sockets.remove(&socket);
    }
    members.leaving += 1;
    drop(members);
    member.close();
    let mut members = selector.shared.members.lock();
    members.leaving -= 1;
    selector.shared.look_if_quiet(&members);
}

/// An event that is set by a work item of the thread pool.
pub(crate) fn resume(selector: &Selector) -> Option<io::Result<Arc<ManualResetEvent>>> {
    Some(super::resume::submit(&selector.shared))
}

/// Ends the callbacks: when this returns, none runs, and none will run. Only on a callback's own thread
/// does it not wait, which would be for itself; another thread does.
pub(crate) fn end(selector: &Selector) {
    let shared = selector.shared.clone();
    if !shared.pool.is_own_thread() {
        return shared.end();
    }
    // If no thread is to be had, what the pool has of the OS is never given back.
    let kept = shared.clone();
    if thread::Builder::new().spawn(move || shared.end()).is_err() {
        std::mem::forget(kept);
    }
}
