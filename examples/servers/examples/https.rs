//! HTTPS with rustls: a certificate made at the start, and HTTP/2 for clients that support it.
//!
//! ```text
//! cargo run -p windlass-servers --example https            on a free port
//! PORT=8443 cargo run -p windlass-servers --example https
//! ```

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use windlass::axum::Handshake;
use windlass::hyper::FuturesIo;
use windlass::net::TcpStream;
use windlass_servers::{listen, tls};

#[windlass::main]
async fn main() -> std::io::Result<()> {
    let listener = listen().await?;
    let url = format!("https://{}", listener.local_addr()?);
    println!("{url}");
    println!("  curl -k --http2 {url}/");
    println!("  curl -k --http1.1 {url}/");

    let (acceptor, _certificate) = tls::acceptor()?;
    let listener = Handshake::new(listener, move |stream: TcpStream| {
        let acceptor = acceptor.clone();
        async move { Ok(FuturesIo::new(acceptor.accept(stream).await?)) }
    });
    let app = Router::new().route(
        "/",
        get(|request: Request| async move { format!("hello over {:?}\n", request.version()) }),
    );
    let report = windlass::axum::serve(listener, app).on_signals()?.await?;
    println!("{report}");
    Ok(())
}
