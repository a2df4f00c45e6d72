//! Much at a time: cancelled reads, recycled descriptors.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Numbers, poll_once, run, tcp_pair};
#[cfg(unix)]
use windlass_net::unix::{UnixStream, pipe};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::{spawn, yield_now};

/// Reads that are dropped at random take no byte with them.
#[test]
fn dropped_reads_lose_no_byte() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let all = common::pattern(200_000);
        let mut numbers = Numbers(1);
        let (mut sent, mut got, mut dropped) = (0, Vec::new(), 0);
        while got.len() < all.len() {
            let mut buf = vec![0; numbers.below(500) as usize + 1];
            let mut read = Box::pin(b.read(&mut buf));
            let mut result = poll_once(&mut read).await;
            let end = (sent + numbers.below(300) as usize + 1).min(all.len());
            a.write_all(&all[sent..end]).await.unwrap();
            sent = end;
            if result.is_none() && (dropped == 0 || numbers.below(3) > 0) {
                // Let the event come and wake it, and drop it all the same.
                for _ in 0..numbers.below(4) {
                    yield_now().await;
                }
                dropped += 1;
            } else if result.is_none() {
                result = Some(read.as_mut().await);
            }
            drop(read);
            if let Some(n) = result {
                got.extend_from_slice(&buf[..n.unwrap()]);
            }
        }
        assert!(got == all);
        assert!(dropped > 0);
    });
}

/// The same for writes: what was not returned was not written.
#[cfg(unix)]
#[test]
fn dropped_writes_write_nothing() {
    run(|| async {
        let (sender, receiver) = pipe().unwrap();
        let reader = spawn(async move {
            let mut got = Vec::new();
            receiver.read_to_end(&mut got).await.unwrap();
            got
        });
        let all = common::pattern(1 << 20);
        let mut rest = &all[..];
        let mut numbers = Numbers(3);
        while !rest.is_empty() {
            let n = (numbers.below(9000) as usize + 1).min(rest.len());
            let mut write = Box::pin(sender.write(&rest[..n]));
            match poll_once(&mut write).await {
                Some(n) => rest = &rest[n.unwrap()..],
                None if numbers.below(2) == 0 => drop(write),
                None => rest = &rest[write.await.unwrap()..],
            }
        }
        drop(sender);
        assert!(reader.await.unwrap() == all);
    });
}

#[test]
fn a_dropped_accept_loses_no_connection() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients = spawn(async move {
            for i in 0..200_u8 {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&[i]).await.unwrap();
            }
        });
        let mut accepted = 0_u8;
        while accepted < 200 {
            let mut accept = Box::pin(listener.accept());
            if let Some(result) = poll_once(&mut accept).await {
                let mut number = [0];
                result.unwrap().0.read_exact(&mut number).await.unwrap();
                assert_eq!(number, [accepted]);
                accepted += 1;
            }
            drop(accept);
            yield_now().await;
        }
        clients.await.unwrap();
    });
}

/// Descriptors and slots are used again while events of their predecessors are on their way.
#[test]
fn recycled_descriptors_get_no_events_of_their_predecessors() {
    run(|| async {
        let rounds = 300;
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let served = Arc::new(AtomicU64::new(0));
        let server = spawn({
            let (listener, served) = (listener.clone(), served.clone());
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let served = served.clone();
                    drop(spawn(async move {
                        let mut number = [0; 8];
                        // Some clients go before they have sent all.
                        if stream.read_exact(&mut number).await.is_ok() {
                            served.fetch_add(1, Ordering::Relaxed);
                            let _ = stream.write_all(&number).await;
                        }
                    }));
                }
            }
        });
        let clients: Vec<_> = (0..8_u64)
            .map(|client| {
                spawn(async move {
                    let mut numbers = Numbers(client);
                    for round in 0..rounds {
                        let stream = TcpStream::connect(address).await.unwrap();
                        let number = (client << 32 | round).to_ne_bytes();
                        match numbers.below(4) {
                            0 => stream.write_all(&number[..4]).await.unwrap(),
                            // Gone with the answer under way.
                            1 => stream.write_all(&number).await.unwrap(),
                            _ => {
                                stream.write_all(&number).await.unwrap();
                                let mut back = [0; 8];
                                stream.read_exact(&mut back).await.unwrap();
                                assert_eq!(back, number, "an answer to somebody else");
                            }
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        server.abort();
        assert!(served.load(Ordering::Relaxed) > rounds);
    });
}

/// Neither end of a ping-pong ever misses a wake-up.
#[cfg(unix)]
#[test]
fn ping_pong_on_local_sockets() {
    run(|| async {
        let mut pairs = Vec::new();
        for _ in 0..8 {
            let (a, b) = UnixStream::pair().unwrap();
            pairs.push(spawn(async move {
                for i in 0..1000_u32 {
                    a.write_all(&i.to_ne_bytes()).await.unwrap();
                    let mut back = [0; 4];
                    a.read_exact(&mut back).await.unwrap();
                    assert_eq!(back, i.to_ne_bytes());
                }
            }));
            pairs.push(spawn(async move {
                for _ in 0..1000 {
                    let mut buf = [0; 4];
                    b.read_exact(&mut buf).await.unwrap();
                    b.write_all(&buf).await.unwrap();
                }
            }));
        }
        for pair in pairs {
            pair.await.unwrap();
        }
    });
}

/// All connections at a time, and none misses a byte.
#[test]
fn two_hundred_connections_echo() {
    run(|| async {
        let address = common::echo_server().await;
        let clients: Vec<_> = (0..200_u32)
            .map(|client| {
                spawn(async move {
                    let stream = TcpStream::connect(address).await.unwrap();
                    for round in 0..20_u32 {
                        let message =
                            common::pattern((client * 7 + round * 131) as usize % 3000 + 1);
                        stream.write_all(&message).await.unwrap();
                        let mut back = vec![0; message.len()];
                        stream.read_exact(&mut back).await.unwrap();
                        assert!(back == message);
                    }
                    stream
                })
            })
            .collect();
        let mut streams = Vec::new();
        for client in clients {
            streams.push(client.await.unwrap());
        }
        assert_eq!(streams.len(), 200);
    });
}
