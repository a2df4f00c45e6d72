//! TCP: what is sent comes back, whoever gives up in between.

use futures_lite::future;
use windlass::net::{TcpListener, TcpStream};
use windlass::timer::timeout;

use super::abandon::abandon;
use super::pattern::Pattern;
use crate::house::{AbortOnDrop, House};
use crate::ledger::{LEDGER, count};
use crate::random::Random;

/// A server that echoes, until the guard is dropped; its connections go on to their end.
async fn server(house: &House, mut random: Random) -> Option<(std::net::SocketAddr, AbortOnDrop)> {
    let listener = house.open(TcpListener::bind("127.0.0.1:0").await)?;
    let address = house.must(listener.local_addr())?;
    let ours = house.clone();
    let accepting = house.spawn(async move {
        loop {
            let Some((stream, _)) = ours.must(listener.accept().await) else { return };
            count(&LEDGER.connections, 1);
            let sizes = random.fork();
            drop(ours.spawn(echo_all(stream, sizes)));
        }
    });
    Some((address, accepting.guard()))
}

async fn echo_all(stream: TcpStream, mut sizes: Random) {
    let mut buffer = vec![0; 8192];
    loop {
        let part = sizes.within(1..8192);
        // A client may go at any time: that ends the connection and nothing else.
        match stream.read(&mut buffer[..part]).await {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// A few connections with many bytes, read with a patience that ends often.
pub(crate) async fn echo(house: House, mut random: Random) {
    let Some((address, _server)) = server(&house, random.fork()).await else { return };
    let clients: Vec<_> = (0..random.within(1..6))
        .map(|_| {
            let ours = house.clone();
            let random = random.fork();
            house.spawn(async move {
                client(&ours, address, random).await;
            })
        })
        .collect();
    for client in clients {
        client.join().await;
    }
}

async fn client(house: &House, address: std::net::SocketAddr, mut random: Random) -> Option<()> {
    let stream = house.must(TcpStream::connect(address).await)?;
    let total = random.within(1..300_000);
    let key = random.next();
    let (mut reads, mut writes) = (random.fork(), random.fork());
    let send = async {
        let mut pattern = Pattern::new(key);
        let mut left = total;
        while left > 0 {
            let part = pattern.take(writes.within(1..9000).min(left));
            let mut rest = &part[..];
            while !rest.is_empty() {
                // A write that is dropped has written nothing.
                match abandon(stream.write(rest), writes.within(0..3)).await {
                    Some(result) => rest = &rest[house.must(result)?..],
                    None => count(&LEDGER.abandoned, 1),
                }
            }
            left -= part.len();
        }
        Some(())
    };
    let receive = async {
        let mut pattern = Pattern::new(key);
        let mut buffer = vec![0; 8192];
        let mut left = total;
        while left > 0 {
            let part = reads.within(1..8192);
            let read = stream.read(&mut buffer[..part]);
            let result = if reads.chance(30) {
                timeout(reads.micros(0..200), read).await.ok()
            } else {
                abandon(read, reads.within(0..3)).await
            };
            let Some(result) = result else {
                count(&LEDGER.abandoned, 1);
                continue;
            };
            let received = house.must(result)?;
            if received == 0 {
                house.check(false, "a connection ends early");
                return None;
            }
            house.check(pattern.matches(&buffer[..received]), "a connection brings other bytes");
            house.bytes(received);
            left -= received;
        }
        Some(())
    };
    future::zip(send, receive).await;
    Some(())
}

/// Many short connections, one after the other and side by side.
pub(crate) async fn storm(house: House, mut random: Random) {
    let Some((address, _server)) = server(&house, random.fork()).await else { return };
    let clients: Vec<_> = (0..random.within(1..10))
        .map(|_| {
            let (ours, mut random) = (house.clone(), random.fork());
            house.spawn(async move {
                for _ in 0..random.within(1..10) {
                    let stream = TcpStream::connect(address).await;
                    let Some(stream) = ours.must(stream) else { return };
                    let sent = Pattern::new(random.next()).take(random.within(1..100));
                    if ours.must(stream.write_all(&sent).await).is_none() {
                        return;
                    }
                    let mut received = vec![0; sent.len()];
                    if ours.must(stream.read_exact(&mut received).await).is_none() {
                        return;
                    }
                    ours.always(sent == received, "a short connection brings other bytes");
                    ours.bytes(sent.len());
                }
            })
        })
        .collect();
    for client in clients {
        client.join().await;
    }
}

/// Clients that go while bytes are under way, with or without a word.
pub(crate) async fn resets(house: House, mut random: Random) {
    let Some((address, _server)) = server(&house, random.fork()).await else { return };
    for _ in 0..random.within(1..20) {
        // Dropped in the middle of the handshake, perhaps.
        let Some(connected) = abandon(TcpStream::connect(address), random.within(0..4)).await
        else {
            count(&LEDGER.abandoned, 1);
            continue;
        };
        let Some(stream) = house.must(connected) else { return };
        let sent = Pattern::new(random.next()).take(random.within(1..50_000));
        let _ = timeout(random.micros(0..500), stream.write_all(&sent)).await;
        if random.chance(50) {
            // What is not read makes the close a reset.
            continue;
        }
        if stream.shutdown(std::net::Shutdown::Write).is_ok() {
            let mut rest = vec![0; 4096];
            while let Ok(1..) = stream.read(&mut rest).await {}
        }
    }
}
