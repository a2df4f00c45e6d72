//! The settings of a server's connections, and serving one.

use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper::{Request, Response};
use windlass_sync::CancellationToken;

use super::Error;
use super::activity::Activity;
use super::drive::drive;
use super::gathered::Gathered;
use super::observed::Observed;
use super::service::Counted;
use super::told::Told;
use super::version::{Version, read_version};
use super::watch::{Limits, Overdue, Watch};
use crate::policy::{HEADER_TIMEOUT, IDLE_TIMEOUT, LINGER, WRITE_TIMEOUT};
use crate::{Executor, Timer};

type BoxError = Box<dyn StdError + Send + Sync>;

/// Serves HTTP connections: HTTP/1 with upgrades, and HTTP/2, which is recognised by its first bytes.
///
/// A connection is closed if the head of a request takes longer than 30 seconds to arrive (for the first one, counted
/// from the start), or if it is idle for 75 seconds between two requests. An HTTP/2 connection also counts as idle
/// before its first request, and is closed with GOAWAY. A connection is closed as well if its client reads nothing for
/// 60 seconds while there is something to write to it.
///
/// The body of a request may go on after the response, for example if the service has left it to a task. The limits for
/// heads and for idle connections then count anew from every 4 KiB of it. (`axum::serve` waits for slower ones, too.)
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass_hyper::server::Http;
///
/// let mut http = Http::new()
///     .header_timeout(Duration::from_secs(5))
///     .idle_timeout(Duration::from_secs(30));
/// http.http1().max_buf_size(64 * 1024);
/// http.http2().max_concurrent_streams(64);
/// ```
#[derive(Clone, Debug)]
pub struct Http {
    limits: Limits,
    only: Option<Version>,
    http1: http1::Builder,
    http2: http2::Builder<Executor>,
}

impl Http {
    /// Creates the settings described above.
    ///
    /// # Examples
    ///
    /// ```
    /// let http = windlass_hyper::server::Http::new();
    /// # drop(http);
    /// ```
    pub fn new() -> Self {
        let mut http1 = http1::Builder::new();
        // Our time-out counts from the start of the connection, and tells idle connections from slow heads.
        http1.timer(Timer).header_read_timeout(None);
        let mut http2 = http2::Builder::new(Executor);
        // This lets clients ask for WebSockets.
        http2.timer(Timer).enable_connect_protocol();
        let limits = Limits {
            header: Some(HEADER_TIMEOUT),
            idle: Some(IDLE_TIMEOUT),
            linger: LINGER,
            write: Some(WRITE_TIMEOUT),
        };
        Self { limits, only: None, http1, http2 }
    }

