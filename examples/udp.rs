//! Datagrams: a server that answers each one in capitals, and a client with a list of words.
//!
//! ```text
//! cargo run --example udp              both
//! cargo run --example udp -- ADDRESS   the server alone, there
//! ```

use std::io;

use windlass::net::UdpSocket;

#[windlass::main]
async fn main() -> io::Result<()> {
    let only_server = std::env::args().nth(1);
    let server = UdpSocket::bind(only_server.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let address = server.local_addr()?;
    println!("server on {address}");
    if only_server.is_some() {
        return serve(server).await;
    }
    let serving = windlass::spawn(serve(server));

    let client = UdpSocket::bind("127.0.0.1:0").await?;
    client.connect(address).await?;
    let mut buffer = [0; 1500];
    for word in ["heave", "ho", "and", "up", "she", "rises"] {
        client.send(word.as_bytes()).await?;
        let count = client.recv(&mut buffer).await?;
        println!("{word} -> {}", String::from_utf8_lossy(&buffer[..count]));
    }
    serving.abort();
    Ok(())
}

/// Answers each datagram.
async fn serve(server: UdpSocket) -> io::Result<()> {
    let mut buffer = [0; 1500];
    loop {
        let (count, peer) = server.recv_from(&mut buffer).await?;
        let answer = buffer[..count].to_ascii_uppercase();
        // If the peer can't be reached, that is not an error of the server.
        let _ = server.send_to(&answer, peer).await;
    }
}
