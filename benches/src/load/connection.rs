//! One connection to an echo server, with at most one message in flight.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::PATIENCE;

pub(super) const MESSAGE: usize = 64;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// The message in flight, different each time.
    message: [u8; MESSAGE],
    answer: [u8; MESSAGE],
    /// So much of the answer has come.
    got: usize,
    /// When the message in flight was sent, by the clock of whoever sent it.
    pub(super) sent_ns: u64,
    /// Answers inside the window.
    pub(super) answers: u64,
}

impl Connection {
    /// Connects, and has one message echoed: then the server has accepted the connection and
    /// waits for the next.
    pub(super) fn open(address: SocketAddr, number: usize) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut message = [0x5a; MESSAGE];
        message[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let mut connection =
            Connection { stream, message, answer: [0; MESSAGE], got: 0, sent_ns: 0, answers: 0 };
        connection.stream.write_all(&connection.message)?;
        connection.stream.read_exact(&mut connection.answer).map_err(|why| match why.kind() {
            ErrorKind::WouldBlock => io::Error::other("the server answers nothing"),
            _ => why,
        })?;
        connection.check()?;
        connection.stream.set_nonblocking(true)?;
        Ok(connection)
    }

    /// Sends the next message. It is small, and the last one was answered: it always fits.
    pub(super) fn send(&mut self, now_ns: u64) -> io::Result<()> {
        self.message[8..16].copy_from_slice(&now_ns.to_le_bytes());
        self.sent_ns = now_ns;
        self.got = 0;
        self.stream.write_all(&self.message)
    }

    /// Reads what there is; true when the answer is complete.
    pub(super) fn receive(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut self.answer[self.got..]) {
            Ok(0) => Err(io::Error::other("the server has closed a connection")),
            Ok(count) => {
                self.got += count;
                if self.got < MESSAGE {
                    return Ok(false);
                }
                self.check()?;
                Ok(true)
            }
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.answer == self.message {
            Ok(())
        } else {
            Err(io::Error::other("an answer is not what was sent"))
        }
    }
}
