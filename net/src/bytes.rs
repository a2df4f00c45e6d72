//! Reading and writing, for all byte streams: TCP connections, local connections and pipes.
//!
//! Nothing here is public by name. [`ByteIo`] defines how a kind of stream reads and writes without blocking, the
//! methods of `Async<T: ByteIo>` add the waiting, and the macros in `methods` define the public methods.
//!
//! The unsafe code turns memory that the OS has written into bytes.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::task::{Context, Poll, ready};

use windlass_runtime::io::Direction::{Read as Reading, Write as Writing};

use crate::Async;
use crate::policy::{BUFFER_GROWTH, FEWEST_BUFFERS, MOST_BUFFERS, READ_BYTES, READ_TO_END_BYTES};

/// A non-blocking byte stream. All implementations are in this crate.
pub trait ByteIo {
    /// True if a read that returns fewer bytes than there was room for has taken everything. That saves the call that
    /// would return `WouldBlock`.
    const SHORT_READ_DRAINS: bool;
    /// True if a write that accepts fewer bytes than it was given has left no room.
    const SHORT_WRITE_FILLS: bool;
    /// True if a read of zero bytes means the end of the stream only after the OS has reported an event.
    const END_IS_REPORTED: bool = false;

    /// Returns the reader of the stream.
    fn reader(&self) -> impl Read + '_;
    /// Reads into memory that need not be initialised, and returns the number of bytes at its start that the OS has
    /// written. Unsafe code relies on that number.
    fn read_uninit(&self, buf: &mut [MaybeUninit<u8>]) -> io::Result<usize>;
    /// Writes, without raising a signal where that can be avoided.
    fn write(&self, buf: &[u8]) -> io::Result<usize>;
    /// Writes from several buffers.
    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Shuts a direction down, on streams that can do that.
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;
}

