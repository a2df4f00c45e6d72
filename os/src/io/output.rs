//! The standard output and the standard error stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_lock::Mutex;
use futures_io::AsyncWrite;

use crate::buffered::Buffered;

macro_rules! outputs {
    ($($function:ident $type:ident $text:literal)*) => {$(
        #[doc = concat!("Returns the standard ", $text, " of the process.")]
        ///
        /// A thread of the blocking pool writes, so a terminal or a pipe that nobody reads never blocks a worker. The
        /// bytes of one call stay together, even while `println!` and other users of std's lock write as well.
        ///
        /// The methods return when the OS has accepted the bytes. Through [`AsyncWrite`], a write is reported as done
        /// when it has started: **flush** before the program ends, or the last bytes may be missing.
        ///
        /// # Examples
        ///
        /// ```
        /// # windlass::block_on(async {
        #[doc = concat!("windlass::io::", stringify!($function), "().write_all(b\"hello\\n\").await?;")]
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn $function() -> $type {
            $type { stream: Mutex::new(Buffered::new(io::$function())) }
        }

        #[doc = concat!("The standard ", $text, "; see [`", stringify!($function), "`].")]
        pub struct $type {
            stream: Mutex<Buffered<io::$type>>,
        }

        impl $type {
            /// Writes all of `buf`, and returns its length.
            ///
            /// Dropping the future does not undo a write that has started.
            ///
            /// # Errors
            ///
            /// Returns the OS's error, or an error if the runtime shuts down.
            ///
            /// # Examples
            ///
            /// ```
            /// # windlass::block_on(async {
            #[doc = concat!("windlass::io::", stringify!($function), "().write(b\"hello\\n\").await?;")]
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
                self.write_all(buf).await.map(|()| buf.len())
            }

            /// Writes all of `buf`.
            ///
            /// Dropping the future does not undo a write that has started.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`write`](Self::write).
            ///
            /// # Examples
            ///
            /// ```
            /// # windlass::block_on(async {
            #[doc = concat!("windlass::io::", stringify!($function), "().write_all(b\"hello\\n\").await?;")]
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
                self.stream.lock().await.write_all(buf, |_| Ok(())).await
            }

            /// Waits for bytes that were written through [`AsyncWrite`].
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`write`](Self::write).
            ///
            /// # Examples
            ///
            /// ```
            /// # windlass::block_on(async {
            #[doc = concat!("windlass::io::", stringify!($function), "().flush().await?;")]
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn flush(&self) -> io::Result<()> {
                let mut stream = self.stream.lock().await;
                std::future::poll_fn(|cx| stream.poll_flush(cx)).await
            }
        }

        /// A write is reported as done when it has started; flushing waits for it. Closing flushes.
        impl AsyncWrite for $type {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.stream.get_mut().poll_write(cx, buf, |_| Ok(()))
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.stream.get_mut().poll_flush(cx)
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    )*};
}

outputs! {
    stdout Stdout "output"
    stderr Stderr "error stream"
}
