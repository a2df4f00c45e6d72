//! A task and all that is done to one, in any order: polls, wake-ups, wakers that are
//! cloned and dropped, its handle polled and dropped, an abort. The sanitizer sees
//! what is used after its end, and what is left.
#![no_main]

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;
use windlass_fuzz::Input;
use windlass_runtime::model::Ready;

#[derive(Default)]
struct Shared {
    /// What the polls do, in turn; a poll beyond the last completes.
    script: Vec<u8>,
    wakers: Vec<Waker>,
    futures: usize,
    outputs: usize,
}

struct Steps(Arc<Mutex<Shared>>);

impl Future for Steps {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let step = self.0.lock().unwrap().script.pop();
        match step.map(|step| step % 6) {
            Some(0) => cx.waker().wake_by_ref(),
            Some(1) => cx.waker().clone().wake(),
            Some(2 | 3) => self.0.lock().unwrap().wakers.push(cx.waker().clone()),
            Some(4) => drop(cx.waker().clone()),
            _ => return Poll::Ready(Output(self.0.clone())),
        }
        Poll::Pending
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.lock().unwrap().futures += 1;
    }
}

struct Output(Arc<Mutex<Shared>>);

impl Drop for Output {
    fn drop(&mut self) {
        self.0.lock().unwrap().outputs += 1;
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let shared = Arc::new(Mutex::new(Shared::default()));
    let polls = input.below(12);
    shared.lock().unwrap().script = (0..polls).filter_map(|_| input.step()).collect();

    let ready = Ready::new();
    let (runnable, handle) = ready.task(Steps(shared.clone()));
    let aborter = handle.abort_handle();
    let (mut runnable, mut handle) = (Some(runnable), Some(handle));
    let mut done = false;
    while let Some(step) = input.step() {
        let waker = || {
            let mut shared = shared.lock().unwrap();
            let at = usize::from(step / 8).checked_rem(shared.wakers.len());
            at.map(|at| shared.wakers.swap_remove(at))
        };
        match step % 8 {
            0 | 1 => match runnable.take().or_else(|| ready.take()) {
                Some(runnable) => runnable.run(),
                None => continue,
            },
            2 => waker().into_iter().for_each(Waker::wake),
            3 => waker().into_iter().for_each(|waker| {
                waker.wake_by_ref();
                drop(waker);
            }),
            4 => {
                let kept = waker();
                shared.lock().unwrap().wakers.extend(kept.iter().cloned().chain(kept.clone()));
            }
            5 => {
                if let Some(handle) = handle.as_mut().filter(|_| !done) {
                    let mut cx = Context::from_waker(Waker::noop());
                    done = Pin::new(handle).poll(&mut cx).is_ready();
                }
            }
            6 => drop(handle.take_if(|_| step / 8 % 4 == 0)),
            _ if step / 8 % 4 == 0 => aborter.abort(),
            _ => drop(waker()),
        }
    }
    aborter.abort();
    runnable.into_iter().for_each(|runnable| runnable.run());
    ready.run_all();
    assert!(aborter.is_finished());
    drop(handle);
    let wakers = std::mem::take(&mut shared.lock().unwrap().wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert!(ready.take().is_none(), "a task that is complete was queued");
    assert_eq!(ready.released(), 1);
    let shared = shared.lock().unwrap();
    assert_eq!(shared.futures, 1);
    assert!(shared.outputs <= 1);
});
