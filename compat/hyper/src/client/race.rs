//! Several attempts to connect, the first of which to succeed wins: what RFC 8305 calls happy eyeballs.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use windlass_runtime::timer::sleep;

/// Returns the addresses with the two families taking turns. The first address stays first, because the resolver has
/// put it there.
pub(super) fn interleaved(addresses: impl Iterator<Item = SocketAddr>) -> VecDeque<SocketAddr> {
    let mut addresses = addresses.peekable();
    let first_is_v6 = addresses.peek().is_some_and(SocketAddr::is_ipv6);
    let (mut first, mut second): (VecDeque<_>, VecDeque<_>) =
        addresses.partition(|address| address.is_ipv6() == first_is_v6);
    let mut mixed = VecDeque::with_capacity(first.len() + second.len());
    while !first.is_empty() || !second.is_empty() {
        mixed.extend(first.pop_front());
        mixed.extend(second.pop_front());
    }
    mixed
}

/// Tries the addresses in order. The next one gets its turn when an attempt fails, or when the latest attempt has not
/// succeeded within `delay`. When one succeeds, the attempts still under way are dropped.
///
/// If all fail, returns the error of the last attempt.
pub(super) async fn race<T, F>(
    mut addresses: VecDeque<SocketAddr>,
    delay: Duration,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let mut under_way: Vec<Pin<Box<F>>> = Vec::new();
    let mut failed = None;
    let mut turn = sleep(Duration::ZERO);
    poll_fn(|cx| {
        loop {
            let mut next_may_begin = under_way.is_empty();
            let mut index = 0;
            while index < under_way.len() {
                match under_way[index].as_mut().poll(cx) {
                    Poll::Ready(Ok(stream)) => return Poll::Ready(Ok(stream)),
                    Poll::Ready(Err(error)) => {
                        failed = Some(error);
                        drop(under_way.swap_remove(index));
                        next_may_begin = true;
                    }
                    Poll::Pending => index += 1,
                }
            }
            if addresses.is_empty() {
                if under_way.is_empty() {
                    return Poll::Ready(Err(failed.take().unwrap_or_else(no_address)));
                }
                return Poll::Pending;
            }
            if !next_may_begin && Pin::new(&mut turn).poll(cx).is_pending() {
                return Poll::Pending;
            }
            if let Some(address) = addresses.pop_front() {
                under_way.push(Box::pin(attempt(address)));
                turn = sleep(delay);
            }
        }
    })
    .await
}

fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the name has no address")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::future::pending;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn four() -> VecDeque<SocketAddr> {
        ["[::1]:1", "127.0.0.1:2", "[::1]:3", "127.0.0.1:4"].map(address).into()
    }

    #[test]
    fn families_take_turns_and_the_first_stays_the_first() {
        let resolved = ["[::1]:1", "[::1]:3", "[::1]:5", "127.0.0.1:2"].map(address);
        let mixed = interleaved(resolved.into_iter());
        assert_eq!(mixed, ["[::1]:1", "127.0.0.1:2", "[::1]:3", "[::1]:5"].map(address));
        assert!(interleaved(std::iter::empty()).is_empty());
    }

    #[test]
    fn a_failure_hands_the_turn_on_at_once() {
        let tried = RefCell::new(Vec::new());
        let winner = windlass_runtime::block_on(race(four(), Duration::MAX, |address| {
            tried.borrow_mut().push(address.port());
            async move {
                match address.port() {
                    3 => Ok(address.port()),
                    _ => Err(io::ErrorKind::ConnectionRefused.into()),
                }
            }
        }));
        assert_eq!(winner.unwrap(), 3);
        assert_eq!(*tried.borrow(), [1, 2, 3]);
    }

    #[test]
    fn an_address_that_does_not_answer_is_overtaken() {
        let winner = windlass_runtime::block_on(race(
            four(),
            Duration::from_millis(1),
            |address| async move {
                match address.port() {
                    4 => Ok(address.port()),
                    _ => pending().await,
                }
            },
        ));
        assert_eq!(winner.unwrap(), 4);
    }

    #[test]
    fn when_all_fail_the_last_error_is_reported() {
        let failed =
            windlass_runtime::block_on(race(four(), Duration::ZERO, |address| async move {
                Err::<(), _>(io::Error::other(address.port().to_string()))
            }));
        assert_eq!(failed.unwrap_err().to_string(), "4");
        let failed = windlass_runtime::block_on(race(VecDeque::new(), Duration::ZERO, |_| {
            pending::<io::Result<()>>()
        }));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
