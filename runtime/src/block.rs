//! temp
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
pub(crate) fn block_on<F: Future>(f: F) -> F::Output {
    let parker = windlass_sync::Parker::new();
    let waker = Waker::from(parker.unparker());
    let mut f = pin!(f);
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(v) = f.as_mut().poll(&mut cx) {
            return v;
        }
        parker.park();
    }
}
