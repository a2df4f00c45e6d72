//! The example `redis` with its own connections, and with those of tokio.

#[path = "../../../../examples/redis/commands.rs"]
mod commands;
#[path = "../../../../examples/redis/connection.rs"]
mod connection;
#[path = "../../../../examples/redis/pubsub.rs"]
mod pubsub;
#[path = "../../../../examples/redis/request.rs"]
mod request;
#[path = "../../../../examples/redis/store.rs"]
mod store;
mod tokio_connection;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use windlass::serve::Drain;
use windlass::sync::CancellationToken;

use super::{ADDRESS, say_where};
use pubsub::Channels;
use store::Store;

/// How often expired values are let go, as in the example.
const SWEEP: Duration = Duration::from_millis(100);

/// What all connections share.
#[derive(Default)]
struct Server {
    store: Store,
    channels: Channels,
}

pub(crate) async fn on_windlass() -> io::Result<()> {
    let listener = windlass::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    let server = Arc::new(Server::default());
    let swept = server.clone();
    drop(windlass::spawn(async move {
        let mut turns = windlass::timer::interval(SWEEP);
        loop {
            turns.tick().await;
            swept.store.sweep_one();
        }
    }));
    let serving = Drain::new().serve(listener, move |stream, _peer, told| {
        let server = server.clone();
        async move {
            let _ = connection::serve(stream, &server, &told).await;
        }
    });
    serving.await.map(drop)
}

pub(crate) async fn on_tokio() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    let server = Arc::new(Server::default());
    let swept = server.clone();
    drop(tokio::spawn(async move {
        let mut turns = tokio::time::interval(SWEEP);
        loop {
            turns.tick().await;
            swept.store.sweep_one();
        }
    }));
    let told = CancellationToken::new();
    loop {
        let (stream, _) = listener.accept().await?;
        let (server, told) = (server.clone(), told.clone());
        tokio::spawn(async move {
            let _ = tokio_connection::serve(stream, &server, &told).await;
        });
    }
}
