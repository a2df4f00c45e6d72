//! A program whose own main loop waits for a windlass loop and for a signal from foreign code: with `poll(2)` for a
//! socket, or on Windows with `WaitForMultipleObjects` for an event.
//!
//! The windlass loop is one descriptor (handle) among others. When it becomes readable (signalled), the
//! program asks for the tasks that are ready and runs them itself; no task runs anywhere else.
//!
//! ```text
//! cargo run --example manual_loop
//! ```

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use windlass::Builder;
use windlass::net::{TcpListener, TcpStream};
use windlass::sync::os::Event;

fn main() -> io::Result<()> {
    let mut tasks = Builder::new().build_manual()?;
    // Tasks of a loop stay on this thread, so they may share values that are not `Send`.
    let echoed = Rc::new(Cell::new(0));
    let talk = tasks.spawn_local(talk(echoed.clone()));

    // Foreign code that does not know about tasks, on a thread of its own.
    let (mut ours, theirs) = os::channel()?;
    let foreign = std::thread::spawn(move || theirs.send("hello from outside"));

    let mut heard = false;
    while !(talk.is_finished() && heard) {
        let [from_tasks, from_foreign] = os::poll(&tasks, &ours)?;
        if from_tasks {
            for runnable in tasks.ready_tasks(Some(Duration::ZERO))? {
                runnable.run();
            }
        }
        if from_foreign && !heard {
            println!("foreign code says: {}", ours.receive()?);
            heard = true;
        }
    }
    foreign.join().expect("the outside thread does not panic")?;
    println!("the tasks have echoed {} bytes", echoed.get());
    Ok(())
}

/// A server and a client, both tasks of the loop, and an event between them.
async fn talk(echoed: Rc<Cell<usize>>) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let client = TcpStream::connect(listener.local_addr()?).await?;
    let (server, _) = listener.accept().await?;
    let sent = Event::new(false)?;
    for round in 1..=3 {
        client.write_all(b"over and out").await?;
        sent.set()?;
        // Any write to the event's descriptor would signal it as well.
        sent.wait().await?;
        let mut buffer = [0; 12];
        server.read_exact(&mut buffer).await?;
        echoed.set(echoed.get() + buffer.len());
        println!("round {round}: the server got {:?}", String::from_utf8_lossy(&buffer));
    }
    Ok(())
}

#[cfg(unix)]
mod os {
    use std::io::{self, Read, Write};
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::net::UnixStream;

    pub(super) struct Ours(UnixStream);
    pub(super) struct Theirs(UnixStream);

    pub(super) fn channel() -> io::Result<(Ours, Theirs)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Ours(ours), Theirs(theirs)))
    }

    impl Theirs {
        pub(super) fn send(mut self, text: &str) -> io::Result<()> {
            self.0.write_all(text.as_bytes())
        }
    }

    impl Ours {
        pub(super) fn receive(&mut self) -> io::Result<String> {
            let mut text = String::new();
            self.0.read_to_string(&mut text)?;
            Ok(text)
        }
    }

    /// Waits until the loop or the socket is readable, and returns which is.
    pub(super) fn poll(tasks: &impl AsFd, ours: &Ours) -> io::Result<[bool; 2]> {
        let mut entries = [tasks.as_fd(), ours.0.as_fd()].map(|descriptor| libc::pollfd {
            fd: descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        });
        // SAFETY: the entries outlive the call, and there are two.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), 2, 10_000) };
        if ready < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(entries.map(|entry| entry.revents != 0))
    }
}

#[cfg(windows)]
mod os {
    use std::io;
    use std::os::windows::io::{AsHandle, AsRawHandle};
    use std::sync::{Arc, Mutex};

    use windlass::sync::os::Event;
    use windows_sys::Win32::Foundation::{WAIT_FAILED, WAIT_OBJECT_0};
    use windows_sys::Win32::System::Threading::{WaitForMultipleObjects, WaitForSingleObject};

    pub(super) struct Ours(Arc<(Event, Mutex<String>)>);
    pub(super) struct Theirs(Arc<(Event, Mutex<String>)>);

    pub(super) fn channel() -> io::Result<(Ours, Theirs)> {
        let shared = Arc::new((Event::new(false)?, Mutex::default()));
        Ok((Ours(shared.clone()), Theirs(shared)))
    }

    impl Theirs {
        pub(super) fn send(self, text: &str) -> io::Result<()> {
            *self.0.1.lock().unwrap() = text.to_owned();
            self.0.0.set()
        }
    }

    impl Ours {
        pub(super) fn receive(&mut self) -> io::Result<String> {
            Ok(self.0.1.lock().unwrap().clone())
        }
    }

    /// Waits until the loop's handle or the event is signalled, and returns which is.
    pub(super) fn poll(tasks: &impl AsHandle, ours: &Ours) -> io::Result<[bool; 2]> {
        let handles = [tasks.as_handle().as_raw_handle(), ours.0.0.as_raw_handle()];
        // SAFETY: there are two handles, and both are open.
        let woken = unsafe { WaitForMultipleObjects(2, handles.as_ptr(), 0, 10_000) };
        if woken == WAIT_FAILED {
            return Err(io::Error::last_os_error());
        }
        // A wait that the event has ended has also reset it, so it is checked only if the wait ended otherwise.
        let second = woken == WAIT_OBJECT_0 + 1
            // SAFETY: the handle is open.
            || unsafe { WaitForSingleObject(handles[1], 0) } == WAIT_OBJECT_0;
        Ok([woken == WAIT_OBJECT_0, second])
    }
}
