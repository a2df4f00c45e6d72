//! Reads and writes of several buffers.

mod common;

use std::io::{ErrorKind, IoSlice, IoSliceMut};

use common::{run, tcp_pair};

/// Short ones may be copied into one buffer on their way, and long ones not.
#[test]
fn several_buffers_arrive_in_order_whatever_their_lengths() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let bytes: Vec<u8> = (0..2048_u32).map(|number| (number % 251) as u8).collect();
        for length in [1, 2, 255, 511, 512, 513, 1024, 2048] {
            for first in [0, 1, length / 2, length - 1, length] {
                let (head, body) = bytes[..length].split_at(first);
                let parts = [IoSlice::new(head), IoSlice::new(body)];
                assert_eq!(a.write_vectored(&parts).await.unwrap(), length);
                let mut received = vec![0; length];
                b.read_exact(&mut received).await.unwrap();
                assert!(received == bytes[..length], "{first} and {} bytes", length - first);
            }
        }
    });
}

#[test]
fn several_buffers_in_one_call() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let parts = [IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(b"two")];
        assert_eq!(a.write_vectored(&parts).await.unwrap(), 6);
        let (mut x, mut y) = ([0; 2], [0; 8]);
        let n =
            b.read_vectored(&mut [IoSliceMut::new(&mut x), IoSliceMut::new(&mut y)]).await.unwrap();
        assert_eq!((n, &x, &y[..4]), (6, b"on", &b"etwo"[..]));
        // More buffers than the OS takes at a time.
        let many = vec![IoSlice::new(b"."); 5000];
        let n = a.write_vectored(&many).await.unwrap();
        assert!((1..=5000).contains(&n));
        b.read_exact(&mut vec![0; n]).await.unwrap();
        // And into more than it fills.
        a.write_all(&vec![1; 3000]).await.unwrap();
        let (mut bytes, mut n) = (vec![0; 3000], 0);
        while n < 3000 {
            let mut rest: Vec<_> = bytes[n..].chunks_mut(1).map(IoSliceMut::new).collect();
            n += b.read_vectored(&mut rest).await.unwrap();
        }
        assert!(bytes.iter().all(|byte| *byte == 1));
        // However many before it are empty.
        a.write_all(b"x").await.unwrap();
        let mut rest: Vec<_> = (0..2000).map(|_| IoSliceMut::new(&mut [])).collect();
        rest.push(IoSliceMut::new(&mut bytes));
        assert_eq!(b.read_vectored(&mut rest).await.unwrap(), 1);
        // A full set after a partial one is still tried.
        let n = a.try_write_vectored(&many).unwrap();
        b.read_exact(&mut vec![0; n]).await.unwrap();
        let error = b.try_read_vectored(&mut [IoSliceMut::new(&mut x)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}
