//! The time limit of writes to a peer that reads nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use windlass_runtime::timer::{Sleep, sleep};

/// The time-out of a connection's writes. When its waker is called, the caller polls the write again, and with it the
/// time-out.
#[derive(Debug)]
pub(super) struct Writes {
    limit: Option<Duration>,
    /// Armed by the first write that has to wait, until one does not.
    waiting: Option<Box<Sleep>>,
}

impl Writes {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        Self { limit, waiting: None }
    }

    /// Returns the result of a write or a flush, or an error if there was no progress for too long.
    pub(super) fn limit<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.waiting = None;
            return result;
        }
        let Some(limit) = self.limit else { return result };
        let waiting = self.waiting.get_or_insert_with(|| Box::new(sleep(limit)));
        match Pin::new(&mut **waiting).poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the peer has read nothing for too long",
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io;
    use std::task::Poll;
    use std::time::Duration;

    use windlass_runtime::Builder;
    use windlass_runtime::timer::sleep;

    use super::Writes;

    const LIMIT: Duration = Duration::from_secs(60);
    const LESS: Duration = Duration::from_secs(59);

    async fn pass(writes: &mut Writes, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let mut result = Some(result);
        poll_fn(|cx| Poll::Ready(writes.limit(cx, result.take().unwrap_or(Poll::Pending)))).await
    }

    #[test]
    fn the_time_counts_from_the_last_progress() {
        Builder::new().workers(1).virtual_time().build().unwrap().block_on(async {
            let mut writes = Writes::new(Some(LIMIT));
            for _ in 0..3 {
                assert!(pass(&mut writes, Poll::Pending).await.is_pending());
                sleep(LESS).await;
                assert!(pass(&mut writes, Poll::Pending).await.is_pending());
                assert!(matches!(pass(&mut writes, Poll::Ready(Ok(1))).await, Poll::Ready(Ok(1))));
            }
            sleep(2 * LIMIT).await;
            assert!(pass(&mut writes, Poll::Pending).await.is_pending());
            sleep(LIMIT).await;
            let Poll::Ready(Err(error)) = pass(&mut writes, Poll::Pending).await else {
                panic!("there is no end of it")
            };
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn without_a_limit_it_waits_for_ever() {
        Builder::new().workers(1).virtual_time().build().unwrap().block_on(async {
            let mut writes = Writes::new(None);
            for _ in 0..3 {
                assert!(pass(&mut writes, Poll::Pending).await.is_pending());
                sleep(100 * LIMIT).await;
            }
        });
    }
}
