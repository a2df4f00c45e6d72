//! A program with a main loop of its own: `poll(2)`, written by hand, over a windlass loop and a
//! descriptor that foreign code writes to.
//!
//! The windlass loop is one descriptor among others. When it becomes readable, the program asks for
//! the tasks that can go on and runs them itself; nothing runs behind its back.
//!
//! ```text
//! cargo run --example manual_loop
//! ```

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use windlass::Builder;
use windlass::net::{TcpListener, TcpStream};
use windlass::sync::os::Event;

fn main() -> io::Result<()> {
    let mut tasks = Builder::new().build_manual()?;
    // Tasks of a loop stay on this thread, so they may share what is not `Send`.
    let echoed = Rc::new(Cell::new(0));
    let talk = tasks.spawn_local(talk(echoed.clone()));

    // Foreign code that knows nothing of tasks, on a thread of its own.
    let (mut ours, mut theirs) = UnixStream::pair()?;
    let foreign = std::thread::spawn(move || theirs.write_all(b"hello from outside"));

    let mut heard = false;
    while !(talk.is_finished() && heard) {
        let [from_tasks, from_foreign] = poll([tasks.as_fd(), ours.as_fd()])?;
        if from_tasks {
            for runnable in tasks.ready_tasks(Some(Duration::ZERO))? {
                runnable.run();
            }
        }
        if from_foreign && !heard {
            let mut text = String::new();
            ours.read_to_string(&mut text)?;
            println!("foreign code says: {text}");
            heard = true;
        }
    }
    foreign.join().expect("the foreign thread does not panic")?;
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

/// Waits until one of the descriptors can be read, and says which can.
fn poll<const N: usize>(descriptors: [BorrowedFd<'_>; N]) -> io::Result<[bool; N]> {
    let mut entries = descriptors.map(|descriptor| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: the entries outlive the call, and their number is that of the array.
    let ready = unsafe { libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, 10_000) };
    if ready < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(entries.map(|entry| entry.revents != 0))
}
