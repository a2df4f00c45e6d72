//! TLS before HTTP, with rustls and a certificate made at the start.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_rustls::TlsAcceptor;
use futures_rustls::rustls::ServerConfig;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use futures_rustls::rustls::version::{TLS12, TLS13};
use futures_rustls::server::TlsStream;
use windlass::axum::{Connection, Listener};
use windlass::hyper::FuturesIo;
use windlass::net::{TcpListener, TcpStream};

/// A listener whose connections begin with TLS. HTTP/2 is offered, and the client chooses.
pub struct TlsListener {
    inner: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsListener {
    /// Wraps a listener. Returns the certificate as well, for clients that are to trust it: it is for `localhost` and
    /// 127.0.0.1, and lives as long as the process.
    ///
    /// # Errors
    ///
    /// If no certificate can be made.
    pub fn new(inner: TcpListener) -> io::Result<(Self, CertificateDer<'static>)> {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.key_pair.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok((Self { inner, acceptor }, certificate))
    }

    fn handshake(&self, (stream, peer): (TcpStream, SocketAddr)) -> (Handshake, SocketAddr) {
        (Handshake { stream, acceptor: self.acceptor.clone() }, peer)
    }
}

impl Listener for TlsListener {
    type Stream = Handshake;
    type Addr = SocketAddr;

    async fn accept(&self) -> io::Result<(Handshake, SocketAddr)> {
        self.inner.accept().await.map(|accepted| self.handshake(accepted))
    }

    fn try_accept(&self) -> io::Result<(Handshake, SocketAddr)> {
        self.inner.try_accept().map(|accepted| self.handshake(accepted))
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.inner.refuse_new()
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// A connection of which the handshake is still to come. It takes place in the connection's own task.
pub struct Handshake {
    stream: TcpStream,
    acceptor: TlsAcceptor,
}

impl Connection for Handshake {
    type Io = FuturesIo<TlsStream<TcpStream>>;

    async fn into_io(self) -> io::Result<Self::Io> {
        self.stream.set_nodelay(true)?;
        Ok(FuturesIo::new(self.acceptor.accept(self.stream).await?))
    }
}
