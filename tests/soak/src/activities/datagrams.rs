//! UDP: datagrams may get lost, and never change.

use std::time::Duration;

use windlass::net::UdpSocket;
use windlass::timer::timeout;

use super::abandon::abandon;
use super::pattern::Pattern;
use crate::house::House;
use crate::ledger::{LEDGER, count};
use crate::random::Random;

/// Sends numbered datagrams to a socket that sends them back, again if one is lost.
pub(crate) async fn ping_pong(house: House, mut random: Random) {
    let Some(socket) = house.open(UdpSocket::bind("127.0.0.1:0").await) else { return };
    let Some(address) = house.must(socket.local_addr()) else { return };
    let ours = house.clone();
    let _server = house
        .spawn(async move {
            let mut buffer = vec![0; 2048];
            loop {
                let received = socket.recv_from(&mut buffer).await;
                let Some((size, peer)) = ours.must(received) else { return };
                if ours.must(socket.send_to(&buffer[..size], peer).await).is_none() {
                    return;
                }
            }
        })
        .guard();
    let clients: Vec<_> = (0..random.within(1..5))
        .map(|_| {
            let (ours, random) = (house.clone(), random.fork());
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
    let socket = house.must(UdpSocket::bind("127.0.0.1:0").await)?;
    house.must(socket.connect(address).await)?;
    let mut buffer = vec![0; 2048];
    for number in 0..random.within(1..60) as u64 {
        let mut sent = number.to_ne_bytes().to_vec();
        sent.extend(Pattern::new(number).take(random.within(0..1400)));
        'again: loop {
            house.must(socket.send(&sent).await)?;
            loop {
                let receive = socket.recv(&mut buffer);
                let received = if random.chance(20) {
                    // Without any patience: what got lost never comes.
                    abandon(receive, 0).await
                } else {
                    match timeout(Duration::from_millis(500), receive).await {
                        Ok(result) => Some(result),
                        Err(_) => continue 'again,
                    }
                };
                let Some(result) = received else {
                    count(&LEDGER.abandoned, 1);
                    continue;
                };
                let size = house.must(result)?;
                house.always(size >= 8, "a datagram was cut short");
                let which = u64::from_ne_bytes(buffer[..8].try_into().expect("eight bytes"));
                house.always(which <= number, "a datagram that nobody has sent");
                let intact = Pattern::new(which).matches(&buffer[8..size]);
                house.always(intact, "a datagram has changed");
                if which == number {
                    house.always(size == sent.len(), "a datagram has another length");
                    count(&LEDGER.datagrams, 1);
                    break 'again;
                }
            }
        }
    }
    Some(())
}
