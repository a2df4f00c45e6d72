//! The members of a selector, which it watches, and the waits that have nothing to do for now.
//!
//! Dropping a member or a spare wait frees what callbacks look at. It closes no wait and no timer: that is
//! left to the thread that puts it to rest, or to the pool's group.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::windows::io::{AsRawSocket, RawSocket};

use super::clock_wait::ClockWait;
use super::handle_wait::HandleWait;
use super::socket_wait::SocketWait;
use super::threadpool::Threadpool;
use super::{Descriptor, RawDescriptor, ended};
use crate::poller::source::Source;
use crate::poller::sys::policy::SPARE_WAITS;
use crate::primitives::Arc;

#[derive(Default)]
pub(super) struct Members {
    /// True if there are no more callbacks: members that come too late are refused, and those that remain are not
    /// touched.
    pub(super) ended: bool,
    /// By token.
    registered: HashMap<u64, Member>,
    /// The OS would let a second registration replace the first.
    sockets: HashSet<RawSocket>,
    /// Waits that serve no socket.
    spare: Vec<SocketWait>,
    /// Members that have been taken out and are not at rest yet.
    pub(super) leaving: usize,
    /// Work items that have not run yet.
    pub(super) works: usize,
}

pub(super) enum Member {
    Socket(SocketWait),
    /// Shared with the thread that settles it.
    Handle(Arc<HandleWait>),
    Clock(ClockWait),
}

impl Members {
    pub(super) fn add(
        &mut self,
        pool: &Threadpool,
        descriptor: Descriptor<'_>,
        token: u64,
        source: &Arc<Source>,
    ) -> io::Result<()> {
        if self.ended {
            return Err(ended());
        }
        let member = match descriptor {
            Descriptor::Handle(handle) => {
                Member::Handle(Arc::new(HandleWait::new(pool, handle, source)?))
            }
            Descriptor::WallTime(time) => Member::Clock(ClockWait::new(pool, time, source)?),
            Descriptor::Socket(socket) => {
                if self.sockets.contains(&socket.as_raw_socket()) {
                    let message = "the socket is registered with this runtime already";
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
                }
                let wait = self.spare.pop().map_or_else(|| SocketWait::new(pool), Ok)?;
                if let Err(error) = wait.serve(socket, source) {
                    self.spare.push(wait);
                    return Err(error);
                }
                self.sockets.insert(socket.as_raw_socket());
                Member::Socket(wait)
            }
        };
        self.registered.insert(token, member);
        Ok(())
    }

    /// Takes a member out, which is `leaving` until a thread has put it to rest. Returns `None` if the runtime has
    /// ended.
    pub(super) fn remove(&mut self, descriptor: RawDescriptor, token: u64) -> Option<Member> {
        let member = self.registered.remove(&token)?;
        if let RawDescriptor::Socket(socket) = descriptor {
            self.sockets.remove(&socket);
        }
        self.leaving += 1;
        Some(member)
    }

    /// Keeps a wait that serves no socket, or returns it to be closed.
    pub(super) fn keep(&mut self, wait: SocketWait) -> Option<SocketWait> {
        if self.spare.len() >= SPARE_WAITS {
            return Some(wait);
        }
        self.spare.push(wait);
        None
    }

    /// Lets no more members in, and makes sure that those that remain touch no handle any more. Waits for nothing.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.registered.values().for_each(Member::disarm);
    }

    /// Returns the waits to settle between the end and `left`. They must not be settled under the lock: a callback that
    /// is due may have to wait for a thread of the pool, and that thread for the lock.
    pub(super) fn to_settle(&self) -> Vec<Arc<HandleWait>> {
        let handles = self.registered.values().filter_map(|member| match member {
            Member::Handle(wait) => Some(wait.clone()),
            Member::Socket(_) | Member::Clock(_) => None,
        });
        handles.collect()
    }

    /// Returns everything that is closed with the pool's group, when nobody is leaving any more. It must be dropped
    /// when the group is closed, and not before. A callback that finds its registration gone puts back the signal that
    /// it does not want. So everything is settled: the sources know what the OS has taken.
    pub(super) fn left(&mut self) -> (HashMap<u64, Member>, Vec<SocketWait>) {
        (std::mem::take(&mut self.registered), std::mem::take(&mut self.spare))
    }
}

impl Member {
    fn disarm(&self) {
        match self {
            Member::Socket(wait) => wait.release(),
            Member::Handle(wait) => wait.disarm(),
            Member::Clock(wait) => wait.disarm(),
        }
    }

    /// Puts the member to rest: when this returns, no callback uses the descriptor any more. Returns a wait that can
    /// serve another socket.
    pub(super) fn rest(self) -> Option<SocketWait> {
        match self {
            Member::Socket(wait) => {
                wait.release();
                Some(wait)
            }
            Member::Handle(wait) => {
                wait.disarm();
                wait.settle();
                // If another thread has it too, that thread is ending the pool, and the group closes it.
                if let Some(wait) = Arc::into_inner(wait) {
                    wait.close();
                }
                None
            }
            Member::Clock(wait) => {
                wait.close();
                None
            }
        }
    }
}
