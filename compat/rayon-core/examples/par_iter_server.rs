//! A server that parses, sorts and sums with rayon, on the same workers that serve.
//!
//! A client sends lines of numbers and gets back their sum and the largest of them. Another one
//! sends short lines back and forth meanwhile, and notes how long each takes. Both are part of this
//! program, so that it ends by itself:
//!
//! ```text
//! cargo run --release --example par_iter_server
//! ```

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_lite::StreamExt;
use futures_lite::io::{AsyncBufReadExt, BufReader};
use rayon::prelude::*;
use windlass::net::{TcpListener, TcpStream};

/// Numbers in a line, lines, and how many bytes make a line long.
const NUMBERS: u64 = 200_000;
const LINES: usize = 20;
const LONG: usize = 1024;

#[windlass::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = windlass::spawn(serve(listener));
    let sums = windlass::spawn(ask_for_sums(address));
    let mut echoes = echo(address, || !sums.is_finished()).await?;
    let took = sums.await.map_err(io::Error::other)??;
    server.abort();
    echoes.sort_unstable();
    let at = |share: usize| echoes[(echoes.len() - 1) * share / 100];
    println!("{LINES} lines of {NUMBERS} numbers took {took:?}");
    println!(
        "{} echoes meanwhile: half within {:?}, 99 % within {:?}",
        echoes.len(),
        at(50),
        at(99)
    );
    Ok(())
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _peer) = listener.accept().await?;
        drop(windlass::spawn(answer(stream)));
    }
}

/// Sends short lines back as they are. Long ones are computed beside the tasks, by all workers.
async fn answer(stream: TcpStream) -> io::Result<()> {
    let (reader, writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next().await {
        let line = line?;
        let answer = if line.len() < LONG {
            format!("{line}\n")
        } else {
            windlass::compute(move || digest(&line)).await.map_err(io::Error::other)?
        };
        writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

/// The sum of the numbers in a line, and the largest.
fn digest(line: &str) -> String {
    let mut numbers: Vec<u64> =
        line.par_split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.par_sort_unstable();
    let sum: u64 = numbers.par_iter().sum();
    format!("{sum} {}\n", numbers.last().unwrap_or(&0))
}

async fn ask_for_sums(address: SocketAddr) -> io::Result<Duration> {
    let (reader, writer) = TcpStream::connect(address).await?.into_split();
    let mut answers = BufReader::new(reader).lines();
    let mut line = String::new();
    for number in (0..NUMBERS).rev() {
        let _ = write!(line, "{number} ");
    }
    line.push('\n');
    let start = Instant::now();
    for _ in 0..LINES {
        writer.write_all(line.as_bytes()).await?;
        let answer = answers.next().await.ok_or(io::ErrorKind::UnexpectedEof)??;
        assert_eq!(answer, format!("{} {}", NUMBERS * (NUMBERS - 1) / 2, NUMBERS - 1));
    }
    Ok(start.elapsed())
}

/// Times of short lines there and back.
async fn echo(address: SocketAddr, goes_on: impl Fn() -> bool) -> io::Result<Vec<Duration>> {
    let (reader, writer) = TcpStream::connect(address).await?.into_split();
    let mut answers = BufReader::new(reader).lines();
    let mut times = Vec::new();
    while goes_on() || times.is_empty() {
        let start = Instant::now();
        writer.write_all(b"still there?\n").await?;
        let answer = answers.next().await.ok_or(io::ErrorKind::UnexpectedEof)??;
        assert_eq!(answer, "still there?");
        times.push(start.elapsed());
    }
    Ok(times)
}
