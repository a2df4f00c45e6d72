//! An event that is set through the OS's own queue, by a work item of the thread pool that is used once.

use std::ffi::c_void;
use std::io;

use windlass_sync::ManualResetEvent;
use windows_sys::Win32::System::Threading::{
    CloseThreadpoolWork, CreateThreadpoolWork, PTP_CALLBACK_INSTANCE, PTP_WORK,
    SubmitThreadpoolWork,
};

use super::{Shared, ended};
use crate::primitives::Arc;
use crate::task::quietly;

/// The context of a work item. The item is not a member of the pool's cleanup group, because it closes itself; items
/// that are out are counted instead.
struct Hop {
    shared: Arc<Shared>,
    arrived: Arc<ManualResetEvent>,
}

/// Submits a work item that sets the event.
pub(super) fn submit(shared: &Arc<Shared>) -> io::Result<Arc<ManualResetEvent>> {
    let arrived = Arc::new(ManualResetEvent::new(false));
    let hop = Box::new(Hop { shared: shared.clone(), arrived: arrived.clone() });
    let mut members = shared.members.lock();
    if members.ended {
        return Err(ended());
    }
    let (context, environment) = (Box::into_raw(hop), shared.pool.of_pool());
    // SAFETY: `called` takes the context for what it is and owns it; the environment outlives the
    // call.
    let work = unsafe { CreateThreadpoolWork(Some(called), context.cast(), &environment) };
    if work == 0 {
        let error = io::Error::last_os_error();
        // SAFETY: nobody has taken it.
        drop(unsafe { Box::from_raw(context) });
        return Err(error);
    }
    members.works += 1;
    // SAFETY: the work item is new, and is closed by its callback only.
    unsafe { SubmitThreadpoolWork(work) };
    Ok(arrived)
}

unsafe extern "system" fn called(_: PTP_CALLBACK_INSTANCE, context: *mut c_void, work: PTP_WORK) {
    // SAFETY: made by `resume`, and given to this call alone.
    let hop = unsafe { Box::from_raw(context.cast::<Hop>()) };
    let Hop { shared, arrived } = *hop;
    let _running = shared.pool.callbacks().enter();
    // SAFETY: nobody else closes it. The OS frees it when this call has returned.
    unsafe { CloseThreadpoolWork(work) };
    quietly(|| arrived.set());
    let mut members = shared.members.lock();
    members.works -= 1;
    shared.look_if_quiet(&members);
}
