//! A stack trace with names.

use std::fmt;

use super::sys::{self, ThreadMark};

/// The functions that a thread is in, innermost first. Part of a [`LongPoll`](crate::LongPoll).
///
/// Frames of the runtime below the task or job are left out.
#[derive(Debug, Clone)]
pub struct StackTrace {
    frames: Vec<StackFrame>,
}

impl StackTrace {
    /// Returns the stack of the thread that has left the mark, if it is available.
    pub(super) fn of(thread: &ThreadMark) -> Option<Self> {
        let mut frames = sys::name_frames(&sys::stack_of(thread)?);
        if let Some(first) = frames.iter().position(StackFrame::is_of_scheduler) {
            frames.truncate(first);
        }
        Some(Self { frames })
    }

    /// Returns the frames, innermost first. The frame of an inlined function has the address of the one around it.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if let Some(innermost) = report.stack().and_then(|stack| stack.frames().first()) {
    ///         println!("stuck in {innermost}");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn frames(&self) -> &[StackFrame] {
        &self.frames
    }
}

impl fmt::Display for StackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, frame) in self.frames.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{index:4}: {frame}")?;
        }
        Ok(())
    }
}

/// A function that a thread is in.
#[derive(Debug, Clone)]
pub struct StackFrame {
    pub(super) address: usize,
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

impl StackFrame {
    /// Creates a frame without a name.
    pub(super) fn new(address: usize) -> Self {
        Self { address, function: None, file: None, line: None }
    }

    /// Returns the address at which the function continues.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     for frame in report.stack().iter().flat_map(|stack| stack.frames()) {
    ///         println!("{:#x}", frame.address());
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the function's name, if the executable has its symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     for frame in report.stack().iter().flat_map(|stack| stack.frames()) {
    ///         println!("{}", frame.function().unwrap_or("?"));
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Returns the source file, if the executable has debug information.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     for frame in report.stack().iter().flat_map(|stack| stack.frames()) {
    ///         println!("{}", frame.file().unwrap_or("?"));
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the line in the source file, if the executable has debug information.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     for frame in report.stack().iter().flat_map(|stack| stack.frames()) {
    ///         println!("line {}", frame.line().unwrap_or(0));
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// Returns true for a frame that is the same below every task and job.
    fn is_of_scheduler(&self) -> bool {
        // An inlined function is recognised by its own name, or by a task's cell in its type parameters.
        let function = self.function.as_deref().unwrap_or_default();
        ["task::cell::", "sched::pool_ref::PoolRef", "sched::worker::Worker"]
            .iter()
            .any(|part| function.contains(&format!("windlass_runtime::{part}")))
    }
}

impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(function) => f.write_str(function)?,
            None => write!(f, "{:#x}", self.address)?,
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "\n          at {file}:{line}"),
            _ => Ok(()),
        }
    }
}
