//! Connections that are served by one task after the other.

mod common;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use common::{echo, limits, read_response, run, send_get, tcp_pair};
use hyper::service::service_fn;
use windlass_hyper::Io;
use windlass_hyper::server::Http;
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

/// Serves a request in this task and the next in another, of which the first poll answers it. Returns false if that has
/// taken longer than the limit.
async fn served(limit: Duration) -> bool {
    let (client, server) = tcp_pair().await;
    let mut serving = Box::pin(async move {
        let http = Http::new().idle_timeout(limit);
        let drain = CancellationToken::new();
        http.serve_connection(Io::new(server), service_fn(echo), &drain).await
    });
    let (mut reading, mut over) = (pin!(read_response(&client)), false);
    send_get(&client, "/first").await;
    let first = poll_fn(|cx| {
        over = over || serving.as_mut().poll(cx).is_ready();
        reading.as_mut().poll(cx)
    });
    if first.await.is_none() || over {
        return false;
    }
    send_get(&client, "/second").await;
    let serving = spawn(serving);
    if read_response(&client).await.is_none() {
        return false;
    }
    serving.await.unwrap().unwrap();
    true
}

/// When a response is over, a timer that fires in time is left alone. That of another task would not wake this one.
#[test]
fn an_idle_connection_is_closed_in_time_by_the_task_that_has_taken_it_over() {
    run(|| async {
        let mut in_time = false;
        for limit in limits() {
            in_time = in_time || served(limit).await;
        }
        assert!(in_time, "never in time");
    });
}
