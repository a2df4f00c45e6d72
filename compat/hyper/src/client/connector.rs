//! TCP connections for hyper-util's client.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use windlass_net::{Keepalive, TcpSocket, TcpStream, resolve};
use windlass_runtime::timer::timeout;

use super::race::{interleaved, race};
use crate::Io;
use crate::policy::{CONNECT_TIMEOUT, NEXT_ADDRESS};

/// Connects hyper-util's client.
///
/// Names are looked up on the blocking pool. If a name has several addresses, IPv6 and IPv4 take turns: if an address
/// does not answer within a quarter of a second, the next one is tried as well. A connection has to be made within ten
/// seconds in all, including the look-up.
///
/// It makes plain connections, and refuses `https`. A connector for TLS that wraps this one calls
/// [`any_scheme`](Self::any_scheme).
///
/// The extensions of each response have an [`HttpInfo`](crate::HttpInfo) with the addresses of its connection.
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
    keepalive: Option<Keepalive>,
    local_address: Option<IpAddr>,
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
        Self {
            connect_timeout: Some(CONNECT_TIMEOUT),
            nodelay: true,
            keepalive: None,
            local_address: None,
            any_scheme: false,
        }
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

    /// Has the OS probe connections that are silent, and close those whose server is gone. By default it does not.
    ///
    /// An OS that has no such settings of a socket's own refuses all but [`Keepalive::new()`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::net::Keepalive;
    /// use windlass_hyper::Connector;
    ///
    /// let connector = Connector::new().keepalive(Keepalive::new().idle(Duration::from_secs(60)));
    /// # drop(connector);
    /// ```
    pub fn keepalive(mut self, keepalive: impl Into<Option<Keepalive>>) -> Self {
        self.keepalive = keepalive.into();
        self
    }

    /// Connects from this address. Servers are then connected to by addresses of its family only.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    /// use windlass_hyper::Connector;
    ///
    /// let connector = Connector::new().local_address(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST));
    /// # drop(connector);
    /// ```
    pub fn local_address(mut self, address: impl Into<Option<IpAddr>>) -> Self {
        self.local_address = address.into();
        self
    }

    /// Takes URIs of any scheme, and not of `http` alone. For connectors that add TLS.
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
            let mut addresses = interleaved(resolve((host, port)).await?);
            match self.local_address {
                None => race(addresses, NEXT_ADDRESS, TcpStream::connect).await,
                Some(from) => {
                    addresses.retain(|address| address.is_ipv4() == from.is_ipv4());
                    race(addresses, NEXT_ADDRESS, |to| connect_from(from, to)).await
                }
            }
        };
        let stream = match self.connect_timeout {
            Some(limit) => timeout(limit, connecting).await.map_err(|_| timed_out(&uri))??,
            None => connecting.await?,
        };
        stream.set_nodelay(self.nodelay)?;
        if self.keepalive.is_some() {
            stream.set_keepalive(self.keepalive)?;
        }
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

async fn connect_from(from: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = match from {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(to).await
}

pub(super) fn timed_out(uri: &Uri) -> io::Error {
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
