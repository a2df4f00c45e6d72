//! The methods and the trait for reading from a byte stream, written once for all streams.

/// Defines the methods for reading, for a type with a method `io()` that returns an `Async<T: ByteIo>`.
macro_rules! read_methods {
    () => {
        /// Reads some bytes, and returns their number: at least one, and as many as are available and fit.
        ///
        /// Zero means that the peer will send no more, or that `buf` is empty. With an empty buffer the call does
        /// nothing and never waits.
        ///
        /// Dropping the future loses nothing: bytes leave the stream only when they are returned.
        ///
        /// # Errors
        ///
        /// Returns the OS's error, such as `ConnectionReset`, or an error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"hello").await?;
        /// let mut buf = [0; 1024];
        /// let n = stream.read(&mut buf).await?;
        /// assert_eq!(&buf[..n], b"hello");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io().read(buf).await
        }

        /// Reads into memory that need not be initialised, and returns the bytes that were read,
        /// which are the first of `buf`.
        ///
        /// This saves zeroing a buffer that is new each time. A buffer that is reused is initialised only once, so use
        /// [`read`](Self::read) for it. [`read_buf`](Self::read_buf) appends to a vector.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::mem::MaybeUninit;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// # peer.write_all(b"hello").await?;
        /// # peer.shutdown(std::net::Shutdown::Write)?;
        /// let mut room = [MaybeUninit::uninit(); 4096];
        /// loop {
        ///     let bytes = stream.read_uninit(&mut room).await?;
        ///     if bytes.is_empty() {
        ///         break; // the peer sends no more
        ///     }
        ///     println!("{}", String::from_utf8_lossy(bytes));
        /// }
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_uninit<'b>(
            &self,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> io::Result<&'b mut [u8]> {
            self.io().read_uninit(buf).await
        }

        /// Appends some bytes to `buf`, and returns their number: at least one, and as many as are available and fit
        /// into its spare capacity.
        ///
        /// Zero means that the peer will send no more. The spare capacity is not zeroed. A full vector grows.
        ///
        /// A peer decides how much it sends. To keep a vector from growing without limit, check its length before
        /// each call, as in the example.
        ///
        /// Dropping the future loses nothing: bytes leave the stream only when they are in `buf`.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// # peer.write_all(b"GET key\r\n").await?;
        /// let mut line = Vec::with_capacity(4096);
        /// while !line.ends_with(b"\n") && line.len() < 4096 {
        ///     if stream.read_buf(&mut line).await? == 0 {
        ///         break; // the peer sends no more
        ///     }
        /// }
        /// assert_eq!(line, b"GET key\r\n");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().read_buf(buf).await
        }

        /// Reads into several buffers, one after the other; otherwise like [`read`](Self::read).
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::IoSliceMut;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"header: value").await?;
        /// let (mut name, mut rest) = ([0; 8], [0; 1024]);
        /// let mut bufs = [IoSliceMut::new(&mut name), IoSliceMut::new(&mut rest)];
        /// let n = stream.read_vectored(&mut bufs).await?;
        /// assert_eq!((n, &name, &rest[..5]), (13, b"header: ", &b"value"[..]));
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
            self.io().read_vectored(bufs).await
        }

        /// Reads until `buf` is full.
        ///
        /// A dropped future leaves the bytes read so far at the start of `buf`, and does not tell how many there are.
        /// To be able to continue, call [`read`](Self::read) in a loop.
        ///
        /// # Errors
        ///
        /// Returns `UnexpectedEof` if the stream ends first; otherwise the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(&42_u32.to_be_bytes()).await?;
        /// let mut length = [0; 4];
        /// stream.read_exact(&mut length).await?;
        /// assert_eq!(u32::from_be_bytes(length), 42);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_exact(&self, buf: &mut [u8]) -> io::Result<()> {
            self.io().read_exact(buf).await
        }

        /// Appends everything up to the end of the stream to `buf`, and returns the number of bytes.
        ///
        /// The peer decides when the stream ends, and how much memory this takes. To read from an untrusted peer, use
        /// [`read_buf`](Self::read_buf) with a limit.
        ///
        /// Dropping the future loses nothing: the bytes read so far are in `buf`, and another call continues. The same
        /// is true after an error.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"all of it").await?;
        /// drop(peer);
        /// let mut received = Vec::new();
        /// stream.read_to_end(&mut received).await?;
        /// assert_eq!(received, b"all of it");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().read_to_end(buf).await
        }

        /// Reads without waiting; otherwise like [`read`](Self::read).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is nothing to read now; after that, `readable` waits.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let mut buf = [0; 16];
        /// assert_eq!(stream.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        ///
        /// peer.write_all(b"now").await?;
        /// stream.readable().await?;
        /// assert_eq!(stream.try_read(&mut buf)?, 3);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io().try_read(buf)
        }

        /// Does what [`read_uninit`](Self::read_uninit) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`try_read`](Self::try_read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::mem::MaybeUninit;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"now").await?;
        /// stream.readable().await?;
        /// let mut room = [MaybeUninit::uninit(); 16];
        /// assert_eq!(stream.try_read_uninit(&mut room)?, b"now");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_read_uninit<'b>(
            &self,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> io::Result<&'b mut [u8]> {
            self.io().try_read_uninit(buf)
        }

        /// Does what [`read_buf`](Self::read_buf) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`try_read`](Self::try_read).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"now").await?;
        /// stream.readable().await?;
        /// let mut received = Vec::new();
        /// assert_eq!(stream.try_read_buf(&mut received)?, 3);
        /// assert_eq!(received, b"now");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_read_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
            self.io().try_read_buf(buf)
        }

        /// Does what [`read_uninit`](Self::read_uninit) does, for poll functions, such as those of adapters to
        /// other libraries' traits.
        ///
        /// One task at a time can wait this way: the last one that polled.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`read`](Self::read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::future::poll_fn;
        /// use std::mem::MaybeUninit;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"now").await?;
        /// let mut room = [MaybeUninit::uninit(); 16];
        /// let n = poll_fn(|cx| stream.poll_read_uninit(cx, &mut room).map_ok(|bytes| bytes.len())).await?;
        /// assert_eq!(n, 3);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_read_uninit<'b>(
            &self,
            cx: &mut Context<'_>,
            buf: &'b mut [MaybeUninit<u8>],
        ) -> Poll<io::Result<&'b mut [u8]>> {
            self.io().poll_read_uninit(cx, buf)
        }

        /// Does what [`read_vectored`](Self::read_vectored) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`try_read`](Self::try_read).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::IoSliceMut;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"now").await?;
        /// stream.readable().await?;
        /// let (mut first, mut rest) = ([0; 1], [0; 16]);
        /// let mut bufs = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut rest)];
        /// assert_eq!(stream.try_read_vectored(&mut bufs)?, 3);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
            self.io().try_read_vectored(bufs)
        }
    };
}

/// Implements `AsyncRead` for a byte stream. One task at a time can wait through it: the last one that polled.
macro_rules! impl_async_read {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> futures_io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_read(cx, buf)
            }

            fn poll_read_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &mut [std::io::IoSliceMut<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_read_vectored(cx, bufs)
            }
        }
    };
}

pub(crate) use {impl_async_read, read_methods};
