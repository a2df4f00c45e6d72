//! Peers that mean no good, for `scripts/hostile`: a server has to serve others meanwhile, and to
//! be as small afterwards.
//!
//! ```text
//! hostile echo|proxy|chat|http|https|websocket|redis|udp PROGRAM [ARGUMENTS]
//! ```
//!
//! Starts the program, reads the address that it listens on from its first line, and visits it in
//! five ways: peers that say nothing, that send a byte now and then, that go at every point of a
//! request with and without a reset, that send without end and read nothing, and that send
//! nonsense. Then its memory and descriptors have to be back where they were. Two crowds of ten
//! thousand at once follow (fewer for some), which send half a request and stay, and the
//! second must not make it larger than the first. All the while a client asks what can be asked of
//! that server, and has to be answered in time, and the server's memory stays in bounds.
//!
//! A server of datagrams is flooded with short, long and empty ones. The client of `https` is curl,
//! because this program knows no TLS.

mod protocol;
mod server;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use windlass::net::{TcpStream, UdpSocket};
use windlass::process::Command as AsyncCommand;
use windlass::timer::{sleep, timeout};

use protocol::{Client, Protocol};
use server::Server;

/// How long a client that behaves may have to wait for its answer, on a machine that has others to serve too.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a hostile peer goes on at the most.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a client has to be answered beside them.
const ANSWERS_BESIDE_CROWD: usize = 20;

