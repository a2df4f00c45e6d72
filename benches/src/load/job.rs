//! What a load process is asked to do, to its command line and back.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use crate::service::Kind;

/// Requests to a server, in a process that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) server: u32,
    pub(crate) address: SocketAddr,
    pub(crate) service: Kind,
    pub(crate) connections: usize,
    pub(crate) warm_up: Duration,
    pub(crate) time: Duration,
    pub(crate) style: Style,
}

/// In which way a load asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// On all connections at once, one request in flight on each.
    Closed,
    /// At a fixed rate, whether the last requests are answered or not.
    Open { per_second: u64 },
    /// One request at a time, which goes to all connections.
    Broadcast,
    /// Each request on a connection of its own; as many threads as connections.
    Churn,
    /// Requests of 64 KiB, a thread for each connection.
    Bulk,
}

impl Style {
    fn word(self) -> String {
        match self {
            Style::Closed => "closed".to_owned(),
            Style::Open { per_second } => format!("open:{per_second}"),
            Style::Broadcast => "broadcast".to_owned(),
            Style::Churn => "churn".to_owned(),
            Style::Bulk => "bulk".to_owned(),
        }
    }
}

impl FromStr for Style {
    type Err = ();

    fn from_str(word: &str) -> Result<Style, ()> {
        match word {
            "closed" => Ok(Style::Closed),
            "broadcast" => Ok(Style::Broadcast),
            "churn" => Ok(Style::Churn),
            "bulk" => Ok(Style::Bulk),
            _ => {
                let rate = word.strip_prefix("open:").and_then(|rate| rate.parse().ok());
                rate.map(|per_second| Style::Open { per_second }).ok_or(())
            }
        }
    }
}

impl Ask {
    /// Requests to this process, the next one on each connection when the last is answered.
    pub(crate) fn closed(
        address: SocketAddr,
        service: Kind,
        connections: usize,
        warm_up: Duration,
        time: Duration,
    ) -> Ask {
        let server = std::process::id();
        Ask { server, address, service, connections, warm_up, time, style: Style::Closed }
    }
}

/// `server` is the process that asks: the server itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Job {
    /// Requests on all connections at once, one in flight on each.
    Ask(Ask),
    /// Connections that are used once and then held open: some, and when told, the rest.
    Hold { server: u32, address: SocketAddr, first: usize, rest: usize, time: Duration },
    /// No requests at all: a neighbour that burns CPU time until it is ended.
    Burn { server: u32, time: Duration },
}

impl Job {
    /// What stands on the command line after the name of the subcommand.
    pub(crate) fn args(&self) -> Vec<String> {
        let millis = |time: Duration| time.as_millis().to_string();
        match *self {
            Job::Ask(Ask { server, address, service, connections, warm_up, time, style }) => vec![
                service.name().to_owned(),
                server.to_string(),
                address.to_string(),
                connections.to_string(),
                millis(warm_up),
                millis(time),
                style.word(),
            ],
            Job::Hold { server, address, first, rest, time } => vec![
                "hold".to_owned(),
                server.to_string(),
                address.to_string(),
                first.to_string(),
                rest.to_string(),
                millis(time),
            ],
            Job::Burn { server, time } => vec!["burn".to_owned(), server.to_string(), millis(time)],
        }
    }

    pub(crate) fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Job, String> {
        let kind = words.next();
        let server = next(&mut words)?;
        if kind == Some("burn") {
            return Ok(Job::Burn { server, time: millis(&mut words)? });
        }
        let address = next(&mut words)?;
        if kind == Some("hold") {
            let (first, rest) = (next(&mut words)?, next(&mut words)?);
            return Ok(Job::Hold { server, address, first, rest, time: millis(&mut words)? });
        }
        let service = kind.and_then(Kind::named).ok_or("unknown load")?;
        let connections = next(&mut words)?;
        let (warm_up, time) = (millis(&mut words)?, millis(&mut words)?);
        let style = next(&mut words)?;
        Ok(Job::Ask(Ask { server, address, service, connections, warm_up, time, style }))
    }

    pub(crate) fn server(&self) -> u32 {
        match *self {
            Job::Ask(Ask { server, .. }) | Job::Hold { server, .. } | Job::Burn { server, .. } => {
                server
            }
        }
    }

    /// How long it takes if all goes well, but for connecting.
    pub(crate) fn lasts(&self) -> Duration {
        match *self {
            Job::Ask(Ask { warm_up, time, .. }) => warm_up + time,
            Job::Hold { time, .. } | Job::Burn { time, .. } => time,
        }
    }
}

fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Result<T, String> {
    let word = words.next().ok_or("a load needs more arguments")?;
    word.parse().map_err(|_| format!("a load cannot use `{word}`"))
}

fn millis<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Duration, String> {
    Ok(Duration::from_millis(next(words)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_its_command_line() {
        let address = "127.0.0.1:7".parse().unwrap();
        let (warm_up, time) = (Duration::from_millis(20), Duration::from_millis(300));
        let ask = |service, style| {
            let ask = Ask::closed(address, service, 64, warm_up, time);
            Job::Ask(Ask { style, ..ask })
        };
        for job in [
            ask(Kind::Echo, Style::Closed),
            ask(Kind::Http, Style::Open { per_second: 12_345 }),
            ask(Kind::Batch, Style::Broadcast),
            ask(Kind::Echo, Style::Churn),
            ask(Kind::Echo, Style::Bulk),
            Job::Hold { server: 4, address, first: 16, rest: 1_000, time },
            Job::Burn { server: 4, time },
        ] {
            let args = job.args();
            assert_eq!(Job::parse(args.iter().map(String::as_str)), Ok(job));
        }
        assert!(Job::parse(["echo", "4", "nowhere"].into_iter()).is_err());
        assert!(Job::parse([].into_iter()).is_err());
        let slow = ["echo", "4", "127.0.0.1:7", "64", "20", "300", "open:slowly"];
        assert!(Job::parse(slow.into_iter()).is_err());
    }
}