impl<T: ByteIo> Async<T> {
    pub(crate) async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let mut reader = self.get_ref().reader();
        self.registration().io_bytes(Reading, room::<T>(buf.len()), || reader.read(buf)).await
    }

    pub(crate) async fn read_uninit<'b>(
        &self,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> io::Result<&'b mut [u8]> {
        let buf = readable_at_once(buf);
        let mut count = 0;
        if !buf.is_empty() {
            let room = room::<T>(buf.len());
            let read = || self.get_ref().read_uninit(buf);
            count = self.registration().io_bytes(Reading, room, read).await?;
        }
        // SAFETY: the read has initialised as many bytes as it returned.
        Ok(unsafe { initialised(buf, count) })
    }

    pub(crate) async fn read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let count = self.read_uninit(spare_capacity(buf)).await?.len();
        // SAFETY: the read has initialised as many bytes after the vector's end as it returned.
        unsafe { buf.set_len(buf.len() + count) };
        Ok(count)
    }

    pub(crate) async fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        if total(bufs) == 0 {
            return Ok(0);
        }
        let mut reader = self.get_ref().reader();
        let bufs = at_most(bufs);
        let room = room_of_all::<T>(bufs);
        self.registration().io_bytes(Reading, room, || reader.read_vectored(bufs)).await
    }

    pub(crate) async fn read_exact(&self, mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            let n = self.read(buf).await?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = &mut buf[n..];
        }
        Ok(())
    }

    pub(crate) async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let before = buf.len();
        loop {
            // Appends what it has read even if it ends with an error, such as `WouldBlock`.
            let reader = || self.get_ref().reader().take(READ_TO_END_BYTES).read_to_end(buf);
            let n = self.registration().io(Reading, reader).await?;
            if (n as u64) < READ_TO_END_BYTES {
                return Ok(buf.len() - before);
            }
        }
    }

    pub(crate) fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.try_reading(|| self.get_ref().reader().read(buf))
    }

    pub(crate) fn try_read_uninit<'b>(
        &self,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> io::Result<&'b mut [u8]> {
        let buf = readable_at_once(buf);
        let mut count = 0;
        if !buf.is_empty() {
            count = self.try_reading(|| self.get_ref().read_uninit(buf))?;
        }
        // SAFETY: the read has initialised as many bytes as it returned.
        Ok(unsafe { initialised(buf, count) })
    }

    pub(crate) fn try_read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let count = self.try_read_uninit(spare_capacity(buf))?.len();
        // SAFETY: the read has initialised as many bytes after the vector's end as it returned.
        unsafe { buf.set_len(buf.len() + count) };
        Ok(count)
    }

    pub(crate) fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        if total(bufs) == 0 {
            return Ok(0);
        }
        let bufs = at_most(bufs);
        self.try_reading(|| self.get_ref().reader().read_vectored(bufs))
    }

    fn try_reading(&self, read: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        let registration = self.registration();
        registration.try_io(Reading, || match read() {
            Ok(0) if T::END_IS_REPORTED && registration.is_silent(Reading) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            result => result,
        })
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut reader = self.get_ref().reader();
        let room = room::<T>(buf.len());
        self.registration().poll_io_bytes(Reading, cx, room, || reader.read(buf))
    }

    pub(crate) fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        let buf = readable_at_once(buf);
        let mut count = 0;
        if !buf.is_empty() {
            let room = room::<T>(buf.len());
            let read = || self.get_ref().read_uninit(buf);
            count = ready!(self.registration().poll_io_bytes(Reading, cx, room, read))?;
        }
        // SAFETY: the read has initialised as many bytes as it returned.
        Poll::Ready(Ok(unsafe { initialised(buf, count) }))
    }

    pub(crate) fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        if total(bufs) == 0 {
            return Poll::Ready(Ok(0));
        }
        let mut reader = self.get_ref().reader();
        let bufs = at_most(bufs);
        let room = room_of_all::<T>(bufs);
        self.registration().poll_io_bytes(Reading, cx, room, || reader.read_vectored(bufs))
    }

    pub(crate) async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let load = load::<T>(buf.len());
        self.registration().io_bytes(Writing, load, || self.get_ref().write(buf)).await
    }

    pub(crate) async fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        if total(bufs) == 0 {
            return Ok(0);
        }
        // The OS accepts a limited number of buffers per call, so a short write may have left room.
        self.registration().io(Writing, || self.get_ref().write_vectored(bufs)).await
    }

    pub(crate) async fn write_all(&self, mut buf: &[u8]) -> io::Result<()> {
        while !buf.is_empty() {
            let n = self.write(buf).await?;
            if n == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            buf = &buf[n..];
        }
        Ok(())
    }

    pub(crate) fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.registration().try_io(Writing, || self.get_ref().write(buf))
    }

    pub(crate) fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        if total(bufs) == 0 {
            return Ok(0);
        }
        self.registration().try_io(Writing, || self.get_ref().write_vectored(bufs))
    }

    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let load = load::<T>(buf.len());
        self.registration().poll_io_bytes(Writing, cx, load, || self.get_ref().write(buf))
    }

    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if total(bufs) == 0 {
            return Poll::Ready(Ok(0));
        }
        self.registration().poll_io(Writing, cx, || self.get_ref().write_vectored(bufs))
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.get_ref().shutdown(how)?;
        // Not every OS reports this to the end that did it, and Linux does not for every socket.
        self.registration().wake_all();
        Ok(())
    }

    /// Closes in the sense of `AsyncWrite`: the reader at the other end sees the end of the stream.
    pub(crate) fn close(&self) -> io::Result<()> {
        match self.shutdown(Shutdown::Write) {
            // The peer has reset the connection, so no end has to be sent.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }
}

/// Returns the part of a buffer that one call reads into.
fn readable_at_once(buf: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    let len = buf.len().min(READ_BYTES);
    &mut buf[..len]
}

/// Returns the first `count` bytes.
///
/// # Safety
///
/// They must be initialised.
pub(crate) unsafe fn initialised(buf: &mut [MaybeUninit<u8>], count: usize) -> &mut [u8] {
    let bytes = &mut buf[..count];
    // SAFETY: `MaybeUninit<u8>` is laid out as `u8`, and the caller guarantees that these are initialised.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [u8]) }
}

/// Returns the room behind the end of a vector: at least one byte.
fn spare_capacity(buf: &mut Vec<u8>) -> &mut [MaybeUninit<u8>] {
    if buf.len() == buf.capacity() {
        buf.reserve(BUFFER_GROWTH);
    }
    buf.spare_capacity_mut()
}

/// Returns the `wanted` of a read: zero for streams on which a short read does not mean that nothing is left.
fn room<T: ByteIo>(len: usize) -> usize {
    if T::SHORT_READ_DRAINS { len } else { 0 }
}

/// Returns as many buffers as one call accepts: some systems refuse more, others ignore the rest.
///
/// Empty buffers at the start are left out. Otherwise a call could read into empty buffers only, and its result of zero
/// bytes would look like the end of the stream.
fn at_most<'a, 'b>(bufs: &'a mut [IoSliceMut<'b>]) -> &'a mut [IoSliceMut<'b>] {
    let first = bufs.iter().position(|buf| !buf.is_empty()).unwrap_or(0);
    let length = (bufs.len() - first).min(MOST_BUFFERS);
    &mut bufs[first..first + length]
}

/// Returns the `wanted` of a read into several buffers; see [`room`].
///
/// It is zero if the OS may accept fewer buffers than it is given: then a short read may have filled those.
fn room_of_all<T: ByteIo>(bufs: &[IoSliceMut<'_>]) -> usize {
    if bufs.len() <= FEWEST_BUFFERS { room::<T>(total(bufs)) } else { 0 }
}

/// Returns the `wanted` of a write; see [`room`].
fn load<T: ByteIo>(len: usize) -> usize {
    if T::SHORT_WRITE_FILLS { len } else { 0 }
}

fn total<B: std::ops::Deref<Target = [u8]>>(bufs: &[B]) -> usize {
    bufs.iter().map(|buf| buf.len()).sum()
}
