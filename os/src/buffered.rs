//! A stream whose calls block, made awaitable: files, the standard streams, and pipes where the OS can't poll them.
//!
//! A thread of the blocking pool can't be given the caller's buffer, because the caller may go away. So bytes pass through a
//! buffer of the stream's own:
//!
//! - **Reading** fills the buffer with as much as the caller has room for, and copies. If the caller has gone
//!   meanwhile, the bytes wait for the next one.
//! - **Writing** copies, and begins the call. By the poll function the bytes count as written then; an error is told by the next
//!   write or flush. The async functions wait for the call to end.
//!
//! Calls are made one at a time, in order.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::task::{Context, Poll, ready};

use crate::blocking::{Blocking, poll_budget};

/// The most that the poll functions pass on in one call.
const MOST: usize = 2 * 1024 * 1024;

/// A stream and its buffers.
#[derive(Debug)]
pub(crate) struct Buffered<T> {
    state: Blocking<State<T>>,
}

/// What calls work on.
#[derive(Debug)]
pub(crate) struct State<T> {
    pub(crate) io: T,
    /// What was read and not given out yet is at `start..end`.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// How the last read ended, until somebody was told.
    read: Option<io::Result<usize>>,
    output: Vec<u8>,
    /// Why a write failed whose caller did not wait.
    failed: Option<io::Error>,
    /// How the last seek ended, until somebody was told.
    sought: Option<(SeekFrom, io::Result<u64>)>,
}

impl<T: Send + 'static> Buffered<T> {
    pub(crate) fn new(io: T) -> Self {
        let (input, output) = (Vec::new(), Vec::new());
        let state =
            State { io, input, start: 0, end: 0, read: None, output, failed: None, sought: None };
        Self { state: Blocking::new(state) }
    }

    /// Waits until no call is under way.
    pub(crate) async fn idle(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.state.poll_idle(cx).map_ok(drop)).await
    }

    /// Ready unless a read has to be begun for the next bytes.
    pub(crate) fn poll_has_input(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let state = ready!(self.state.poll_idle(cx))?;
        Poll::Ready(Ok(state.is_ahead() || state.read.is_some()))
    }

    /// Waits for the call under way, and tells why a write before it has failed.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let failed = ready!(self.state.poll_idle(cx))?.failed.take();
        Poll::Ready(failed.map_or(Ok(()), Err))
    }
}

impl<T: Read + Send + 'static> Buffered<T> {
    /// Reads. `at_once` may have the bytes without blocking.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        at_once: fn(&T, &mut [u8]) -> Option<usize>,
    ) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        // What never has to wait must not keep others from their turn.
        ready!(poll_budget(cx));
        loop {
            let mut state = ready!(self.state.poll_idle(cx))?;
            if let Some(read) = state.give_out(buf) {
                return Poll::Ready(read);
            }
            if let Some(read) = at_once(&state.io, buf) {
                return Poll::Ready(Ok(read));
            }
            drop(state);
            let len = buf.len().min(MOST);
            self.state.start(move |state| state.fill(len));
        }
    }

    /// Appends all that is left to `buf`, in one call.
    pub(crate) async fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.idle().await?;
        self.state.start(State::fill_to_end);
        self.idle().await?;
        let mut state = self.state.value();
        let len = state.end - state.start;
        buf.extend_from_slice(&state.input[state.start..state.end]);
        (state.start, state.end) = (0, 0);
        state.input = Vec::new();
        match state.read.take() {
            Some(Err(error)) => Err(error),
            _ => Ok(len),
        }
    }
}

impl<T: Write + Send + 'static> Buffered<T> {
    /// Copies and begins to write. `prepare` comes first, on the thread that may block.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
        prepare: fn(&mut State<T>) -> io::Result<()>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        let len = buf.len().min(MOST);
        if len > 0 {
            self.begin_write(&buf[..len], prepare);
        }
        Poll::Ready(Ok(len))
    }

    /// Writes all of it, in one call, and waits for that.
    pub(crate) async fn write_all(
        &mut self,
        buf: &[u8],
        prepare: fn(&mut State<T>) -> io::Result<()>,
    ) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await?;
        if buf.is_empty() {
            return Ok(());
        }
        self.begin_write(buf, prepare);
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }

    fn begin_write(&mut self, buf: &[u8], prepare: fn(&mut State<T>) -> io::Result<()>) {
        let mut state = self.state.value();
        state.output.clear();
        state.output.extend_from_slice(buf);
        drop(state);
        self.state.start(move |state| {
            let written = prepare(state).and_then(|()| state.io.write_all(&state.output));
            state.failed = written.and_then(|()| state.io.flush()).err();
            if state.output.capacity() > MOST {
                state.output = Vec::new();
            }
        });
    }
}

impl<T: Seek + Send + 'static> Buffered<T> {
    /// Moves the cursor.
    pub(crate) fn poll_seek(
        &mut self,
        cx: &mut Context<'_>,
        position: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        loop {
            let mut state = ready!(self.state.poll_idle(cx))?;
            match state.sought.take() {
                Some((asked, result)) if asked == position => return Poll::Ready(result),
                // Of a caller that has gone.
                _ => {}
            }
            drop(state);
            self.state.start(move |state| state.seek(position));
        }
    }
}

