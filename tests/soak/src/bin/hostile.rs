//! Peers that mean no good, for `scripts/hostile`: a server has to serve others meanwhile, and to be as small afterwards.
//!
//! ```text
//! hostile echo|chat|http|https|redis|udp PROGRAM [ARGUMENTS]
//! ```
//!
//! Starts the program, reads the address that it listens on from its first line, and visits it in five ways: peers that say
//! nothing, that send a byte now and then, that go at every point of a request with and without a reset, that send without
//! end and read nothing, and that send nonsense. All the while a client asks what can be asked of that server, and has to be
//! answered, and the server's memory stays in bounds. At the end its memory and descriptors have to be back where they were.
//!
//! A server of datagrams is flooded with short, long and empty ones. The client of `https` is curl, because this program
//! knows no TLS.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use windlass::net::{TcpStream, UdpSocket};
use windlass::process::Command as AsyncCommand;
use windlass::timer::{sleep, timeout};

/// How long a client that behaves may have to wait for its answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Peers of each kind at the same time.
const PEERS: usize = 1000;

/// MiB by which the server may be larger at the end than before: buffers that the allocator keeps.
const GROWTH: usize = 96;

/// MiB by which the server may be larger while hostile peers are there: some 100 KiB for each of them.
const PEAK: usize = 512;

/// How a client that behaves asks.
#[derive(Clone, Copy, PartialEq)]
enum Client {
    Tcp,
    Udp,
    Curl,
}

/// What a server understands: a request, and how its answer begins.
#[derive(Clone, Copy)]
struct Protocol {
    client: Client,
    request: &'static [u8],
    answer: &'static [u8],
    /// Peers of each kind at the same time.
    peers: usize,
}

const ECHO: Protocol = Protocol {
    client: Client::Tcp,
    request: b"are you there\n",
    answer: b"are you there\n",
    peers: PEERS,
};
// Each of them hears what all others say, so they are fewer.
const CHAT: Protocol =
    Protocol { request: b"hello\n", answer: b"welcome\n", peers: PEERS / 10, ..ECHO };
const HTTP: Protocol = Protocol {
    request: b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    answer: b"HTTP/1.1 ",
    ..ECHO
};
// The beginning of a hello.
const HTTPS: Protocol = Protocol {
    client: Client::Curl,
    request: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03an end that does not come for a while",
    answer: b"hello over ",
    ..ECHO
};
const REDIS: Protocol = Protocol { request: b"*1\r\n$4\r\nPING\r\n", answer: b"+PONG\r\n", ..ECHO };
const UDP: Protocol = Protocol {
    client: Client::Udp,
    request: b"are you there",
    answer: b"ARE YOU THERE",
    peers: PEERS / 10,
};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let protocol = match arguments.next().as_deref() {
        Some("echo") => ECHO,
        Some("chat") => CHAT,
        Some("http") => HTTP,
        Some("https") => HTTPS,
        Some("udp") => UDP,
        Some("redis") => REDIS,
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
        Ok(answers) => {
            let (peers, (growth, descriptors)) = (5 * protocol.peers, server.peak);
            println!(
                "{program}: {answers} answers beside {peers} hostile peers, {growth} MiB and \
                 {descriptors} descriptors at the most"
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
    eprintln!("usage: hostile echo|chat|http|https|redis|udp PROGRAM [ARGUMENTS]");
    ExitCode::from(2)
}

/// The server, as a process of its own. Ended when dropped.
struct Server {
    child: Child,
    address: SocketAddr,
    /// The largest size that was seen.
    peak: (usize, usize),
}

impl Server {
    fn start(program: &str, arguments: impl Iterator<Item = String>) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().expect("the output is a pipe");
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let words = line.split(|c: char| c.is_whitespace() || c == '/');
        let address = words.filter_map(|word| word.parse().ok()).next();
        match address {
            Some(address) => {
                // Read to its end, or a server that prints a line for each connection would block.
                std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
                Ok(Self { child, address, peak: (0, 0) })
            }
            None => {
                child.kill()?;
                Err(io::Error::other(format!("no address in its first line: {line}")))
            }
        }
    }

    /// Notes its size, which must be within bounds.
    fn watch(&mut self, before: (usize, usize)) -> Result<(), String> {
        let now = self.size();
        self.peak = (self.peak.0.max(now.0), self.peak.1.max(now.1));
        if now.0 > before.0 + PEAK {
            return Err(format!("{} MiB are too many; {} were there before", now.0, before.0));
        }
        Ok(())
    }

    /// MiB that it occupies, and descriptors that it has open.
    fn size(&self) -> (usize, usize) {
        let process = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|text| text.split_whitespace().next()?.parse::<usize>().ok());
        let descriptors = std::fs::read_dir(format!("{process}/fd")).map_or(0, Iterator::count);
        (kib.unwrap_or(0) / 1024, descriptors)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already, perhaps: then that was noticed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn visit(protocol: Protocol, server: &mut Server) -> Result<usize, String> {
    let address = server.address;
    ask(protocol, address).await?;
    let before = server.size();
    let (answers, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let client = windlass::spawn({
        let (answers, over) = (answers.clone(), over.clone());
        async move {
            while !over.load(SeqCst) {
                ask(protocol, address).await?;
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
    over.store(true, SeqCst);
    client.await.map_err(|error| error.to_string())??;
    ask(protocol, address).await?;
    if let Ok(Some(status)) = server.child.try_wait() {
        return Err(format!("the server has ended: {status}"));
    }
    within_bounds(server, before).await?;
    Ok(answers.load(SeqCst))
}

/// Waits until the server has closed what was closed at the other end, and given back what that took.
async fn within_bounds(server: &Server, before: (usize, usize)) -> Result<(), String> {
    for _ in 0..200 {
        let after = server.size();
        if after.0 <= before.0 + GROWTH && after.1 <= before.1 + 2 {
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
    let asked = timeout(PATIENCE, async {
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
