//! TCP connections for hyper-util's client.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use windlass_net::{TcpStream, resolve};
use windlass_runtime::timer::timeout;

use super::race::{interleaved, race};
use crate::Io;
use crate::policy::NEXT_ADDRESS;

/// Connects hyper-util's client.
///
/// Names are looked up on the blocking pool. If a name has several addresses, IPv6 and IPv4 take turns: if an address
/// does not answer within a quarter of a second, the next one is tried as well. A connection has to be made within ten
/// seconds in all, including the look-up.
///
/// It makes plain connections, and refuses `https`. A connector for TLS that wraps this one calls
/// [`any_scheme`](Self::any_scheme).
///
/// Dropping the future of a connection closes all attempts.
///
/// # Examples
///
/// ```
/// use http_body_util::Empty;
/// use hyper::body::Bytes;
/// use hyper_util::client::legacy::Client;
/// use windlass_hyper::{Connector, Executor, Timer};
///
/// let client = Client::builder(Executor)
///     .pool_timer(Timer)
///     .build::<_, Empty<Bytes>>(Connector::new());
/// # drop(client);
/// ```
#[derive(Clone, Debug)]
pub struct Connector {
    connect_timeout: Option<Duration>,
    nodelay: bool,
    any_scheme: bool,
}

impl Connector {
    /// Creates a connector that waits up to ten seconds for a connection, and sets TCP_NODELAY.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_hyper::Connector;
    ///
    /// let connector = Connector::new();
    /// # drop(connector);
    /// ```
    pub fn new() -> Self {
        Self { connect_timeout: Some(Duration::from_secs(10)), nodelay: true, any_scheme: false }
    }

    /// Sets how long a connection may take in all. With `None` it may take as long as the OS tries.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass_hyper::Connector;
    ///
    /// let connector = Connector::new().connect_timeout(Duration::from_secs(2));
    /// # drop(connector);
    /// ```
    pub fn connect_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.connect_timeout = timeout.into();
        self
    }

    /// Sets whether TCP_NODELAY is set on the connections.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_hyper::Connector;
    ///
    /// let connector = Connector::new().nodelay(false);
    /// # drop(connector);
    /// ```
    pub fn nodelay(mut self, on: bool) -> Self {
        self.nodelay = on;
        self
    }

    /// Accepts URIs of any scheme, not only of `http`. For connectors that add TLS.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_hyper::Connector;
    ///
    /// let below_tls = Connector::new().any_scheme();
    /// # drop(below_tls);
    /// ```
    pub fn any_scheme(mut self) -> Self {
        self.any_scheme = true;
        self
    }

    async fn connect(self, uri: Uri) -> io::Result<Io<TcpStream>> {
        let (host, port) = self.target(&uri)?;
        let connecting = async {
            let addresses = interleaved(resolve((host, port)).await?);
            race(addresses, NEXT_ADDRESS, TcpStream::connect).await
        };
        let stream = match self.connect_timeout {
            Some(limit) => timeout(limit, connecting).await.map_err(|_| timed_out(&uri))??,
            None => connecting.await?,
        };
        stream.set_nodelay(self.nodelay)?;
        Ok(Io::new(stream))
    }

    /// Returns the host and the port to connect to.
    fn target<'a>(&self, uri: &'a Uri) -> io::Result<(&'a str, u16)> {
        let scheme = uri.scheme_str().unwrap_or("http");
        if scheme != "http" && !self.any_scheme {
            let message = format!("{uri}: this connector speaks plain http only; wrap it for TLS");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let host = uri.host().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{uri} names no host"))
        })?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let usual = if matches!(scheme, "https" | "wss") { 443 } else { 80 };
        Ok((host, uri.port_u16().unwrap_or(usual)))
    }
}

fn timed_out(uri: &Uri) -> io::Error {
    let message =
        format!("no connection to {} in time", uri.authority().map_or("", |a| a.as_str()));
    io::Error::new(io::ErrorKind::TimedOut, message)
}

impl Default for Connector {
    fn default() -> Self {
        Self::new()
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = Io<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Io<TcpStream>>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

impl Connection for Io<TcpStream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_uris() {
        let connector = Connector::new();
        let target = |connector: &Connector, uri: &str| {
            let uri: Uri = uri.parse().unwrap();
            connector.target(&uri).map(|(host, port)| (host.to_owned(), port))
        };
        assert_eq!(target(&connector, "http://example.org/x").unwrap(), ("example.org".into(), 80));
        assert_eq!(target(&connector, "http://[::1]:8080/").unwrap(), ("::1".into(), 8080));
        assert!(target(&connector, "https://example.org/").is_err());
        let any = connector.clone().any_scheme();
        assert_eq!(target(&any, "https://example.org/").unwrap(), ("example.org".into(), 443));
        assert!(target(&connector, "/path").is_err());
    }
}
