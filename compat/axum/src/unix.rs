//! Local connections.

use std::io;

use axum::extract::connect_info::Connected;
use windlass_hyper::Io;
use windlass_net::unix::{UnixListener, UnixStream};

use crate::{Connection, Handshake, IncomingStream, TapIo};

impl Connection for UnixStream {
    type Io = Io<UnixStream>;

    async fn into_io(self) -> io::Result<Self::Io> {
        Ok(Io::new(self))
    }
}

/// The process at the other end of a local connection, as `ConnectInfo<Peer>`.
///
/// # Examples
///
/// ```
/// use axum::{Router, extract::ConnectInfo, routing::get};
/// use windlass_axum::Peer;
///
/// async fn whoami(ConnectInfo(peer): ConnectInfo<Peer>) -> String {
///     format!("user {:?}", peer.uid())
/// }
///
/// let app = Router::new().route("/", get(whoami)).into_make_service_with_connect_info::<Peer>();
/// # drop(app);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    uid: Option<u32>,
    pid: Option<i32>,
}

impl Peer {
    /// Returns the user that the process belonged to when it connected, if the OS reports it.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::ConnectInfo;
    /// use axum::http::StatusCode;
    /// use windlass_axum::Peer;
    ///
    /// async fn for_root_only(ConnectInfo(peer): ConnectInfo<Peer>) -> StatusCode {
    ///     if peer.uid() == Some(0) { StatusCode::OK } else { StatusCode::FORBIDDEN }
    /// }
    /// ```
    pub fn uid(&self) -> Option<u32> {
        self.uid
    }

    /// Returns the process's id, if the OS reports it.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::ConnectInfo;
    /// use windlass_axum::Peer;
    ///
    /// async fn whoami(ConnectInfo(peer): ConnectInfo<Peer>) -> String {
    ///     peer.pid().map_or("unknown".to_owned(), |pid| format!("process {pid}"))
    /// }
    /// ```
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }
}

impl Peer {
    fn of(stream: &UnixStream) -> Self {
        let credentials = stream.peer_cred().ok();
        Self {
            uid: credentials.map(|credentials| credentials.uid()),
            pid: credentials.and_then(|credentials| credentials.pid()),
        }
    }
}

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        Self::of(stream.stream())
    }
}

/// A listener that does something with each connection does not change the peer.
impl<F> Connected<IncomingStream<'_, TapIo<UnixListener, F>>> for Peer
where
    F: Fn(&mut UnixStream) + Send + Sync + 'static,
{
    fn connect_info(stream: IncomingStream<'_, TapIo<UnixListener, F>>) -> Self {
        Self::of(stream.stream())
    }
}

/// A handshake does not change the peer.
impl<F> Connected<IncomingStream<'_, Handshake<UnixListener, F>>> for Peer
where
    F: Clone + Send + Sync + 'static,
{
    fn connect_info(stream: IncomingStream<'_, Handshake<UnixListener, F>>) -> Self {
        Self::of(stream.stream().get_ref())
    }
}
