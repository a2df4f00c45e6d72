//! An awaitable stream over blocking calls, for files, the standard streams, and pipes that the OS can't poll.
//!
//! A thread of the blocking pool can't use the caller's buffer, because the caller may drop it.
//! Therefore bytes pass through a buffer that belongs to the stream:
//!
//! - **Reading** fills the buffer with as much as the caller has room for, and copies it to the caller. If the caller's
//!   future was dropped meanwhile, the bytes stay for the next read.
//! - **Writing** copies the bytes, and starts the call. The poll function reports the bytes as written at that point;
//!   an error is returned by the next write or flush. The async functions wait for the end of the call.
//!
//! Calls are made one at a time, in order.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::task::{Context, Poll, ready};

use crate::blocking::{Blocking, poll_budget};
use crate::policy::PASSED_ON;

/// A stream and its buffers.
#[derive(Debug)]
pub(crate) struct Buffered<T> {
    state: Blocking<State<T>>,
}

/// The value that calls work on.
#[derive(Debug)]
pub(crate) struct State<T> {
    pub(crate) io: T,
    /// Bytes that were read and not returned yet are at `start..end`.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// The result of the last read, until it is returned.
    read: Option<io::Result<usize>>,
    output: Vec<u8>,
    /// The error of a write whose caller did not wait.
    failed: Option<io::Error>,
    /// The result of the last seek, until it is returned or the cursor moves again.
    sought: Option<(SeekFrom, io::Result<u64>)>,
}

impl<T: Send + 'static> Buffered<T> {
    pub(crate) fn new(io: T) -> Self {
        let (input, output) = (Vec::new(), Vec::new());
        let state =
            State { io, input, start: 0, end: 0, read: None, output, failed: None, sought: None };
        Self { state: Blocking::new(state) }
    }

    /// Waits until no call is running.
    pub(crate) async fn idle(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.state.poll_idle(cx).map_ok(drop)).await
    }

    /// Waits for the running call, and returns true if bytes can be returned without another read.
    pub(crate) fn poll_has_input(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let state = ready!(self.state.poll_idle(cx))?;
        Poll::Ready(Ok(state.is_ahead() || state.read.is_some()))
    }

    /// Waits for the running call, and returns the error of an earlier write, if any.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let failed = ready!(self.state.poll_idle(cx))?.failed.take();
        Poll::Ready(failed.map_or(Ok(()), Err))
    }
}

impl<T: Read + Send + 'static> Buffered<T> {
    /// Reads from what may grow: an end that was found for a caller whose future was dropped is looked for again.
    pub(crate) async fn read(
        &mut self,
        buf: &mut [u8],
        at_once: fn(&T, &mut [u8]) -> Option<usize>,
    ) -> io::Result<usize> {
        if !buf.is_empty() {
            self.idle().await?;
            self.state.value().read.take_if(|read| matches!(read, Ok(0)));
        }
        std::future::poll_fn(|cx| self.poll_read(cx, buf, at_once)).await
    }

    /// Reads. `at_once` may return the bytes without blocking.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        at_once: fn(&T, &mut [u8]) -> Option<usize>,
    ) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        // A task whose reads never wait must let others run.
        ready!(poll_budget(cx));
        loop {
            let mut state = ready!(self.state.poll_idle(cx))?;
            state.sought = None;
            if let Some(read) = state.give_out(buf) {
                return Poll::Ready(read);
            }
            if let Some(read) = at_once(&state.io, buf) {
                return Poll::Ready(Ok(read));
            }
            drop(state);
            let len = buf.len().min(PASSED_ON);
            self.state.start(move |state| state.fill(len));
        }
    }

    /// Appends everything that is left to `buf`, in one call.
    pub(crate) async fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.idle().await?;
        self.state.start(State::fill_to_end);
        self.idle().await?;
        let mut state = self.state.value();
        state.sought = None;
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
    /// Copies the bytes, and starts to write. `prepare` runs first, on the blocking thread.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
        prepare: fn(&mut State<T>) -> io::Result<()>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        let len = buf.len().min(PASSED_ON);
        if len > 0 {
            self.begin_write(&buf[..len], prepare);
        }
        Poll::Ready(Ok(len))
    }

    /// Writes all of `buf` in one call, and waits for its end.
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
        state.sought = None;
        state.output.clear();
        state.output.extend_from_slice(buf);
        drop(state);
        self.state.start(move |state| {
            let written = prepare(state).and_then(|()| state.io.write_all(&state.output));
            state.failed = written.and_then(|()| state.io.flush()).err();
            if state.output.capacity() > PASSED_ON {
                state.output = Vec::new();
            }
        });
    }
}

impl<T: Seek + Send + 'static> Buffered<T> {
    /// Moves the cursor.
    pub(crate) async fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.idle().await?;
        // This result belongs to a caller whose future was dropped. Since then, the cursor or the end of the file may
        // have moved.
        self.state.value().sought = None;
        std::future::poll_fn(|cx| self.poll_seek(cx, position)).await
    }

    /// Moves the cursor, for a caller that polls until it is ready. If the caller gives up, the next read or write
    /// discards the result.
    pub(crate) fn poll_seek(
        &mut self,
        cx: &mut Context<'_>,
        position: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        loop {
            let mut state = ready!(self.state.poll_idle(cx))?;
            match state.sought.take() {
                Some((asked, result)) if asked == position => return Poll::Ready(result),
                // The result of a caller whose future was dropped.
                _ => {}
            }
            drop(state);
            self.state.start(move |state| state.seek(position));
        }
    }
}

impl<T: Seek + Send + 'static> Buffered<T> {
    /// Waits for the running call, returns the error of an earlier write, and moves the cursor back
    /// to the position that the caller has read to.
    pub(crate) async fn unread(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await?;
        self.state.value().sought = None;
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

    /// Copies bytes that were read, or returns the result of the read. Returns `None` if there was no read.
    fn give_out(&mut self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        let read = self.read.take();
        let left = &self.input[self.start..self.end];
        if left.is_empty() {
            // The bytes of this read have been returned before.
            return read.filter(|read| !matches!(read, Ok(1..)));
        }
        // Bytes that were read before an error are returned first.
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
    /// Moves the cursor back to the position that the caller has read to.
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
    use std::future::Future;
    use std::io::Cursor;
    use std::task::Waker;

    use windlass_sync::primitives::{Arc, Mutex};

    use super::*;

    /// A state whose caller has received two of the five bytes that were read.
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

    /// The next read reported the end of a file that had grown since.
    #[test]
    fn an_end_that_a_given_up_read_has_found_is_looked_for_again() {
        struct Grows(Arc<Mutex<Cursor<Vec<u8>>>>);

        impl Read for Grows {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.lock().read(buf)
            }
        }

        let file = Arc::new(Mutex::new(Cursor::new(Vec::new())));
        let mut stream = Buffered::new(Grows(file.clone()));
        windlass_runtime::block_on(async {
            let mut buf = [0; 4];
            let held = file.lock();
            let mut given_up = Box::pin(stream.read(&mut buf, |_, _| None));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
            drop((given_up, held));
            stream.idle().await.unwrap();
            file.lock().get_mut().push(7);
            assert_eq!(stream.read(&mut buf, |_, _| None).await.unwrap(), 1);
            assert_eq!(stream.read(&mut buf, |_, _| None).await.unwrap(), 0);
        });
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
