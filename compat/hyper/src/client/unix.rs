//! Local connections for hyper-util's client.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use windlass_net::unix::UnixStream;
use windlass_runtime::timer::timeout;

use super::connector::timed_out;
use crate::Io;
use crate::policy::CONNECT_TIMEOUT;

/// Connects hyper-util's client to a local socket, such as that of Docker.
///
/// All requests go there, whatever host and port their URIs name. The host is what the server sees in the header `Host`.
/// A connection has to be made within ten seconds. URIs of other schemes than `http` are refused.
///
/// # Examples
///
/// ```
/// use http_body_util::Empty;
/// use hyper::body::Bytes;
/// use hyper_util::client::legacy::Client;
/// use windlass_hyper::{Executor, UnixConnector};
///
/// let connector = UnixConnector::new("/var/run/docker.sock");
/// let client = Client::builder(Executor).build::<_, Empty<Bytes>>(connector);
/// let version = client.get("http://localhost/version".parse().unwrap());
/// # drop(version);
/// ```
#[derive(Clone, Debug)]
pub struct UnixConnector {
    path: Arc<Path>,
}

impl UnixConnector {
    /// Creates a connector to the socket at this path.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_hyper::UnixConnector;
    ///
    /// let connector = UnixConnector::new("/var/run/docker.sock");
    /// # drop(connector);
    /// ```
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into().into() }
    }
}

impl tower_service::Service<Uri> for UnixConnector {
    type Response = Io<UnixStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Io<UnixStream>>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let path = self.path.clone();
        Box::pin(async move {
            if uri.scheme_str() != Some("http") {
                let message = format!("{uri}: this connector speaks plain http only");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            let connecting = timeout(CONNECT_TIMEOUT, UnixStream::connect(&path));
            connecting.await.map_err(|_| timed_out(&uri))?.map(Io::new)
        })
    }
}

impl Connection for Io<UnixStream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
