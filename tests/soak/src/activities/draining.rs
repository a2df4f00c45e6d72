//! A server that is told to end while clients come: whoever was accepted is answered.

use std::time::Duration;

use windlass::net::{TcpListener, TcpStream};
use windlass::serve::Drain;
use windlass::timer::sleep;

use crate::house::House;
use crate::ledger::{LEDGER, count};
use crate::random::Random;

pub(crate) async fn server(house: House, mut random: Random) {
    let Some(listener) = house.open(TcpListener::bind("127.0.0.1:0").await) else { return };
    let Some(address) = house.must(listener.local_addr()) else { return };
    let drain = Drain::new().deadline(Duration::from_secs(30)).grace(Duration::ZERO);
    let switch = drain.switch();
    let served = drain.serve(listener, |stream, _peer, _told| async move {
        let mut request = [0; 8];
        if stream.read_exact(&mut request).await.is_ok() {
            let _ = stream.write_all(&request).await;
        }
    });
    let ours = house.clone();
    let server = house.spawn(async move {
        let Some(report) = ours.must(served.await) else { return };
        ours.check(report.is_clean(), "a drain that had to abort a connection");
    });
    let _guard = server.guard();
    let clients: Vec<_> = (0..random.within(1..20))
        .map(|_| {
            let (ours, mut random) = (house.clone(), random.fork());
            house.spawn(async move {
                sleep(random.micros(0..3000)).await;
                // Refused once the server ends, which is as good as an answer.
                let Ok(stream) = TcpStream::connect(address).await else { return };
                let request = random.next().to_ne_bytes();
                if stream.write_all(&request).await.is_err() {
                    return;
                }
                let mut answer = [0; 8];
                if stream.read_exact(&mut answer).await.is_ok() {
                    ours.always(answer == request, "an answer to another request");
                    count(&LEDGER.requests, 1);
                }
            })
        })
        .collect();
    sleep(random.micros(0..4000)).await;
    switch.flip();
    server.join().await;
    for client in clients {
        client.join().await;
    }
}
