//! Methods of the whole stream that its halves have as well.

use std::io;

use super::{Duplex, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};

/// Defines the addresses of halves of a stream.
macro_rules! addresses {
    ($stream:ty, $address:ty) => {
        $crate::halves::addresses!($stream, $address, $crate::ReadHalf<'_, $stream>);
        $crate::halves::addresses!($stream, $address, $crate::WriteHalf<'_, $stream>);
        $crate::halves::addresses!($stream, $address, $crate::OwnedReadHalf<$stream>);
        $crate::halves::addresses!($stream, $address, $crate::OwnedWriteHalf<$stream>);
    };
    ($stream:ty, $address:ty, $half:ty) => {
        impl $half {
            /// Returns the address of this end.
            ///
            /// # Errors
            ///
            /// Returns an error if the OS reports one.
            ///
            /// # Examples
            ///
            /// ```
            /// # use windlass::net::{TcpListener, TcpStream};
            /// # windlass::block_on(async {
            /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
            /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
            /// # let (stream, _) = listener.accept().await?;
            /// let (reader, writer) = stream.into_split();
            /// assert_eq!(reader.local_addr()?, peer.peer_addr()?);
            /// assert_eq!(writer.local_addr()?, peer.peer_addr()?);
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub fn local_addr(&self) -> std::io::Result<$address> {
                AsRef::<$stream>::as_ref(self).local_addr()
            }

            /// Returns the address of the other end.
            ///
            /// # Errors
            ///
            /// Returns `NotConnected` if the connection is gone.
            ///
            /// # Examples
            ///
            /// ```
            /// # use windlass::net::{TcpListener, TcpStream};
            /// # windlass::block_on(async {
            /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
            /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
            /// # let (stream, _) = listener.accept().await?;
            /// let (reader, writer) = stream.into_split();
            /// assert_eq!(reader.peer_addr()?, peer.local_addr()?);
            /// assert_eq!(writer.peer_addr()?, peer.local_addr()?);
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                AsRef::<$stream>::as_ref(self).peer_addr()
            }
        }
    };
}

pub(crate) use addresses;

/// Defines waiting for one direction.
macro_rules! wait {
    ($half:ty, $method:ident, $worth:literal, $example:literal) => {
        impl<S: Duplex> $half {
            #[doc = concat!("Waits until ", $worth, " is worth trying; then call a `try_` method.")]
            ///
            /// Any number of tasks can wait, and all wake up. Dropping the future loses nothing.
            ///
            /// # Errors
            ///
            /// Returns an error if the runtime shuts down.
            ///
            /// # Examples
            ///
            /// ```
            /// # use windlass::net::{TcpListener, TcpStream};
            /// # windlass::block_on(async {
            /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
            /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
            /// # let (stream, _) = listener.accept().await?;
            /// let (reader, writer) = stream.into_split();
            #[doc = $example]
            /// # drop((reader, writer, peer));
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn $method(&self) -> io::Result<()> {
                self.io().$method().await
            }
        }
    };
}

macro_rules! wait_to_read {
    ($half:ty) => {
        wait!(
            $half,
            readable,
            "reading",
            "peer.write_all(b\"hello\").await?;\nreader.readable().await?;\nassert_eq!(reader.try_read(&mut [0; 16])?, 5);"
        );
    };
}

macro_rules! wait_to_write {
    ($half:ty) => {
        wait!(
            $half,
            writable,
            "writing",
            "writer.writable().await?;\nassert_eq!(writer.try_write(b\"hello\")?, 5);"
        );
    };
}

wait_to_read!(ReadHalf<'_, S>);
wait_to_read!(OwnedReadHalf<S>);
wait_to_write!(WriteHalf<'_, S>);
wait_to_write!(OwnedWriteHalf<S>);