/// MiB by which the server may be larger at the end than before: buffers that the allocator keeps.
const KEPT: usize = 96;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let protocol = match arguments.next().as_deref() {
        Some("echo") => protocol::ECHO,
        Some("proxy") => protocol::PROXY,
        Some("chat") => protocol::CHAT,
        Some("http") => protocol::HTTP,
        Some("https") => protocol::HTTPS,
        Some("websocket") => protocol::WEBSOCKET,
        Some("udp") => protocol::UDP,
        Some("redis") => protocol::REDIS,
        _ => return usage(),
    };
    let Some(program) = arguments.next() else { return usage() };
    let mut server = match Server::start(&program, arguments) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("{program}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match windlass::block_on(visit(protocol, &mut server)) {
        Ok((answers, slowest)) => {
            let (peers, (mib, descriptors)) = (5 * protocol.peers + protocol.crowd, server.peak);
            println!(
                "{program}: {answers} answers beside {peers} hostile peers, the slowest after {slowest} ms; {mib} MiB and \
                 {descriptors} descriptors at the most, {} KiB for each connection",
                server.each
            );
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("{program}: {what}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: hostile echo|proxy|chat|http|https|websocket|redis|udp PROGRAM [ARGUMENTS]");
    ExitCode::from(2)
}

/// Returns how often a client was answered meanwhile, and how many milliseconds the slowest answer took.
async fn visit(protocol: Protocol, server: &mut Server) -> Result<(usize, u64), String> {
    let address = server.address;
    ask(protocol, address).await?;
    let before = server.size();
    server.most = before.0 + protocol.growth;
    let (answers, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let slowest = Arc::new(AtomicU64::new(0));
    let client = windlass::spawn({
        let (answers, over, slowest) = (answers.clone(), over.clone(), slowest.clone());
        async move {
            while !over.load(SeqCst) {
                let start = Instant::now();
                ask(protocol, address).await?;
                slowest.fetch_max(start.elapsed().as_millis() as u64, SeqCst);
                answers.fetch_add(1, SeqCst);
                sleep(Duration::from_millis(5)).await;
            }
            Ok::<_, String>(())
        }
    });
    let mut peers = Vec::new();
    for number in 0..protocol.peers {
        for kind in 0..5 {
            peers.push(windlass::spawn(async move {
                // Whatever happens to a hostile peer is its own affair.
                let _ = timeout(PATIENCE, hostile(kind, number, protocol, address)).await;
            }));
        }
        if number % 50 == 0 {
            sleep(Duration::from_millis(10)).await;
            server.watch(before)?;
        }
    }
    for peer in peers {
        while !peer.is_finished() {
            sleep(Duration::from_millis(20)).await;
            server.watch(before)?;
        }
        peer.await.map_err(|error| error.to_string())?;
    }
    within_bounds(server, before).await?;
    // What the allocator keeps of so many is more; another crowd has to get along with that.
    let mut kept = before;
    for _ in 0..2 {
        let crowd = crowd(protocol, server, before).await?;
        let enough = answers.load(SeqCst) + ANSWERS_BESIDE_CROWD;
        while answers.load(SeqCst) < enough && !client.is_finished() {
            sleep(Duration::from_millis(20)).await;
            server.watch(before)?;
        }
        drop(crowd);
        let most = if kept == before { usize::MAX } else { kept.0 };
        within_bounds(server, (most, before.1)).await?;
        kept = server.size();
    }
    over.store(true, SeqCst);
    client.await.map_err(|error| error.to_string())??;
    ask(protocol, address).await?;
    if let Ok(Some(status)) = server.has_ended() {
        return Err(format!("the server has ended: {status}"));
    }
    Ok((answers.load(SeqCst), slowest.load(SeqCst)))
}

/// Connections that have sent half a request.
async fn crowd(
    protocol: Protocol,
    server: &mut Server,
    before: (usize, usize),
) -> Result<Vec<TcpStream>, String> {
    let half = &protocol.request[..protocol.request.len() / 2];
    let mut crowd = Vec::new();
    for number in 0..protocol.crowd {
        let stream = TcpStream::connect(server.address).await.map_err(|error| error.to_string())?;
        // A server that has enough of it may close it.
        let _ = stream.write_all(protocol.opening).await;
        let _ = stream.write_all(half).await;
        crowd.push(stream);
        if number % 500 == 0 {
            server.watch(before)?;
        }
    }
    Ok(crowd)
}

/// Waits until the server has closed what was closed at the other end, and given back what that took.
async fn within_bounds(server: &Server, before: (usize, usize)) -> Result<(), String> {
    // A proxy keeps connections to the server behind it for a minute and a half.
    for _ in 0..1500 {
        let after = server.size();
        if after.0 <= before.0.saturating_add(KEPT) && after.1 <= before.1 + 2 {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
    let after = server.size();
    Err(format!(
        "{} MiB and {} descriptors are left, {} and {} were there before",
        after.0, after.1, before.0, before.1
    ))
}

/// Asks once, as a client that behaves.
async fn ask(protocol: Protocol, address: SocketAddr) -> Result<(), String> {
    let asked = timeout(ANSWER, async {
        match protocol.client {
            Client::Tcp => ask_stream(protocol, address).await,
            Client::Udp => ask_datagram(protocol, address).await,
            Client::Curl => ask_curl(protocol, address).await,
        }
    });
    match asked.await {
        Ok(Ok(answer)) if answer == protocol.answer => Ok(()),
        Ok(Ok(answer)) => Err(format!("a wrong answer: {}", String::from_utf8_lossy(&answer))),
        Ok(Err(error)) => Err(format!("a client that behaves is not served: {error}")),
        Err(_) => Err("a client that behaves has to wait".to_owned()),
    }
}

async fn ask_stream(protocol: Protocol, address: SocketAddr) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect(address).await?;
    if !protocol.opening.is_empty() {
        stream.write_all(protocol.opening).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            // Not a byte of what follows.
            let mut byte = [0];
            stream.read_exact(&mut byte).await?;
            head.push(byte[0]);
        }
    }
    stream.write_all(protocol.request).await?;
    let mut answer = vec![0; protocol.answer.len()];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// Datagrams get lost, and most of all in a flood: asks until there is an answer.
async fn ask_datagram(protocol: Protocol, address: SocketAddr) -> io::Result<Vec<u8>> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(address).await?;
    let mut answer = vec![0; 1500];
    loop {
        socket.send(protocol.request).await?;
        if let Ok(count) = timeout(Duration::from_millis(50), socket.recv(&mut answer)).await {
            answer.truncate(count?);
            return Ok(answer);
        }
    }
}

async fn ask_curl(protocol: Protocol, address: SocketAddr) -> io::Result<Vec<u8>> {
    let url = format!("https://{address}/");
    let output = AsyncCommand::new("curl").args(["-sSk", "--http1.1", &url]).output().await?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let mut answer = output.stdout;
    answer.truncate(protocol.answer.len());
    Ok(answer)
}

/// Floods a server with datagrams of one kind.
async fn flood(kind: usize, protocol: Protocol, address: SocketAddr) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let length = [0, 1, protocol.request.len(), 1500, 60_000][kind];
    let datagram = vec![b'x'; length];
    let _ = timeout(Duration::from_millis(1000), async {
        loop {
            let _ = socket.send_to(&datagram, address).await;
            windlass::yield_now().await;
        }
    })
    .await;
    Ok(())
}

async fn hostile(
    kind: usize,
    number: usize,
    protocol: Protocol,
    address: SocketAddr,
) -> io::Result<()> {
    if protocol.client == Client::Udp {
        return flood(kind, protocol, address).await;
    }
    let stream = TcpStream::connect(address).await?;
    let request = protocol.request;
    // Some say nothing at all.
    if kind != 0 || number % 2 == 0 {
        stream.write_all(protocol.opening).await?;
    }
    match kind {
        // Says nothing.
        0 => sleep(Duration::from_millis(2000)).await,
        // Sends a byte now and then.
        1 => {
            for byte in request.iter().take(20) {
                stream.write_all(std::slice::from_ref(byte)).await?;
                sleep(Duration::from_millis(100)).await;
            }
        }
        // Goes at some point of a request, or before its answer is read: every second time with a reset.
        2 => {
            stream.write_all(&request[..number % (request.len() + 1)]).await?;
            if number % 2 == 0 {
                stream.set_linger(Some(Duration::ZERO))?;
            }
            if number % 3 == 0 {
                sleep(Duration::from_millis(20)).await;
            }
        }
        // Asks without end, and reads nothing.
        3 => {
            let flood = request.repeat(1000);
            let _ = timeout(Duration::from_millis(500), async {
                while stream.write_all(&flood).await.is_ok() {}
            })
            .await;
        }
        // Sends nonsense.
        _ => {
            let nonsense: Vec<u8> = (0..4096_usize).map(|i| (i * number * 31) as u8).collect();
            stream.write_all(&nonsense).await?;
            let mut rest = [0; 4096];
            let _ = timeout(Duration::from_millis(500), stream.read(&mut rest)).await;
        }
    }
    Ok(())
}
