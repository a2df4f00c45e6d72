//! Connections that do nothing.

use std::io;
use std::net::SocketAddr;

use super::connection::Connection;
use super::say;
use crate::service::Kind;

/// Says a line when the first connections stand, waits for one, says another when the rest stand,
/// and holds them all until its input ends.
pub(super) fn run(address: SocketAddr, first: usize, rest: usize) -> io::Result<()> {
    let open = |numbers: std::ops::Range<usize>| {
        numbers
            .map(|number| Connection::open(address, Kind::Echo, number))
            .collect::<io::Result<Vec<_>>>()
    };
    let _first = open(0..first)?;
    say("first")?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let _rest = open(first..first + rest)?;
    say("rest")?;
    while io::stdin().read_line(&mut line)? != 0 {}
    Ok(())
}
