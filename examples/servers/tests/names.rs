//! Uses the names behind the features `hyper`, `axum` and `tokio` as an outside program would: code that compiles here
//! must keep compiling. Only code that costs nothing is run.

use std::future::{Future, IntoFuture};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use windlass::net::{TcpListener, TcpStream};
use windlass::serve::{Drain, DrainReport, Hold, Listener, Switch};
use windlass::sync::CancellationToken;

#[test]
fn hyper() {
    use ::hyper::body::{Bytes, Incoming};
    use ::hyper::service::service_fn;
    use ::hyper::{Request, Response};
    use http_body_util::Full;
    use windlass::hyper::server::{Error, Http};
    use windlass::hyper::{Connector, Executor, FuturesIo, Io, ReadUninit, Timer, WriteVectored};

    fn is_io<T: ::hyper::rt::Read + ::hyper::rt::Write>() {}
    fn of_any_stream<T: ReadUninit + WriteVectored + Unpin>() {
        is_io::<Io<T>>();
    }
    of_any_stream::<TcpStream>();
    #[cfg(unix)]
    of_any_stream::<windlass::net::unix::UnixStream>();
    is_io::<FuturesIo<TcpStream>>();
    fn is_executor<F: Future>(_: impl ::hyper::rt::Executor<F>) {}
    is_executor::<std::future::Ready<()>>(Executor);
    fn is_timer(_: impl ::hyper::rt::Timer) {}
    is_timer(Timer);
    let _ = Connector::new().connect_timeout(Duration::from_secs(1)).nodelay(true).any_scheme();

    let mut http = Http::new()
        .header_timeout(Duration::from_secs(5))
        .idle_timeout(None)
        .linger(Duration::from_millis(250))
        .http1_only()
        .http2_only();
    http.http1().max_buf_size(64 * 1024);
    http.http2().max_concurrent_streams(64);

    async fn serve(http: Http, stream: TcpStream) -> Result<(), Error> {
        let hello = service_fn(|_: Request<Incoming>| async {
            Ok::<_, io::Error>(Response::new(Full::<Bytes>::default()))
        });
        http.serve_connection(Io::new(stream), hello, &CancellationToken::new()).await
    }
    let _ = serve;
    let _ = |error: Error| match error {
        Error::Http(_) | Error::Io(_) | Error::HeaderTimeout => {}
        _ => {}
    };
}

#[test]
fn axum() {
    use windlass::axum::{Connection, Http, IncomingStream, Serve, serve};

    fn is_connection<T: Connection>() {}
    is_connection::<TcpStream>();
    #[cfg(unix)]
    is_connection::<windlass::net::unix::UnixStream>();
    fn is_connected<T: for<'a> Connected<IncomingStream<'a, TcpListener>>>() {}
    is_connected::<SocketAddr>();

    fn set(server: Serve<TcpListener, Router>) -> io::Result<Serve<TcpListener, Router>> {
        server
            .with_graceful_shutdown(async {})
            .deadline(Duration::from_secs(30))
            .limit(10_000)
            .header_timeout(Duration::from_secs(30))
            .idle_timeout(None)
            .http(Http::new())
            .drain(Drain::new())
            .on_signals()
    }
    let _ = |listener: TcpListener| -> io::Result<_> {
        Ok(set(serve(listener, Router::new()))?.into_future())
    };
    let _ = |listener: TcpListener| {
        let app = Router::new().into_make_service_with_connect_info::<SocketAddr>();
        serve(listener, app).into_future()
    };
    // The same types through both paths.
    fn same(
        drain: windlass::axum::Drain,
        report: windlass::axum::DrainReport,
        hold: windlass::axum::Hold,
        switch: windlass::axum::Switch,
    ) -> (Drain, DrainReport, Hold, Switch) {
        (drain, report, hold, switch)
    }
    let _ = same;
    fn is_listener<T: windlass::axum::Listener + Listener>() {}
    is_listener::<TcpListener>();
}

#[test]
fn tokio() {
    use windlass::tokio::{BuilderExt, Compat, CompatExt, Io, ReadUninit, WriteVectored};

    fn is_io<T: ::tokio::io::AsyncRead + ::tokio::io::AsyncWrite>() {}
    fn of_any_stream<T: ReadUninit + WriteVectored + Unpin>() {
        is_io::<Io<T>>();
    }
    of_any_stream::<TcpStream>();
    is_io::<Compat<TcpStream>>();
    let _ = |stream: TcpStream| -> Compat<TcpStream> { stream.compat() };
    let _ = |stream: TcpStream| Io::new(stream).into_inner();
    drop(windlass::Builder::new().with_tokio());
}
