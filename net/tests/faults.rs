//! What goes wrong with connections, and what the other end makes of it.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[cfg(unix)]
use common::os;
use common::{both, poll_once, run, tcp_pair, within_deadline};
use windlass_net::{TcpListener, TcpStream, UdpSocket};
use windlass_runtime::spawn;
use windlass_sync::ManualResetEvent;

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Has the peer see a reset instead of an end.
fn reset(stream: TcpStream) {
    stream.set_linger(Some(Duration::ZERO)).unwrap();
}

/// Fills the way to a peer that does not read.
fn fill(stream: &TcpStream) -> usize {
    let mut sent = 0;
    while let Ok(n) = stream.try_write(&[7; 65536]) {
        sent += n;
    }
    sent
}

#[test]
fn a_port_without_a_listener_refuses() {
    run(|| async {
        let (_held, unused) = common::refusing();
        for _ in 0..20 {
            let error = TcpStream::connect(unused).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        }
        // Port 0 cannot be connected to, and says so at once.
        assert!(TcpStream::connect("127.0.0.1:0").await.is_err());
    });
}

#[test]
fn an_address_in_use_cannot_be_bound() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = TcpListener::bind(listener.local_addr().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn a_reset_wakes_a_reader_with_an_error() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let mut buf = [0; 8];
        let mut read = Box::pin(b.read(&mut buf));
        assert!(poll_once(&mut read).await.is_none());
        reset(a);
        assert_eq!(read.await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        // The error was taken; what is left is the end.
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
    });
}

#[test]
fn a_reset_wakes_a_writer_with_an_error() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        fill(&b);
        let mut write = Box::pin(b.write(b"more"));
        assert!(poll_once(&mut write).await.is_none());
        reset(a);
        let error = write.await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
            "{error}"
        );
        let again = b.write(b"more").await.unwrap_err().kind();
        // Windows says the same as often as it is asked.
        assert!(again == ErrorKind::BrokenPipe || cfg!(windows) && again == error.kind());
    });
}

/// HUP and ERR come without a direction.
#[test]
fn a_reset_wakes_both_directions() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        fill(&b);
        let mut buf = [0; 8];
        let mut read = Box::pin(b.read(&mut buf));
        let mut write = Box::pin(b.write(b"more"));
        assert!(poll_once(&mut read).await.is_none());
        assert!(poll_once(&mut write).await.is_none());
        reset(a);
        let (read, written) = both(read, write).await;
        // Whoever comes first takes the error of the reset.
        assert!(read.is_err() || read.unwrap() == 0);
        assert!(written.is_err());
    });
}

#[test]
fn each_direction_can_be_ended_alone() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        a.shutdown(Shutdown::Write).unwrap();
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0, "the end stays");
        b.write_all(b"still open").await.unwrap();
        let mut buf = [0; 10];
        a.read_exact(&mut buf).await.unwrap();
        assert_eq!(a.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        b.shutdown(Shutdown::Write).unwrap();
        assert_eq!(a.read(&mut buf).await.unwrap(), 0);
    });
}

/// Ending the reading direction locally wakes whoever waits for it.
#[test]
fn shutdown_wakes_a_reader_of_the_same_socket() {
    run(|| async {
        let (a, _b) = tcp_pair().await;
        let mut buf = [0; 8];
        let mut read = Box::pin(a.read(&mut buf));
        assert!(poll_once(&mut read).await.is_none());
        a.shutdown(Shutdown::Read).unwrap();
        assert_eq!(read.await.unwrap(), 0);
    });
}

#[test]
fn what_was_sent_before_the_end_is_still_read() {
    run(|| async {
        for chunk in [1, 7, 100, 4096, 1 << 20] {
            let (a, b) = tcp_pair().await;
            a.write_all(&common::pattern(100_000)).await.unwrap();
            drop(a);
            let mut got = Vec::new();
            let mut buf = vec![0; chunk];
            loop {
                match b.read(&mut buf).await.unwrap() {
                    0 => break,
                    n => got.extend_from_slice(&buf[..n]),
                }
            }
            assert!(got == common::pattern(100_000), "in chunks of {chunk}");
        }
    });
}

#[test]
fn an_end_in_the_middle_of_read_exact_is_an_error() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        a.write_all(b"abc").await.unwrap();
        drop(a);
        let error = b.read_exact(&mut [0; 4]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn large_buffers_are_written_in_parts_as_the_reader_makes_room() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        a.set_send_buffer_size(256 * 1024).unwrap();
        let all = common::pattern(8 << 20);
        let writer = spawn({
            let all = all.clone();
            async move {
                let (mut rest, mut parts) = (&all[..], 0);
                while !rest.is_empty() {
                    let n = a.write(rest).await.unwrap();
                    rest = &rest[n..];
                    parts += 1;
                }
                parts
            }
        });
        let mut got = Vec::new();
        let mut buf = vec![0; 10_000];
        loop {
            let n = b.read(&mut buf).await.unwrap();
            if n == 0 {
                break;
            }
            got.extend_from_slice(&buf[..n]);
            windlass_runtime::yield_now().await;
        }
        assert!(got == all);
        assert!(writer.await.unwrap() > 1);
    });
}

#[test]
fn reading_and_writing_nothing_never_waits() {
    run(|| async {
        let (a, _b) = tcp_pair().await;
        assert_eq!(a.read(&mut []).await.unwrap(), 0);
        assert_eq!(a.try_read(&mut []).unwrap(), 0);
        a.read_exact(&mut []).await.unwrap();
        a.write_all(&[]).await.unwrap();
        fill(&a);
        assert_eq!(a.write(&[]).await.unwrap(), 0);
        assert_eq!(a.write_vectored(&[]).await.unwrap(), 0);
        assert_eq!(a.read_vectored(&mut []).await.unwrap(), 0);
    });
}

