//! The server's side of a load process: starts it, talks with it, ends it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Job;

/// A running load process; ended when dropped.
pub(crate) struct Load {
    process: Child,
    said: BufReader<ChildStdout>,
    told: Option<ChildStdin>,
}

impl Load {
    /// Starts it from the calling thread, which must outlive it: the kernel ends it when that
    /// thread ends.
    pub(crate) fn start(job: &Job) -> Load {
        let program = std::env::current_exe().expect("this program has a path");
        let started = Command::new(program)
            .arg("load")
            .args(job.args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = started.expect("a load process starts");
        let said = process.stdout.take().expect("it is piped");
        let told = process.stdin.take();
        Load { process, said: BufReader::new(said), told }
    }

    /// Waits for its next line.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        let read = self.said.read_line(&mut line);
        assert!(read.is_ok_and(|count| count > 0), "the load process has failed");
        line.trim().to_owned()
    }

    /// Says a line.
    pub(crate) fn tell(&mut self, word: &str) {
        let told = self.told.as_mut().expect("open until the end");
        writeln!(told, "{word}").expect("the load process listens");
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Ends its input, and waits until it has ended too.
    pub(crate) fn finish(mut self) {
        self.told = None;
        let status = self.process.wait().expect("nobody else waits for it");
        assert!(status.success(), "the load process has failed: {status}");
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Both are without effect on a process that was waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
