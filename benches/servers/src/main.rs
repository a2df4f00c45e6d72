//! The same servers on windlass and on tokio, for load generators to compare: wrk, h2load, redis-benchmark.
//! `scripts/serving` starts them in turns and takes the figures.
//!
//! ```text
//! bench-server hyper|axum|redis|echo windlass|bridged|tokio
//! ```
//!
//! `bridged` is windlass with a tokio runtime beside it that nothing uses. The first line says where it
//! listens, at a free port of loopback. It serves until it is killed.

mod echo;
mod http;
mod redis;

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use windlass::tokio::BuilderExt;

/// Where all servers listen.
const ADDRESS: &str = "127.0.0.1:0";

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [server, runtime @ ("windlass" | "bridged")] => {
            let builder = windlass::Builder::new();
            let builder = if runtime == "bridged" { builder.with_tokio() } else { builder };
            let runtime = builder.build()?;
            match server {
                "hyper" => runtime.block_on(http::hyper_on_windlass()),
                "axum" => runtime.block_on(http::axum_on_windlass()),
                "redis" => runtime.block_on(redis::on_windlass()),
                "echo" => runtime.block_on(echo::on_windlass()),
                _ => Err(usage()),
            }
        }
        ["hyper", "tokio"] => on_tokio(http::hyper_on_tokio()),
        ["axum", "tokio"] => on_tokio(http::axum_on_tokio()),
        ["redis", "tokio"] => on_tokio(redis::on_tokio()),
        ["echo", "tokio"] => on_tokio(echo::on_tokio()),
        _ => Err(usage()),
    }
}

fn on_tokio(server: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(server)
}

fn usage() -> io::Error {
    io::Error::other("usage: bench-server hyper|axum|redis|echo windlass|bridged|tokio")
}

fn say_where(address: SocketAddr) {
    println!("{address}");
}
