//! Crates that call tokio while they run, unmodified, inside of our tasks.

#[path = "../../../tests/util/mod.rs"]
mod util;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use tower::{Service, ServiceBuilder, ServiceExt};
use util::{PATIENCE, wait_for};
use windlass::net::{TcpListener, TcpSocket, TcpStream};
use windlass::{Builder, Runtime};
use windlass_tokio::BuilderExt;

fn bridged(workers: usize) -> Runtime {
    Builder::new().workers(workers).with_tokio().build().unwrap()
}

/// Answers each request on a connection with its path, in HTTP/1.1 as plain as can be.
async fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    loop {
        let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let head = String::from_utf8_lossy(&request[..end]).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        request.drain(..end + 4);
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{path}", path.len());
        if path != "/never" {
            stream.write_all(response.as_bytes()).await?;
        }
    }
}

/// A server of ours; returns where.
async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(windlass::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(windlass::spawn(answer(stream)));
        }
    }));
    address
}

#[test]
fn reqwest_asks_a_server_of_ours() {
    let runtime = bridged(2);
    let task = runtime.spawn(async {
        let address = serve().await;
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let requests: Vec<_> = (0..20)
            .map(|number| {
                let request = client.get(format!("http://{address}/{number}"));
                windlass::spawn(async move { request.send().await?.text().await })
            })
            .collect();
        for (number, request) in requests.into_iter().enumerate() {
            assert_eq!(request.await.unwrap().unwrap(), format!("/{number}"));
        }
    });
    wait_for(task).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_request_that_is_never_answered_times_out() {
    let runtime = bridged(1);
    let task = runtime.spawn(async {
        let address = serve().await;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.get(format!("http://{address}/never"));
        request.timeout(Duration::from_millis(20)).send().await.unwrap_err()
    });
    assert!(wait_for(task).unwrap().is_timeout());
}

#[test]
fn a_request_to_nobody_is_an_error() {
    let runtime = bridged(1);
    let task = runtime.spawn(async {
        // Bound and not listening, so that no other test gets the port.
        let nobody = TcpSocket::new_v4().unwrap();
        nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = nobody.local_addr().unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.get(format!("http://{address}/")).send().await.unwrap_err()
    });
    assert!(wait_for(task).unwrap().is_connect());
}

#[test]
fn the_time_out_and_the_buffer_of_tower_work() {
    let runtime = bridged(2);
    let task = runtime.spawn(async {
        let double = tower::service_fn(|number: u64| async move {
            if number == 0 {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(number * 2)
        });
        let service = ServiceBuilder::new().buffer(4).timeout(PATIENCE).service(double);
        let mut clones = Vec::new();
        for number in 1..=10 {
            let mut service = service.clone();
            clones.push(windlass::spawn(async move {
                service.ready().await.unwrap().call(number).await.unwrap()
            }));
        }
        let mut sum = 0;
        for clone in clones {
            sum += clone.await.unwrap();
        }
        let mut service =
            ServiceBuilder::new().buffer(4).timeout(Duration::from_millis(50)).service(double);
        let error = service.ready().await.unwrap().call(0).await.unwrap_err();
        (sum, error.is::<tower::timeout::error::Elapsed>())
    });
    assert_eq!(wait_for(task).unwrap(), (110, true));
}

/// What `connect_async` calls is tokio's own `TcpStream`.
#[test]
fn tungstenite_over_a_stream_of_tokio_reaches_a_server_of_ours() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;
    use windlass_tokio::Io;

    let runtime = bridged(2);
    let task = runtime.spawn(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = windlass::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(Io::new(stream)).await.unwrap();
            let message = socket.next().await.unwrap().unwrap();
            socket.send(message).await.unwrap();
            while socket.next().await.is_some_and(|message| message.is_ok()) {}
        });
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/");
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        socket.send(Message::text("over the bridge")).await.unwrap();
        let answer = socket.next().await.unwrap().unwrap();
        socket.close(None).await.unwrap();
        server.await.unwrap();
        answer
    });
    assert_eq!(wait_for(task).unwrap(), Message::text("over the bridge"));
}
