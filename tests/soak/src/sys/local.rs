//! Local sockets and pipes: what is written comes out in order, whoever gives up in between.

use futures_lite::future;
use windlass::net::unix::{UnixStream, pipe as unix_pipe};

use crate::activities::abandon::abandon;
use crate::activities::pattern::Pattern;
use crate::house::House;
use crate::random::Random;

/// Echoes over a pair of local sockets; the reading side gives up often and begins again.
pub(crate) async fn pair(house: House, mut random: Random) {
    let Some((near, far)) = house.open(UnixStream::pair()) else { return };
    let total = random.within(1..200_000);
    let key = random.next();
    let (mut reads, mut writes, mut size) = (random.fork(), random.fork(), random.fork());
    let echo = house.spawn(async move {
        let mut buffer = vec![0; 8192];
        loop {
            let part = size.within(1..8192);
            match far.read(&mut buffer[..part]).await {
                Ok(0) | Err(_) => break,
                Ok(count) if far.write_all(&buffer[..count]).await.is_err() => break,
                Ok(_) => {}
            }
        }
    });
    let send = async {
        let mut pattern = Pattern::new(key);
        let mut left = total;
        while left > 0 {
            let part = pattern.take(writes.within(1..9000).min(left));
            house.must(near.write_all(&part).await)?;
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
            let read = near.read(&mut buffer[..part]);
            // Whoever drops a read loses nothing.
            let Some(result) = abandon(read, reads.within(0..3)).await else {
                continue;
            };
            let count = house.must(result)?;
            if count == 0 {
                house.check(false, "a local socket ends early");
                return None;
            }
            house.check(pattern.matches(&buffer[..count]), "a local socket brings other bytes");
            house.bytes(count);
            left -= count;
        }
        Some(())
    };
    future::zip(send, receive).await;
    drop(near);
    echo.join().await;
}

/// Moves bytes through a pipe, written by one task and read by another.
pub(crate) async fn pipe(house: House, mut random: Random) {
    let Some((writer, reader)) = house.open(unix_pipe()) else { return };
    let total = random.within(1..200_000);
    let key = random.next();
    let mut sizes = random.fork();
    let ours = house.clone();
    let write = house.spawn(async move {
        let mut pattern = Pattern::new(key);
        let mut left = total;
        while left > 0 {
            let part = pattern.take(sizes.within(1..9000).min(left));
            if ours.must(writer.write_all(&part).await).is_none() {
                return;
            }
            left -= part.len();
        }
    });
    let mut pattern = Pattern::new(key);
    let mut buffer = vec![0; 8192];
    let mut seen = 0;
    loop {
        let part = random.within(1..8192);
        let read = reader.read(&mut buffer[..part]);
        let Some(result) = abandon(read, random.within(0..3)).await else { continue };
        let Some(count) = house.must(result) else { return };
        if count == 0 {
            break;
        }
        house.check(pattern.matches(&buffer[..count]), "a pipe brings other bytes");
        house.bytes(count);
        seen += count;
    }
    if write.join().await {
        house.check(seen == total, "a pipe ends early");
    }
}
