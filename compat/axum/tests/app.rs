//! axum's parts, as programs use them, with no runtime of tokio in the process.

mod common;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::extract::{ConnectInfo, Path, Query, State};
use axum::handler::HandlerWithoutStateExt;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use axum::{Json, Router};
use common::{Items, ask, connect, http2, request, run, server, text};
use windlass_axum::{Handshake, Http, ListenerExt, serve};
use windlass_hyper::Io;
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::spawn;
use windlass_runtime::timer::{sleep, timeout};

fn app() -> Router {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/users/{id}", get(|Path(id): Path<u32>| async move { format!("user {id}") }))
        .route(
            "/sum",
            post(|Json(numbers): Json<Vec<u64>>| async move { Json(numbers.iter().sum::<u64>()) }),
        )
        .route(
            "/query",
            get(|Query(pairs): Query<Vec<(String, String)>>| async move { format!("{pairs:?}") }),
        )
        .route("/state", get(|State(state): State<&'static str>| async move { state }))
        .route(
            "/events",
            get(|| async {
                let mut left = 3;
                Sse::new(Items(move || {
                    left -= 1;
                    (left >= 0).then(|| Event::default().data(left.to_string()))
                }))
            }),
        )
        .route("/slow", get(|| sleep(Duration::from_secs(3600))))
        .layer(middleware::from_fn(|request: axum::extract::Request, next: Next| async move {
            match timeout(Duration::from_millis(200), next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let late = StatusCode::GATEWAY_TIMEOUT;
                    axum::response::IntoResponse::into_response(late)
                }
            }
        }))
        .with_state("stately")
}

#[test]
fn handlers_extractors_and_middleware_over_http1() {
    run(|| async {
        assert!(windlass_runtime::Handle::try_current().is_some());
        let (address, switch, serving) = server(app()).await;
        let client = connect(address).await;
        let get = |path| common::get(&client, path);
        assert_eq!(get("/").await.unwrap(), (200, "hello".into()));
        assert_eq!(get("/users/7").await.unwrap().1, "user 7");
        assert_eq!(get("/users/x").await.unwrap().0, 400);
        assert_eq!(get("/nowhere").await.unwrap().0, 404);
        assert_eq!(get("/state").await.unwrap().1, "stately");
        assert_eq!(get("/query?a=1&b=2").await.unwrap().1, r#"[("a", "1"), ("b", "2")]"#);
        assert_eq!(get("/slow").await.unwrap().0, 504);
        let json = "POST /sum HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
                    content-length: 9\r\n\r\n[1, 2, 3]";
        assert_eq!(ask(&client, json).await.unwrap(), (200, "6".into()));
        drop(client);
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

#[test]
fn the_same_over_http2() {
    run(|| async {
        let (address, switch, serving) = server(app()).await;
        let mut sender = http2(address).await;
        let response = sender.send_request(request("/users/8")).await.unwrap();
        assert_eq!(text(response).await, "user 8");
        let response = sender.send_request(request("/slow")).await.unwrap();
        assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
        let response = sender.send_request(request("/events")).await.unwrap();
        assert_eq!(text(response).await, "data: 2\n\ndata: 1\n\ndata: 0\n\n");
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

#[test]
fn handlers_know_who_asks() {
    run(|| async {
        let app = Router::new()
            .route(
                "/",
                get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }),
            )
            .into_make_service_with_connect_info::<SocketAddr>();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(spawn(serve(listener, app).into_future()));
        let client = connect(address).await;
        let me = client.local_addr().unwrap().to_string();
        assert_eq!(common::get(&client, "/").await.unwrap(), (200, me));
    });
}

/// What one server may be made of, and what it says of itself, as with axum's own.
#[test]
fn handlers_alone_and_listeners_that_do_something_with_each_connection() {
    run(|| async {
        // A handler, without a router.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let server = serve(listener, (|| async { "alone" }).into_service());
        assert_eq!(server.local_addr().unwrap(), here);
        let server = server.with_graceful_shutdown(std::future::pending());
        assert_eq!(server.local_addr().unwrap(), here);
        drop(spawn(server.into_future()));
        assert_eq!(common::get(&connect(here).await, "/any").await.unwrap().1, "alone");

        // A listener that counts, and still knows who asks.
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap().tap_io(move |stream| {
            assert!(stream.peer_addr().is_ok());
            counted.fetch_add(1, Relaxed);
        });
        let who = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
        let app = get(who).into_make_service_with_connect_info::<SocketAddr>();
        let server = serve(listener, app);
        let here = server.local_addr().unwrap();
        drop(spawn(server.into_future()));
        for number in 1..4 {
            let client = connect(here).await;
            let me = client.local_addr().unwrap().to_string();
            assert_eq!(common::get(&client, "/").await.unwrap(), (200, me));
            assert_eq!(count.load(Relaxed), number);
        }
    });
}

/// As TLS does: the handshake has the stream for itself, and what it makes of it speaks HTTP.
#[test]
fn a_handshake_comes_before_http_and_handlers_still_know_who_asks() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap().tap_io(|_| {});
        let listener = Handshake::new(listener, |stream: TcpStream| async move {
            assert!(stream.nodelay().unwrap(), "the options are set before");
            let mut word = [0; 6];
            stream.read_exact(&mut word).await?;
            match &word {
                b"sesame" => Ok(Io::new(stream)),
                _ => Err(std::io::ErrorKind::PermissionDenied.into()),
            }
        });
        let who = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
        let server = serve(listener, get(who).into_make_service_with_connect_info::<SocketAddr>());
        let here = server.local_addr().unwrap();
        drop(spawn(server.into_future()));
        let stranger = connect(here).await;
        stranger.write_all(b"please").await.unwrap();
        assert_eq!(stranger.read(&mut [0]).await.unwrap(), 0);
        let client = connect(here).await;
        client.write_all(b"sesame").await.unwrap();
        let me = client.local_addr().unwrap().to_string();
        assert_eq!(common::get(&client, "/").await.unwrap(), (200, me));
    });
}

#[cfg(unix)]
#[test]
fn local_sockets_and_their_peers() {
    use windlass_axum::Peer;
    use windlass_net::unix::{UnixListener, UnixStream};

    run(|| async {
        let path = std::env::temp_dir().join(format!("windlass-axum-{}", std::process::id()));
        let app =
            Router::new()
                .route(
                    "/",
                    get(|ConnectInfo(peer): ConnectInfo<Peer>| async move {
                        format!("{:?}", peer.pid())
                    }),
                )
                .into_make_service_with_connect_info::<Peer>();
        let listener = UnixListener::bind(&path).unwrap();
        let (tell, told) = (windlass_sync::CancellationToken::new(), ());
        let signal = tell.clone().cancelled_owned();
        let server = serve(listener, app).with_graceful_shutdown(signal);
        assert_eq!(server.local_addr().unwrap().as_pathname(), Some(path.as_path()));
        let serving = spawn(server.into_future());
        let stream = Io::new(UnixStream::connect(&path).await.unwrap());
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        drop((spawn(connection), told));
        let response = sender.send_request(request("/")).await.unwrap();
        assert_eq!(text(response).await, format!("Some({})", std::process::id()));
        drop(sender);
        tell.cancel();
        assert!(serving.await.unwrap().unwrap().is_clean());
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn what_is_served_over_tcp_is_sent_without_delay_unless_that_is_not_wanted() {
    run(|| async {
        for nodelay in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            // The handshake is the first that sees the connection after its options are set.
            let listener = Handshake::new(listener, move |stream: TcpStream| async move {
                let is_set = stream.nodelay()?;
                stream.write_all(if is_set { b"y" } else { b"n" }).await?;
                Ok(Io::new(stream))
            });
            let server = serve(listener, get(|| async { "hello" }));
            let server = if nodelay { server } else { server.tcp_nodelay(false) };
            let here = server.local_addr().unwrap();
            drop(spawn(server.into_future()));
            let client = connect(here).await;
            let mut is_set = [0];
            client.read_exact(&mut is_set).await.unwrap();
            assert_eq!(is_set == *b"y", nodelay);
            assert_eq!(common::get(&client, "/").await.unwrap().1, "hello");
        }
    });
}

/// Settings of HTTP that came later took those of the server along.
#[test]
fn the_time_outs_of_a_server_hold_in_whatever_order_they_are_set() {
    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(3600);
    run(|| async {
        let http = || Http::new().header_timeout(LONG).idle_timeout(LONG);
        for http_last in [false, true] {
            let app = Router::new().route("/", get(|| async { "hello" }));
            let (here, _switch, _serving) = common::server_with(app, |server| match http_last {
                true => server.header_timeout(SHORT).idle_timeout(SHORT).http(http()),
                false => server.http(http()).header_timeout(SHORT).idle_timeout(SHORT),
            })
            .await;
            let client = connect(here).await;
            client.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
            assert_eq!(client.read(&mut [0]).await.unwrap_or(0), 0);
            // The first request may be late, on a crowded machine, and is not answered then.
            let client = connect(here).await;
            let _ = common::get(&client, "/").await;
            assert_eq!(client.read(&mut [0]).await.unwrap_or(0), 0);
        }
    });
}

/// Whatever is around a listener, handlers learn who asks.
#[cfg(unix)]
#[test]
fn peers_are_known_through_taps_and_handshakes() {
    use windlass_axum::{IncomingStream, Peer};
    use windlass_net::unix::{UnixListener, UnixStream};

    fn knows<L, P>(_listener: &L)
    where
        L: windlass_axum::Listener,
        P: for<'a> axum::extract::connect_info::Connected<IncomingStream<'a, L>>,
    {
    }

    run(|| async {
        let shake = |stream: TcpStream| async move { Ok(Io::new(stream)) };
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        knows::<_, SocketAddr>(&Handshake::new(tcp, shake).tap_io(|_| {}));
        let path =
            |name| std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
        let (tapped, shaken) = (path("tapped"), path("shaken"));
        knows::<_, Peer>(&UnixListener::bind(&tapped).unwrap().tap_io(|_| {}));
        let local = UnixListener::bind(&shaken).unwrap();
        knows::<_, Peer>(&Handshake::new(local, |stream: UnixStream| async move {
            Ok(Io::new(stream))
        }));
        std::fs::remove_file(tapped).unwrap();
        std::fs::remove_file(shaken).unwrap();
    });
}
