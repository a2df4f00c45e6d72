//! A small server that speaks Redis: GET, SET with expiry, DEL, INCR, PUBLISH, SUBSCRIBE, pipelining.
//!
//! ```text
//! cargo run --release --example redis              serve on a free port, or on $PORT, until Ctrl-C or SIGTERM
//! cargo run --release --example redis -- --demo    serve, try all of it, exit
//! ```

mod commands;
mod connection;
mod demo;
mod pubsub;
mod request;
mod store;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use windlass::net::TcpListener;
use windlass::serve::Drain;

use pubsub::Channels;
use store::Store;

/// The state that all connections share.
#[derive(Default)]
struct Server {
    store: Store,
    channels: Channels,
}

#[windlass::main]
async fn main() -> io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    println!("redis://{address}");
    println!("  redis-cli -p {} set greeting hello ex 10", address.port());
    println!("  redis-cli -p {} subscribe news", address.port());
    println!("  redis-benchmark -p {} -t set,get -P 16 -q", address.port());

    let server = Arc::new(Server::default());
    let drain = Drain::new().deadline(Duration::from_secs(5)).on_signals()?;
    let switch = drain.switch();
    let sweeper = windlass::spawn(sweep(server.clone()));
    let serving = windlass::spawn(drain.serve(listener, move |stream, _peer, told| {
        let server = server.clone();
        async move {
            // A client that disconnects in the middle is not an error of the server.
            let _ = connection::serve(stream, &server, &told).await;
        }
    }));
    if std::env::args().nth(1).as_deref() == Some("--demo") {
        demo::run(address).await?;
        switch.flip();
    }
    println!("{}", serving.await.map_err(io::Error::other)??);
    sweeper.abort();
    Ok(())
}

/// Frees expired keys that nobody asks for.
async fn sweep(server: Arc<Server>) {
    let mut turns = windlass::timer::interval(Duration::from_millis(100));
    loop {
        turns.tick().await;
        server.store.sweep_one();
    }
}