/// A read ends at urgent data, with more bytes behind it.
#[cfg(unix)]
#[test]
fn a_read_cut_short_by_urgent_data_does_not_hide_what_follows() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        for _ in 0..20 {
            a.write_all(b"abc").await.unwrap();
            os::send_urgent(&a, b'!');
            a.write_all(b"def").await.unwrap();
            let mut got = Vec::new();
            while got.len() < 6 {
                let mut buf = [0; 64];
                let n = b.read(&mut buf).await.unwrap();
                got.extend_from_slice(&buf[..n]);
            }
            assert_eq!(got, b"abcdef");
        }
    });
}

#[test]
fn tasks_that_wait_for_the_same_direction_all_wake() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        assert!(b.try_read(&mut [0]).is_err());
        let counts: Vec<Arc<Count>> = (0..3).map(|_| Arc::default()).collect();
        let mut waits: Vec<_> = counts.iter().map(|_| Box::pin(b.readable())).collect();
        for (count, wait) in counts.iter().zip(&mut waits) {
            let waker = Waker::from(count.clone());
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        a.write_all(b"x").await.unwrap();
        b.readable().await.unwrap();
        while counts.iter().any(|count| count.0.load(Ordering::SeqCst) == 0) {
            std::thread::yield_now();
        }
        for mut wait in waits {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(matches!(wait.as_mut().poll(&mut cx), Poll::Ready(Ok(()))));
        }
    });
}

#[test]
fn readers_of_one_socket_get_every_byte_once() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let b = Arc::new(b);
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let b = b.clone();
                spawn(async move {
                    let (mut sum, mut buf) = (0, [0; 3]);
                    loop {
                        match b.read(&mut buf).await.unwrap() {
                            0 => return sum,
                            n => sum += buf[..n].iter().map(|byte| u64::from(*byte)).sum::<u64>(),
                        }
                    }
                })
            })
            .collect();
        for round in 0..500 {
            a.write_all(&[round as u8; 5]).await.unwrap();
            windlass_runtime::yield_now().await;
        }
        drop(a);
        let mut total = 0;
        for reader in readers {
            total += reader.await.unwrap();
        }
        assert_eq!(total, (0..500).map(|round| 5 * u64::from(round as u8)).sum());
    });
}

#[test]
fn a_task_that_is_aborted_in_a_read_closes_its_socket() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let waiting = spawn(async move { b.read(&mut [0; 8]).await });
        windlass_runtime::yield_now().await;
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        assert_eq!(a.read(&mut [0]).await.unwrap(), 0);
    });
}

/// A duplicate keeps the socket open, and in the epoll instance, after the registration ended.
#[test]
fn a_duplicate_outlives_its_registered_twin() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let b = b.into_std().unwrap();
        let mut twin = b.try_clone().unwrap();
        let b = TcpStream::from_std(b).unwrap();
        drop(b);
        for i in 0..50 {
            // Events of the twin must not reach those who have the number, or the slot, now.
            let (c, d) = tcp_pair().await;
            a.write_all(b"x").await.unwrap();
            let mut buf = [0];
            let mut read = Box::pin(d.read(&mut buf));
            assert!(poll_once(&mut read).await.is_none());
            c.write_all(&[i]).await.unwrap();
            read.await.unwrap();
            assert_eq!(buf, [i]);
        }
        twin.set_nonblocking(false).unwrap();
        let mut got = [0; 50];
        twin.read_exact(&mut got).unwrap();
        twin.write_all(b"y").unwrap();
        a.read_exact(&mut [0]).await.unwrap();
        let twin = TcpStream::from_std(twin).unwrap();
        twin.write_all(b"z").await.unwrap();
        a.read_exact(&mut [0]).await.unwrap();
    });
}

#[test]
fn readers_end_when_their_runtime_does() {
    within_deadline(|| {
        let runtime = common::runtime();
        let (a, b) = runtime.block_on(tcp_pair());
        let udp = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
        let (_c, d) = runtime.block_on(tcp_pair());
        let polled = Arc::new(ManualResetEvent::new(false));
        let within = runtime.handle().spawn({
            let polled = polled.clone();
            async move {
                let mut buf = [0];
                let mut read = Box::pin(d.read(&mut buf));
                assert!(poll_once(&mut read).await.is_none());
                polled.set();
                read.await
            }
        });
        windlass_sync::block_on(polled.wait());
        fill(&a);
        let waiting = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| -> std::io::Result<()> {
                let other = common::runtime();
                other.block_on(async {
                    waiting.wait();
                    loop {
                        b.read(&mut [0; 4096]).await?;
                    }
                })
            });
            let writer = scope.spawn(|| -> std::io::Result<()> {
                windlass_sync::block_on(async {
                    waiting.wait();
                    loop {
                        a.write(&[0; 4096]).await?;
                    }
                })
            });
            let receiver = scope.spawn(|| {
                windlass_sync::block_on(async {
                    waiting.wait();
                    udp.recv(&mut [0]).await
                })
            });
            waiting.wait();
            drop(runtime);
            let _: std::io::Error = reader.join().unwrap().unwrap_err();
            let _: std::io::Error = writer.join().unwrap().unwrap_err();
            assert!(receiver.join().unwrap().is_err());
        });
        assert!(windlass_sync::block_on(within).unwrap_err().is_cancelled());
        // And nothing can be begun any more.
        assert!(windlass_sync::block_on(b.read(&mut [0])).is_err());
    });
}
