//! The limit: one thread, one epoll, and the system calls that no server can do without.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::hog::Hog;
use super::server::{BUFFER, Server};
use crate::service::Service;
use crate::support::sys;

/// Events taken at once.
const BATCH: usize = 256;

const LISTENER: u64 = u64::MAX;
const END: u64 = u64::MAX - 1;

/// A loop in a thread of its own, which ends when this is dropped.
pub(super) struct Epoll {
    address: SocketAddr,
    end: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Server for Epoll {
    const NAME: &'static str = "epoll";

    /// A loop has no tasks: a hog gets a thread, as anybody would do who writes such a loop.
    fn start<S: Service>(hog: Option<Arc<Hog>>) -> Self {
        sys::raise_open_files().expect("up to the hard limit");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (end, ended) = UnixStream::pair().expect("a pair of sockets");
        let thread = thread::spawn(move || Loop::new(listener, &ended).run::<S>());
        if let Some(hog) = hog {
            // It ends with the workload, which stops it.
            thread::spawn(move || while hog.burst() {});
        }
        Epoll { address, end: Some(end), thread: Some(thread) }
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

impl Drop for Epoll {
    fn drop(&mut self) {
        // The other end becomes readable.
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the loop has been reported, and has ended the load.
            let _ = thread.join();
        }
    }
}

struct Loop {
    epoll: sys::Epoll,
    listener: TcpListener,
    /// By token; closed ones leave a gap for the next.
    streams: Vec<Option<TcpStream>>,
    gaps: Vec<usize>,
}

impl Loop {
    fn new(listener: TcpListener, ended: &UnixStream) -> Loop {
        let epoll = sys::Epoll::new().expect("an epoll");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        epoll.add(&listener, LISTENER).expect("a socket can be watched");
        epoll.add(ended, END).expect("a socket can be watched");
        Loop { epoll, listener, streams: Vec::new(), gaps: Vec::new() }
    }

    fn run<S: Service>(mut self) {
        let mut events = sys::Events::with_capacity(BATCH);
        let mut buffer = [0; BUFFER];
        loop {
            self.epoll.wait(&mut events, None).expect("an epoll can be waited for");
            for token in events.tokens() {
                match token {
                    END => return,
                    LISTENER => self.accept(),
                    stream => self.serve::<S>(stream as usize, &mut buffer),
                }
            }
        }
    }

    fn accept(&mut self) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(why) if why.kind() == ErrorKind::WouldBlock => return,
            Err(why) => panic!("accept: {why}"),
        };
        stream.set_nodelay(true).expect("a TCP socket");
        stream.set_nonblocking(true).expect("a socket can be non-blocking");
        let place = self.gaps.pop().unwrap_or_else(|| {
            self.streams.push(None);
            self.streams.len() - 1
        });
        self.epoll.add(&stream, place as u64).expect("a socket can be watched");
        self.streams[place] = Some(stream);
    }

    /// One read and one write. So small a request comes in one piece, and its answer always fits into
    /// the socket.
    fn serve<S: Service>(&mut self, place: usize, buffer: &mut [u8]) {
        let Some(stream) = &mut self.streams[place] else {
            return;
        };
        let served = match stream.read(buffer) {
            Ok(0) => false,
            Ok(count) => {
                S::answer(&buffer[..count]).is_some_and(|answer| stream.write_all(answer).is_ok())
            }
            Err(why) => matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if !served {
            self.streams[place] = None;
            self.gaps.push(place);
        }
    }
}
