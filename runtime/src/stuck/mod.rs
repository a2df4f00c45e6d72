//! Reports what is stuck, while it is stuck: a poll that does not return, a leaf of a computation that does not end, a
//! blocking pool in which closures wait, a `block_on` inside a task.
//!
//! - `LongPollWatch` is the part of the [monitor](crate::sched::Monitor) that notices. It looks at what workers show
//!   anyway, their progress and the task in the slot, so a poll costs nothing more. It looks no more often than it
//!   needs to.
//! - `Reports` takes what was noticed, in a bounded queue, and has a thread of its own report it. The poller's
//!   thread calls no user code, and waits for nobody.
//! - `sys` gets the stack of the stuck thread, where that is possible.
//!
//! The thread is started for the first report, and ends when there is nothing left: a runtime in which
//! nothing is stuck has none.

mod builder;
mod limit;
mod long_poll;
mod policy;
mod reports;
mod setting;
mod stack_trace;
mod sys;
mod watch;

pub use long_poll::{LongPoll, LongPollKind};
pub use stack_trace::{StackFrame, StackTrace};

pub(crate) use policy::REPORT_AFTER;
pub(crate) use reports::{Callback, Reports};
pub(crate) use setting::check;
pub(crate) use sys::ThreadMark;
pub(crate) use watch::LongPollWatch;
