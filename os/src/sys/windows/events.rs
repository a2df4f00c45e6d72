//! Console events. The OS calls the handler on a separate thread, which may take locks and wake tasks.

use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};
use std::time::Duration;

use windlass_sync::primitives::Mutex;
use windlass_sync::quietly;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

pub(crate) const INTERRUPT: u32 = CTRL_C_EVENT;
pub(crate) const BREAK: u32 = CTRL_BREAK_EVENT;
pub(crate) const CLOSE: u32 = CTRL_CLOSE_EVENT;
pub(crate) const LOGOFF: u32 = CTRL_LOGOFF_EVENT;
pub(crate) const SHUTDOWN: u32 = CTRL_SHUTDOWN_EVENT;
/// The events that ask a process to end. A user logging off is not among them, because services continue.
pub(crate) const TERMINATIONS: [u32; 4] = [INTERRUPT, BREAK, CLOSE, SHUTDOWN];

/// All event numbers are below this.
const EVENTS: usize = 7;

static EVENT: [Mutex<Event>; EVENTS] = [const { Mutex::new(Event::new()) }; EVENTS];
static INSTALLED: Mutex<bool> = Mutex::new(false);

struct Event {
    count: u32,
    listeners: usize,
    next_key: u64,
    waiting: Vec<(u64, Waker)>,
}

impl Event {
    const fn new() -> Self {
        Self { count: 0, listeners: 0, next_key: 0, waiting: Vec::new() }
    }
}

/// Receives one event. It belongs to no runtime.
#[derive(Debug)]
pub(crate) struct Listener {
    event: usize,
    /// The count that it has reported.
    heard: u32,
    /// Its key among the waiting listeners.
    key: u64,
}

impl Listener {
    pub(crate) fn new(event: u32) -> io::Result<Self> {
        install()?;
        let index = event as usize;
        let mut event = EVENT[index].lock();
        event.listeners += 1;
        event.next_key += 1;
        Ok(Self { event: index, heard: event.count, key: event.next_key })
    }

    /// Waits for an event that it has not reported yet.
    pub(crate) async fn heard(&mut self) -> io::Result<()> {
        poll_fn(|cx| {
            // Cloned, and the old one dropped, outside the lock: both may run the program's code.
            let waker = cx.waker().clone();
            let mut event = EVENT[self.event].lock();
            let old = event.take(self.key);
            if event.count != self.heard {
                self.heard = event.count;
                drop(event);
                drop(old);
                return Poll::Ready(Ok(()));
            }
            event.waiting.push((self.key, waker));
            drop(event);
            drop(old);
            Poll::Pending
        })
        .await
    }
}

impl Event {
    fn take(&mut self, key: u64) -> Option<Waker> {
        let index = self.waiting.iter().position(|entry| entry.0 == key)?;
        Some(self.waiting.swap_remove(index).1)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _waker = {
            let mut event = EVENT[self.event].lock();
            event.listeners -= 1;
            event.take(self.key)
        };
    }
}

fn install() -> io::Result<()> {
    let mut installed = INSTALLED.lock();
    if !*installed {
        // SAFETY: the handler is a function, which exists for as long as the process.
        if unsafe { SetConsoleCtrlHandler(Some(handle), 1) } == 0 {
            return Err(io::Error::last_os_error());
        }
        *installed = true;
    }
    Ok(())
}

/// The handler. Returns true if there is a listener; otherwise the OS performs its default action.
unsafe extern "system" fn handle(number: u32) -> BOOL {
    let Some(event) = EVENT.get(number as usize) else { return 0 };
    let (waiting, heard) = {
        let mut event = event.lock();
        event.count = event.count.wrapping_add(1);
        (std::mem::take(&mut event.waiting), event.listeners > 0)
    };
    // A waker may be the program's, and a panic here would end the process.
    waiting.into_iter().for_each(|(_, waker)| quietly(|| waker.wake()));
    if heard && matches!(number, CLOSE | LOGOFF | SHUTDOWN) {
        // The process ends when this returns. The listeners have until the OS loses patience.
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
    heard.into()
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::{Context, Wake};

    use super::*;

    struct Panics(AtomicUsize);

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
            panic!("a waker panics, as this test wants");
        }
    }

    /// The panic left the handler, which ended the process.
    #[test]
    fn wakers_that_panic_spare_the_process_and_those_behind_them() {
        let panics = Arc::new(Panics(AtomicUsize::new(0)));
        let waker = Waker::from(panics.clone());
        let mut cx = Context::from_waker(&waker);
        let [mut one, mut other] = [(); 2].map(|()| Listener::new(BREAK).unwrap());
        {
            let (mut one, mut other) = (pin!(one.heard()), pin!(other.heard()));
            assert!(one.as_mut().poll(&mut cx).is_pending());
            assert!(other.as_mut().poll(&mut cx).is_pending());
            // SAFETY: the number is that of an event; the OS calls it the same way.
            assert_eq!(unsafe { handle(BREAK) }, 1);
            assert_eq!(panics.0.load(SeqCst), 2);
            assert!(one.as_mut().poll(&mut cx).is_ready());
            assert!(other.as_mut().poll(&mut cx).is_ready());
        }
    }
}
