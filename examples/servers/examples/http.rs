//! Hello over HTTP/1 and HTTP/2, with hyper and nothing above it.
//!
//! ```text
//! cargo run -p windlass-servers --example http            on a free port
//! PORT=8080 cargo run -p windlass-servers --example http
//! ```

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use windlass::hyper::Io;
use windlass::hyper::server::Http;
use windlass::serve::Drain;
use windlass_servers::listen;

#[windlass::main]
async fn main() -> std::io::Result<()> {
    let listener = listen().await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("{url}");
    println!("  curl {url}/");
    println!("  curl --http2-prior-knowledge {url}/");

    let http = Arc::new(Http::new());
    let report = Drain::new().on_signals()?.serve(listener, move |stream, _peer, told| {
        let http = http.clone();
        async move {
            let _ = stream.set_nodelay(true);
            // A client's mistakes are not errors of the server.
            let _ = http.serve_connection(Io::new(stream), service_fn(hello), &told).await;
        }
    });
    println!("{}", report.await?);
    Ok(())
}

async fn hello(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let text = match request.uri().path() {
        "/" => Bytes::from_static(b"hello\n"),
        path => format!("hello, {}\n", path.trim_start_matches('/')).into(),
    };
    Ok(Response::new(Full::new(text)))
}
