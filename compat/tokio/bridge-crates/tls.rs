//! tokio-rustls over our streams, and a WebSocket of tokio-tungstenite over that, with no tokio runtime in the process.

use std::io;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};
use windlass::Runtime;
use windlass::net::{TcpListener, TcpStream};
use windlass::tokio::Io;

/// Both ends of TLS, with a certificate that is made for the occasion.
fn ends() -> (TlsAcceptor, TlsConnector) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.key_pair.serialize_der()));
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), TlsConnector::from(Arc::new(client)))
}

async fn handshake()
-> io::Result<(client::TlsStream<Io<TcpStream>>, server::TlsStream<Io<TcpStream>>)> {
    let (acceptor, connector) = ends();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let client = TcpStream::connect(listener.local_addr()?).await?;
    let (server, _) = listener.accept().await?;
    let server = windlass::spawn(acceptor.accept(Io::new(server)));
    let name = ServerName::try_from("localhost").unwrap();
    let client = connector.connect(name, Io::new(client)).await?;
    Ok((client, server.await.unwrap()?))
}

#[test]
fn tokio_rustls_over_our_streams() {
    let runtime = Runtime::new().unwrap();
    let task = runtime.spawn(async {
        let (mut client, mut server) = handshake().await?;
        let sent: Vec<u8> = (0..1 << 20).map(|index: u32| (index % 251) as u8).collect();
        let echo = windlass::spawn(async move {
            let (mut reader, mut writer) = tokio::io::split(&mut server);
            tokio::io::copy(&mut reader, &mut writer).await?;
            writer.shutdown().await
        });
        let (mut reader, mut writer) = tokio::io::split(client);
        let writing = windlass::spawn({
            let sent = sent.clone();
            async move {
                writer.write_all(&sent).await?;
                writer.shutdown().await?;
                Ok::<_, io::Error>(writer)
            }
        });
        let mut got = Vec::new();
        reader.read_to_end(&mut got).await?;
        client = reader.unsplit(writing.await.unwrap()?);
        echo.await.unwrap()?;
        assert!(got == sent, "{} of {} bytes came back", got.len(), sent.len());
        assert!(client.get_ref().1.protocol_version().is_some());
        assert!(tokio::runtime::Handle::try_current().is_err(), "there is no tokio runtime");
        Ok::<_, io::Error>(())
    });
    runtime.block_on(task).unwrap().unwrap();
}

#[test]
fn a_websocket_of_tokio_tungstenite_over_tls() {
    let runtime = Runtime::new().unwrap();
    let task = runtime.spawn(async {
        let (client, server) = handshake().await.unwrap();
        let server = windlass::spawn(async move {
            let mut socket = accept_async(server).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                if message.is_text() {
                    socket.send(message).await.unwrap();
                }
            }
        });
        let (mut socket, _) = client_async("wss://localhost/", client).await.unwrap();
        socket.send(Message::text("hello")).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
        socket.close(None).await.unwrap();
        while socket.next().await.is_some() {}
        server.await.unwrap();
    });
    runtime.block_on(task).unwrap();
}
