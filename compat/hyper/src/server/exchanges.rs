//! Counts the exchanges of a connection, in one word, so that a look at it sees one moment.
//!
//! An exchange is a request that is being answered, a stream that was handed over, or the body of a request, if
//! somebody holds on to it for that. Each part that keeps one going has a share in the word:
//!
//! | bits | count |
//! |---|---|
//! | 0 to 17 | shares |
//! | 18 to 35 | those of them that are for a body |
//! | 36 to 53 | those of them that wait for the client to take what they have handed out |
//! | 54 to 63 | waits that were over, modulo 1024. Each has sent some bytes, so before this comes around, many have gone |

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const BITS: u32 = 18;
const SHARE: u64 = 1;
const BODY: u64 = SHARE << BITS;
const WAITING: u64 = BODY << BITS;
const STEP: u64 = WAITING << BITS;

/// The exchanges of a connection.
#[derive(Debug, Default)]
pub(super) struct Exchanges(AtomicU64);

/// What one exchange adds to the word, until it ends.
#[derive(Debug)]
pub(super) struct Share(u64);

/// The exchanges at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Snapshot(u64);

impl Exchanges {
    /// Begins one.
    #[inline]
    pub(super) fn begin(&self) -> Share {
        self.0.fetch_add(SHARE, Relaxed);
        Share(SHARE)
    }

    /// Begins one for the body of a request.
    pub(super) fn begin_body(&self) -> Share {
        self.0.fetch_add(SHARE + BODY, Relaxed);
        Share(SHARE + BODY)
    }

    /// Notes that it waits for the client.
    #[inline]
    pub(super) fn wait(&self, share: &mut Share) {
        if !share.is_waiting() {
            self.0.fetch_add(WAITING, Relaxed);
            share.0 += WAITING;
        }
    }

    /// Notes that it waits no longer, if it did.
    #[inline]
    pub(super) fn go_on(&self, share: &mut Share) {
        if share.is_waiting() {
            self.0.fetch_add(STEP - WAITING, Relaxed);
            share.0 -= WAITING;
        }
    }

    /// Ends one. What was done before is seen by whoever sees that it has ended.
    #[inline]
    pub(super) fn end(&self, share: &Share) {
        // Release pairs with the Acquire in `look`.
        self.0.fetch_sub(share.0, Release);
    }

    /// Returns how many there are.
    #[inline]
    pub(super) fn look(&self) -> Snapshot {
        // Acquire pairs with the Release in `end`.
        Snapshot(self.0.load(Acquire))
    }
}

impl Share {
    fn is_waiting(&self) -> bool {
        self.0 & WAITING != 0
    }
}

impl Snapshot {
    /// Returns true if there are any.
    #[inline]
    pub(super) fn any(self) -> bool {
        self.count(SHARE) > 0
    }

    /// Returns true if there are some, and all of them are bodies of requests.
    pub(super) fn are_bodies(self) -> bool {
        self.any() && self.count(BODY) == self.count(SHARE)
    }

    /// Returns true if some wait for the client, and so do all the others except bodies, which never do.
    pub(super) fn are_waiting(self) -> bool {
        let waiting = self.count(WAITING);
        waiting > 0 && waiting == self.count(SHARE) - self.count(BODY)
    }

    fn count(self, unit: u64) -> u64 {
        self.0 / unit % (1 << BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::Exchanges;

    #[test]
    fn a_wait_that_is_over_makes_a_difference_and_the_end_of_one_leaves_the_others() {
        let exchanges = Exchanges::default();
        assert!(!exchanges.look().any() && !exchanges.look().are_waiting());
        let (mut first, mut second) = (exchanges.begin(), exchanges.begin());
        exchanges.wait(&mut first);
        exchanges.wait(&mut first);
        assert!(exchanges.look().any() && !exchanges.look().are_waiting());
        exchanges.wait(&mut second);
        let stalled = exchanges.look();
        assert!(stalled.are_waiting());
        for _ in 0..1000 {
            exchanges.go_on(&mut first);
            exchanges.go_on(&mut first);
            assert!(!exchanges.look().are_waiting());
            exchanges.wait(&mut first);
            assert!(exchanges.look().are_waiting() && exchanges.look() != stalled);
        }
        exchanges.end(&first);
        assert!(exchanges.look().are_waiting() && !exchanges.look().are_bodies());
        let body = exchanges.begin_body();
        assert!(exchanges.look().are_waiting() && !exchanges.look().are_bodies());
        exchanges.end(&second);
        assert!(exchanges.look().are_bodies() && !exchanges.look().are_waiting());
        exchanges.end(&body);
        assert!(!exchanges.look().any());
    }
}
