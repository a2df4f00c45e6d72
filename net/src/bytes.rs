//! Byte streams: what TCP and local connections and pipes have in common.
//!
//! Nothing here is public by name. [`ByteIo`] says how a kind of stream reads and writes without
//! blocking, the methods of `Async<T: ByteIo>` wait, and `methods.rs` gives them to the public types.
//!
//! The unsafe code here turns memory that the OS has written to into bytes.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::task::{Context, Poll, ready};

use windlass_runtime::io::Direction::{Read as Reading, Write as Writing};

use crate::Async;

/// How much `read_to_end` takes in one go, so that a fast sender cannot hold a worker.
const END_CHUNK: u64 = 256 * 1024;
/// So many buffers in one call are taken by every OS.
const FEWEST_BUFFERS: usize = 16;
/// More of them are taken by none.
const MOST_BUFFERS: usize = 1024;

/// A read into uninitialised memory asks for no more than this, which every OS reads in one call.
const MOST_BYTES: usize = 1 << 30;
/// How much room `read_buf` makes in a vector that is full.
const GROWTH: usize = 8 * 1024;

/// A non-blocking byte stream. All implementations are in this crate.
pub trait ByteIo {
    /// Whether a read that got less than there was room for has taken all there was. That saves the
    /// call that would say `WouldBlock`.
    const SHORT_READ_DRAINS: bool;
    /// The same for a write: whether one that took less than it was given has left no room.
    const SHORT_WRITE_FILLS: bool;
    /// Whether a read of nothing is the end only if the OS has reported something.
    const END_IS_REPORTED: bool = false;

    /// Reads.
    fn reader(&self) -> impl Read + '_;
    /// Reads into memory that need not be initialised, and returns the number of bytes at its start that
    /// the OS has written. Unsafe code relies on that number.
    fn read_uninit(&self, buf: &mut [MaybeUninit<u8>]) -> io::Result<usize>;
    /// Writes; raises no signal where that can be avoided.
    fn write(&self, buf: &[u8]) -> io::Result<usize>;
    /// Writes from several buffers.
    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Ends a direction, where directions can be ended.
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
        // SAFETY: the read has initialised as many bytes behind the end as it returned.
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
            // Appends what it gets also when it ends with an error, `WouldBlock` among them.
            let reader = || self.get_ref().reader().take(END_CHUNK).read_to_end(buf);
            let n = self.registration().io(Reading, reader).await?;
            if (n as u64) < END_CHUNK {
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
        // SAFETY: the read has initialised as many bytes behind the end as it returned.
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
        // The OS takes so many buffers at a time, so a short write may have left room.
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
        // Not every OS reports that at this end, and Linux not for every socket.
        self.registration().wake_all();
        Ok(())
    }

    /// What `AsyncWrite` calls closing: the reader at the other end sees the end of the stream.
    pub(crate) fn close(&self) -> io::Result<()> {
        match self.shutdown(Shutdown::Write) {
            // The peer has reset the connection: there is nobody to tell.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }
}

/// The part of a buffer that one call reads into.
fn readable_at_once(buf: &mut [MaybeUninit<u8>]) -> &mut [MaybeUninit<u8>] {
    let len = buf.len().min(MOST_BYTES);
    &mut buf[..len]
}

/// The first `count` bytes.
///
/// # Safety
///
/// They are initialised.
unsafe fn initialised(buf: &mut [MaybeUninit<u8>], count: usize) -> &mut [u8] {
    let bytes = &mut buf[..count];
    // SAFETY: `MaybeUninit<u8>` is laid out as `u8`, and the caller says that these are initialised.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [u8]) }
}

/// The room behind the end of a vector: at least one byte.
fn spare_capacity(buf: &mut Vec<u8>) -> &mut [MaybeUninit<u8>] {
    if buf.len() == buf.capacity() {
        buf.reserve(GROWTH);
    }
    buf.spare_capacity_mut()
}

/// The `wanted` of a read: zero for streams of which a short read tells nothing.
fn room<T: ByteIo>(len: usize) -> usize {
    if T::SHORT_READ_DRAINS { len } else { 0 }
}

/// So many as can be given at a time: some systems refuse more, others leave the rest. Not those that are empty alone, for
/// to read nothing looks like the end.
fn at_most<'a, 'b>(bufs: &'a mut [IoSliceMut<'b>]) -> &'a mut [IoSliceMut<'b>] {
    let first = bufs.iter().position(|buf| !buf.is_empty()).unwrap_or(0);
    let length = (bufs.len() - first).min(MOST_BUFFERS);
    &mut bufs[first..first + length]
}

/// As [`room`], of a read into several buffers. The OS may take fewer of them than it is given, and then a read
/// that fills those tells nothing either.
fn room_of_all<T: ByteIo>(bufs: &[IoSliceMut<'_>]) -> usize {
    if bufs.len() <= FEWEST_BUFFERS { room::<T>(total(bufs)) } else { 0 }
}

fn load<T: ByteIo>(len: usize) -> usize {
    if T::SHORT_WRITE_FILLS { len } else { 0 }
}

fn total<B: std::ops::Deref<Target = [u8]>>(bufs: &[B]) -> usize {
    bufs.iter().map(|buf| buf.len()).sum()
}
