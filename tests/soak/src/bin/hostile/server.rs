//! The server that is visited: how it is started, and how large it is.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The server, as a process of its own. Ended when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The largest size that was seen.
    pub(crate) peak: (usize, usize),
    /// KiB for each connection when it had the most of them.
    pub(crate) each: usize,
    /// MiB that it may occupy.
    pub(crate) most: usize,
}

impl Server {
    pub(crate) fn start(
        program: &str,
        arguments: impl Iterator<Item = String>,
    ) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().expect("the output is a pipe");
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let words = line.split(|c: char| c.is_whitespace() || c == '/');
        let address = words.filter_map(|word| word.parse().ok()).next();
        match address {
            Some(address) => {
                // Read to its end, or a server that prints a line for each connection would block.
                std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
                Ok(Self { child, address, peak: (0, 0), each: 0, most: usize::MAX })
            }
            None => {
                child.kill()?;
                Err(io::Error::other(format!("no address in its first line: {line}")))
            }
        }
    }

    /// Notes its size, which must be within bounds.
    pub(crate) fn watch(&mut self, before: (usize, usize)) -> Result<(), String> {
        let now = self.size();
        let connections = now.1.saturating_sub(before.1);
        if now.1 > self.peak.1 {
            self.each = now.0.saturating_sub(before.0) * 1024 / connections.max(1);
        }
        self.peak = (self.peak.0.max(now.0), self.peak.1.max(now.1));
        if now.0 > self.most {
            return Err(format!("{} MiB are too many; {} were there before", now.0, before.0));
        }
        Ok(())
    }

    /// How it has ended, if it has.
    pub(crate) fn has_ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// MiB that it occupies, and descriptors that it has open.
    pub(crate) fn size(&self) -> (usize, usize) {
        let process = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|text| text.split_whitespace().next()?.parse::<usize>().ok());
        let descriptors = std::fs::read_dir(format!("{process}/fd")).map_or(0, Iterator::count);
        (kib.unwrap_or(0) / 1024, descriptors)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already, perhaps: then that was noticed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
