//! An API that computes on all cores, on the same workers that serve requests, while other requests stay fast.
//!
//! ```text
//! cargo run --release -p windlass-servers --example parallel_api          on a free port
//! PORT=8080 cargo run --release -p windlass-servers --example parallel_api
//! ```

use std::fmt::Write;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{get, post};
use windlass::par;
use windlass_servers::listen;

/// The largest body.
const LIMIT: usize = 256 << 20;
/// The number of bytes that are hashed in one piece.
const CHUNK: usize = 64 * 1024;

#[windlass::main]
async fn main() -> std::io::Result<()> {
    let listener = listen().await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("{url}");
    println!("  seq 3000000 | shuf | curl --data-binary @- {url}/sort | head -n 3");
    println!("  head -c 200M /dev/urandom | curl -T - -X POST {url}/hash");
    println!("  curl -w '%{{time_total}} s\\n' {url}/ping            meanwhile");

    let app = Router::new()
        .route("/ping", get(|| async { "pong\n" }))
        .route("/sort", post(sort))
        .route("/hash", post(hash))
        .layer(DefaultBodyLimit::max(LIMIT));
    let report = windlass::axum::serve(listener, app).on_signals()?.await?;
    println!("{report}");
    Ok(())
}

/// Sorts numbers, one on each line.
async fn sort(body: Bytes) -> Result<String, (StatusCode, String)> {
    windlass::compute(move || {
        let text = std::str::from_utf8(&body).map_err(refuse)?;
        let mut numbers = Vec::new();
        for line in text.lines() {
            numbers.push(line.trim().parse::<i64>().map_err(refuse)?);
        }
        par::sort_unstable(&mut numbers);
        let mut sorted = String::with_capacity(body.len());
        for number in numbers {
            let _ = writeln!(sorted, "{number}");
        }
        Ok(sorted)
    })
    .await
    .map_err(failed)?
}

/// Hashes the body: the hashes of its chunks, computed in parallel, are hashed together.
async fn hash(body: Bytes) -> Result<String, (StatusCode, String)> {
    let start = Instant::now();
    let length = body.len();
    let hash = windlass::compute(move || {
        let chunks: Vec<&[u8]> = body.chunks(CHUNK).collect();
        let hashes = par::map_collect(&chunks[..], |chunk| fnv(chunk));
        fnv(&hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<_>>())
    });
    let hash = hash.await.map_err(failed)?;
    Ok(format!("{hash:016x} of {length} bytes in {:?}\n", start.elapsed()))
}

/// FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn refuse(error: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, format!("{error}\n"))
}

fn failed(error: windlass::task::JoinError) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n"))
}