    /// Sets how long the head of a request may take to arrive. `None` sets no limit. Slower connections are
    /// closed without an answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let http = windlass_hyper::server::Http::new().header_timeout(Duration::from_secs(5));
    /// # drop(http);
    /// ```
    pub fn header_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.limits.header = timeout.into();
        self
    }

    /// Sets how long a connection may be idle between two requests. `None` sets no limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let http = windlass_hyper::server::Http::new().idle_timeout(Duration::from_secs(30));
    /// # drop(http);
    /// ```
    pub fn idle_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.limits.idle = timeout.into();
        self
    }

    /// Sets how long a write may wait for a client that reads nothing; 60 seconds by default. `None` sets no limit.
    ///
    /// The time counts anew from each byte that the client, or the buffers on the way to it, have taken. A connection of
    /// HTTP/2 whose client opens no window for any of its answers is told with GOAWAY after that time. A
    /// connection of HTTP/1 that was upgraded has no such limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let http = windlass_hyper::server::Http::new().write_timeout(Duration::from_secs(20));
    /// # drop(http);
    /// ```
    pub fn write_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.limits.write = timeout.into();
        self
    }

    /// Sets how long an idle HTTP/1 connection is kept once the drain begins; 250 milliseconds by default. A WebSocket
    /// has the same time to say goodbye by itself.
    ///
    /// Clients that send another request within this time learn from the answer that it is the last one. Those that
    /// send it while the connection is being closed have to send it again.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let http = windlass_hyper::server::Http::new().linger(Duration::from_millis(50));
    /// # drop(http);
    /// ```
    pub fn linger(mut self, time: Duration) -> Self {
        self.limits.linger = time;
        self
    }

    /// Accepts HTTP/1 only, whatever the connection begins with.
    ///
    /// # Examples
    ///
    /// ```
    /// let http = windlass_hyper::server::Http::new().http1_only();
    /// # drop(http);
    /// ```
    pub fn http1_only(mut self) -> Self {
        self.only = Some(Version::Http1);
        self
    }

    /// Accepts HTTP/2 only, whatever the connection begins with.
    ///
    /// # Examples
    ///
    /// ```
    /// let http = windlass_hyper::server::Http::new().http2_only();
    /// # drop(http);
    /// ```
    pub fn http2_only(mut self) -> Self {
        self.only = Some(Version::Http2);
        self
    }

    /// Returns hyper's settings of HTTP/1. Leave its `header_read_timeout` alone, and use
    /// [`header_timeout`](Self::header_timeout) instead.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut http = windlass_hyper::server::Http::new();
    /// http.http1().max_buf_size(64 * 1024);
    /// ```
    pub fn http1(&mut self) -> &mut http1::Builder {
        &mut self.http1
    }

    /// Returns hyper's settings of HTTP/2.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut http = windlass_hyper::server::Http::new();
    /// http.http2().max_concurrent_streams(64);
    /// ```
    pub fn http2(&mut self) -> &mut http2::Builder<Executor> {
        &mut self.http2
    }

    /// Serves a connection to its end. When `drain` is cancelled, the connection ends as soon as it can without losing
    /// a request; see the [module](crate::server).
    ///
    /// Upgrades (WebSockets) work. With HTTP/1 the connection goes on in the hands of the task that upgraded it, and
    /// this future lasts until that has dropped it. With HTTP/2 a stream of the connection is handed over, by the
    /// extended CONNECT of RFC 8441. In both cases the connection may be idle for any time, with HTTP/2 until the stream
    /// can send no more; [`http2`](Self::http2) has `keep_alive_interval`, which closes it when the client is gone. With
    /// HTTP/2, the [`write_timeout`](Self::write_timeout) stays in force for writes to the connection; while a stream is
    /// handed over, answers whose client opens no window are kept.
    ///
    /// An upgraded connection has left HTTP, and its protocol has its own way to say goodbye, so the task should watch
    /// `drain` by itself. An HTTP/1 WebSocket that has not ended after the [`linger`](Self::linger) gets help: at the
    /// next pause between two frames, the task reads a close frame with the code 1001, "going away", as if the client
    /// had sent it. WebSocket libraries answer it with a frame of the same code, which tells the client. If the task
    /// drops the connection without an answer, the server sends the frame to the client. There is no such help if a
    /// client sends frames together with its request, before it knows the answer.
    ///
    /// Dropping the future closes the connection, whatever it is doing. If it was upgraded, all its reads and writes
    /// fail from then on, including those that are waiting.
    ///
    /// # Errors
    ///
    /// See [`Error`]. Closing a connection that was idle for too long is not an error.
    ///
    /// # Panics
    ///
    /// Panics if the service panics while it answers an HTTP/1 request. With HTTP/2, such a panic only ends the
    /// stream's task.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use hyper::service::service_fn;
    /// use hyper::{Request, Response, body::Incoming};
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass::sync::CancellationToken;
    /// use windlass_hyper::{Io, server::Http};
    ///
    /// async fn hello(_request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    ///     Ok(Response::new("hello".to_owned()))
    /// }
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (stream, _) = listener.accept().await?;
    /// let served = windlass::spawn(async move {
    ///     let drain = CancellationToken::new();
    ///     Http::new().serve_connection(Io::new(stream), service_fn(hello), &drain).await
    /// });
    /// client.write_all(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").await?;
    /// let mut answer = [0; 15];
    /// client.read_exact(&mut answer).await?;
    /// assert_eq!(&answer, b"HTTP/1.1 200 OK");
    /// drop(client);
    /// let _ = served.await.unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn serve_connection<I, S, B>(
        &self,
        io: I,
        service: S,
        drain: &CancellationToken,
    ) -> Result<(), Error>
    where
        I: Read + Write + Unpin + Send + 'static,
        S: Service<Request<Incoming>, Response = Response<B>>,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let activity = Arc::new(Activity::new(drain.clone()));
        let mut watch = Watch::new(self.limits, activity.clone(), Told::new(drain.clone()));
        let mut io = Observed::new(io, activity.clone(), self.limits.write);
        let version = match self.only {
            Some(version) => version,
            None => match version_in_time(&mut io, &mut watch).await? {
                Some(version) => version,
                None => return Ok(()),
            },
        };
        watch.set_version(version);
        let service = Counted::new(service, activity.clone());
        let ended = match version {
            Version::Http1 => {
                let connection = self.http1.serve_connection(io, service).with_upgrades();
                drive(pin!(connection), watch, false).await
            }
            Version::Http2 => {
                let connection = self.http2.serve_connection(io, service);
                let connection = Gathered::new(connection, activity.clone());
                drive(pin!(connection), watch, true).await
            }
        };
        // By now hyper's future was dropped, and its I/O as well unless that was handed over.
        if let Some(upgrade) = activity.upgrade() {
            upgrade.closed(drain, self.limits.linger).await;
        }
        ended
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the version, or `None` if the connection ended, or the drain began, before the client sent anything.
async fn version_in_time<I: Read + Write + Unpin + Send + 'static>(
    io: &mut Observed<I>,
    watch: &mut Watch,
) -> Result<Option<Version>, Error> {
    let mut reading = pin!(read_version(io));
    poll_fn(|cx| {
        if let Poll::Ready(version) = reading.as_mut().poll(cx) {
            return Poll::Ready(version.map_err(Error::Io));
        }
        watch.poll_overdue(cx).map(|overdue| match overdue {
            Overdue::Head => Err(Error::HeaderTimeout),
            Overdue::Request => Ok(None),
        })
    })
    .await
}
