//! Streams in two halves, as each peer makes them, behind one trait.

use std::io;

use ::tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use ::windlass::net::{OwnedReadHalf, OwnedWriteHalf};

use super::{NetPeer, Tokio, Windlass};

/// A runtime whose streams can be read by one task and written by another.
pub(crate) trait SplitPeer: NetPeer {
    type Reader: Send + 'static;
    type Writer: Send + 'static;

    fn split(stream: Self::Stream) -> (Self::Reader, Self::Writer);

    fn read_half<'a>(
        reader: &'a mut Self::Reader,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send;

    fn write_half<'a>(
        writer: &'a mut Self::Writer,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send;
}

impl SplitPeer for Tokio {
    type Reader = ::tokio::net::tcp::OwnedReadHalf;
    type Writer = ::tokio::net::tcp::OwnedWriteHalf;

    fn split(stream: Self::Stream) -> (Self::Reader, Self::Writer) {
        stream.into_split()
    }

    #[inline]
    fn read_half<'a>(
        reader: &'a mut Self::Reader,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send {
        reader.read(buffer)
    }

    #[inline]
    fn write_half<'a>(
        writer: &'a mut Self::Writer,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send {
        writer.write_all(bytes)
    }
}

impl SplitPeer for Windlass {
    type Reader = OwnedReadHalf<Self::Stream>;
    type Writer = OwnedWriteHalf<Self::Stream>;

    fn split(stream: Self::Stream) -> (Self::Reader, Self::Writer) {
        stream.into_split()
    }

    #[inline]
    fn read_half<'a>(
        reader: &'a mut Self::Reader,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send {
        reader.read(buffer)
    }

    #[inline]
    fn write_half<'a>(
        writer: &'a mut Self::Writer,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send {
        writer.write_all(bytes)
    }
}