impl<T: Seek + Send + 'static> Buffered<T> {
    /// Waits for what is under way, tells why a write has failed, and takes the cursor to where the caller believes it
    /// to be.
    pub(crate) async fn unread(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await?;
        if self.state.value().is_ahead() {
            self.state.start(|state| state.failed = state.unread().err());
            std::future::poll_fn(|cx| self.poll_flush(cx)).await?;
        }
        Ok(())
    }
}

impl<T> State<T> {
    fn is_ahead(&self) -> bool {
        self.start < self.end
    }

    /// Copies what was read, or tells how the read ended; `None` if there was none.
    fn give_out(&mut self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        let read = self.read.take();
        let left = &self.input[self.start..self.end];
        if left.is_empty() {
            // A read of so many bytes has been given out before.
            return read.filter(|read| !matches!(read, Ok(1..)));
        }
        // What came before an error comes first.
        self.read = read.filter(Result::is_err);
        let len = left.len().min(buf.len());
        buf[..len].copy_from_slice(&left[..len]);
        self.start += len;
        Some(Ok(len))
    }
}

impl<T: Read> State<T> {
    fn fill(&mut self, len: usize) {
        if self.input.len() < len {
            self.input.resize(len, 0);
        }
        let read = loop {
            match self.io.read(&mut self.input[..len]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        (self.start, self.end) = (0, *read.as_ref().unwrap_or(&0));
        self.read = Some(read);
    }

    fn fill_to_end(&mut self) {
        self.input.truncate(self.end);
        self.input.drain(..self.start);
        self.read = Some(self.io.read_to_end(&mut self.input));
        (self.start, self.end) = (0, self.input.len());
    }
}

impl<T: Seek> State<T> {
    /// Takes the cursor back to where the caller believes it to be: behind what was given out.
    pub(crate) fn unread(&mut self) -> io::Result<()> {
        let ahead = (self.end - self.start) as i64;
        self.forget_input();
        if ahead > 0 {
            self.io.seek(SeekFrom::Current(-ahead))?;
        }
        Ok(())
    }

    fn seek(&mut self, position: SeekFrom) {
        let ahead = (self.end - self.start) as i64;
        let from = match position {
            SeekFrom::Current(offset) => offset.checked_sub(ahead).map(SeekFrom::Current),
            other => Some(other),
        };
        let result = match from {
            Some(from) => self.io.seek(from),
            None => Err(io::ErrorKind::InvalidInput.into()),
        };
        if result.is_ok() {
            self.forget_input();
        }
        self.sought = Some((position, result));
    }

    fn forget_input(&mut self) {
        (self.start, self.end) = (0, 0);
        self.read = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A state whose caller has got two of the five bytes that were read.
    fn ahead() -> State<Cursor<Vec<u8>>> {
        let io = Cursor::new(b"0123456789".to_vec());
        let (input, output) = (Vec::new(), Vec::new());
        let mut state =
            State { io, input, start: 0, end: 0, read: None, output, failed: None, sought: None };
        state.fill(5);
        let mut two = [0; 2];
        assert_eq!(state.give_out(&mut two).unwrap().unwrap(), 2);
        assert_eq!(state.io.position(), 5);
        state
    }

    #[test]
    fn a_write_goes_where_the_caller_believes_the_cursor_to_be() {
        let mut state = ahead();
        state.unread().unwrap();
        assert_eq!(state.io.position(), 2);
        assert!(!state.is_ahead());
        state.unread().unwrap();
        assert_eq!(state.io.position(), 2);
    }

    #[test]
    fn a_seek_counts_from_where_the_caller_believes_the_cursor_to_be() {
        for (position, expected) in [
            (SeekFrom::Current(1), 3),
            (SeekFrom::Current(-2), 0),
            (SeekFrom::Start(7), 7),
            (SeekFrom::End(-1), 9),
        ] {
            let mut state = ahead();
            state.seek(position);
            assert_eq!(state.sought.take().unwrap().1.unwrap(), expected);
            assert!(!state.is_ahead());
        }
    }

    #[test]
    fn a_seek_that_fails_loses_nothing() {
        let mut state = ahead();
        for offset in [-3, i64::MIN] {
            state.seek(SeekFrom::Current(offset));
            assert!(state.sought.take().unwrap().1.is_err());
        }
        let mut rest = [0; 8];
        assert_eq!(state.give_out(&mut rest).unwrap().unwrap(), 3);
        assert_eq!(&rest[..3], b"234");
    }

    #[test]
    fn what_is_left_comes_before_the_rest_of_the_file() {
        let mut state = ahead();
        state.fill_to_end();
        let mut rest = [0; 16];
        assert_eq!(state.give_out(&mut rest).unwrap().unwrap(), 8);
        assert_eq!(&rest[..8], b"23456789");
    }
}
