//! A chat room: every line that a guest sends reaches all others.
//!
//! ```text
//! cargo run --example chat              serve on a free port; join with `nc ADDRESS PORT`
//! cargo run --example chat -- --demo    three guests talk to each other, then it exits
//! ```

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass::channel::{Receiver, Sender, bounded};
use windlass::net::{TcpListener, TcpStream};
use windlass::timer::sleep;

/// The number of lines that may wait for a guest who does not read. The guest misses further ones.
const BACKLOG: usize = 64;
/// The longest line, in bytes. A guest who sends a longer one has to leave.
const LONGEST: usize = 4096;
/// The number of lines that a guest may say in a second. A guest who talks everybody down has to leave.
const MOST_LINES: usize = 20;

/// The guests in the room, each with the queue of lines to send to it.
type Room = Arc<Mutex<HashMap<SocketAddr, Sender<Arc<str>>>>>;

#[windlass::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("chat room on {address}");
    if std::env::args().any(|argument| argument == "--demo") {
        let server = windlass::spawn(serve(listener));
        demo(address).await?;
        server.abort();
        return Ok(());
    }
    serve(listener).await
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    let room = Room::default();
    loop {
        let (stream, guest) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Out of descriptors, most likely: let some guests leave before the next try.
            Err(error) => {
                eprintln!("accept failed: {error}");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let room = room.clone();
        drop(windlass::spawn(async move {
            let (outbox, inbox) = bounded::<Arc<str>>(BACKLOG);
            // The first line in the queue: a guest who has read it is in the room.
            let _ = outbox.try_send("welcome\n".into());
            room.lock().unwrap().insert(guest, outbox);
            let stream = Arc::new(stream);
            // One task writes while another reads, because the two directions are independent.
            let writer = windlass::spawn(deliver(stream.clone(), inbox));
            let left = listen_to(&stream, guest, &room).await;
            // Dropping the sender ends the writer once it has delivered everything.
            room.lock().unwrap().remove(&guest);
            if left.is_err() {
                // The guest was sent away, or has gone: the remaining lines are not delivered.
                writer.abort();
            }
            let _ = writer.await;
        }));
    }
}

/// Reads lines from a guest and sends them to all others.
async fn listen_to(stream: &TcpStream, guest: SocketAddr, room: &Room) -> io::Result<()> {
    let mut pending = Vec::new();
    let mut buffer = [0; 1024];
    let (mut since, mut said) = (Instant::now(), 0);
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        pending.extend_from_slice(&buffer[..count]);
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line[..end]);
            let message: Arc<str> = format!("{guest}: {}\n", text.trim_end()).into();
            for (other, outbox) in room.lock().unwrap().iter() {
                if *other != guest {
                    // This fails for guests who are just leaving, and for those who do not read.
                    let _ = outbox.try_send(message.clone());
                }
            }
            if since.elapsed() > Duration::from_secs(1) {
                (since, said) = (Instant::now(), 0);
            }
            said += 1;
            if said > MOST_LINES {
                return Err(io::Error::other("too many lines"));
            }
        }
        if pending.len() > LONGEST {
            return Err(io::Error::other("a line that is too long"));
        }
    }
}

/// Writes the lines of the others to a guest.
async fn deliver(stream: Arc<TcpStream>, inbox: Receiver<Arc<str>>) -> io::Result<()> {
    while let Ok(message) = inbox.recv().await {
        stream.write_all(message.as_bytes()).await?;
    }
    Ok(())
}

/// Three guests: each says one thing and hears the other two.
async fn demo(room: SocketAddr) -> io::Result<()> {
    let mut guests = Vec::new();
    for _ in 0..3 {
        let guest = TcpStream::connect(room).await?;
        hear(&guest, 1).await?;
        guests.push(guest);
    }
    for (index, guest) in guests.iter().enumerate() {
        guest.write_all(format!("I am number {index}\n").as_bytes()).await?;
    }
    for (index, guest) in guests.iter().enumerate() {
        println!("guest {index} heard:\n{}", hear(guest, 2).await?);
    }
    Ok(())
}

/// Reads this many lines.
async fn hear(guest: &TcpStream, lines: usize) -> io::Result<String> {
    let mut heard = Vec::new();
    while heard.iter().filter(|byte| **byte == b'\n').count() < lines {
        let mut byte = [0];
        guest.read_exact(&mut byte).await?;
        heard.extend_from_slice(&byte);
    }
    Ok(String::from_utf8_lossy(&heard).into_owned())
}
