//! One connection to a server, with at most one request in flight.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::PATIENCE;
use crate::service::Kind;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    service: Kind,
    /// The one in flight, different each time where the service allows it.
    request: Vec<u8>,
    answer: Vec<u8>,
    /// So much of the answer has come.
    got: usize,
    /// When the request in flight was sent, by the clock of whoever sent it.
    pub(super) sent_ns: u64,
    /// Answers inside the window.
    pub(super) answers: u64,
}

impl Connection {
    /// Connects, and has one request answered: then the server has accepted the connection and
    /// waits for the next.
    pub(super) fn open(
        address: SocketAddr,
        service: Kind,
        number: usize,
    ) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = service.request(number);
        let answer = vec![0; service.expected(&request).len()];
        let mut connection =
            Connection { stream, service, request, answer, got: 0, sent_ns: 0, answers: 0 };
        connection.stream.write_all(&connection.request)?;
        connection.stream.read_exact(&mut connection.answer).map_err(|why| match why.kind() {
            ErrorKind::WouldBlock => io::Error::other("the server answers nothing"),
            _ => why,
        })?;
        connection.check()?;
        connection.stream.set_nonblocking(true)?;
        Ok(connection)
    }

    /// Sends the next request. It is small, and the last one was answered: it always fits.
    pub(super) fn send(&mut self, now_ns: u64) -> io::Result<()> {
        self.service.stamp(&mut self.request, now_ns);
        self.sent_ns = now_ns;
        self.got = 0;
        self.stream.write_all(&self.request)
    }

    /// Reads what there is; true when the answer is complete.
    pub(super) fn receive(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut self.answer[self.got..]) {
            Ok(0) => Err(io::Error::other("the server has closed a connection")),
            Ok(count) => {
                self.got += count;
                if self.got < self.answer.len() {
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
        if self.answer == self.service.expected(&self.request) {
            Ok(())
        } else {
            Err(io::Error::other("an answer is not what it has to be"))
        }
    }
}
