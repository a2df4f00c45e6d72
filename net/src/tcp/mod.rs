//! The halves of a [`TcpStream`], under names without a type parameter.
//!
//! # Examples
//!
//! ```
//! use windlass::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
//!
//! struct Connection {
//!     reader: OwnedReadHalf,
//!     writer: OwnedWriteHalf,
//! }
//!
//! # use windlass::net::{TcpListener, TcpStream};
//! # windlass::block_on(async {
//! # let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let stream = TcpStream::connect(listener.local_addr()?).await?;
//! let (reader, writer) = stream.into_split();
//! let connection = Connection { reader, writer };
//! connection.writer.write_all(b"hello").await?;
//! # drop(connection.reader);
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```

mod keepalive;
mod listener;
mod options;
mod socket;
mod stream;

// Documented where the crate exports them.
#[doc(hidden)]
pub use keepalive::Keepalive;
#[doc(hidden)]
pub use listener::TcpListener;
#[doc(hidden)]
pub use socket::TcpSocket;
#[doc(hidden)]
pub use stream::TcpStream;

crate::halves::half_aliases!(TcpStream);
