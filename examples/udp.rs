//! Datagrams: a server that answers each in capitals, and a client with a list of words.
//!
//! ```text
//! cargo run --example udp
//! ```

use std::io;
use std::sync::Arc;

use windlass::net::UdpSocket;

#[windlass::main]
async fn main() -> io::Result<()> {
    let server = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
    let address = server.local_addr()?;
    println!("server on {address}");
    let serving = windlass::spawn(async move {
        let mut buffer = [0; 1500];
        loop {
            let (count, peer) = server.recv_from(&mut buffer).await?;
            let answer = buffer[..count].to_ascii_uppercase();
            server.send_to(&answer, peer).await?;
        }
        #[expect(unreachable_code, reason = "tells the type of the errors above")]
        io::Result::Ok(())
    });

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
