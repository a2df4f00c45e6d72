//! A connection of HTTP/1 that goes on as another protocol, in the hands of whatever upgraded it.
//!
//! hyper's future is over then, and the connection's I/O is somewhere else. Two tokens tie the two together: the I/O cancels one
//! when it is dropped, so the server knows how long the connection lasts; the server cancels the other when it waits no
//! longer, and the I/O fails from then on.

use std::io;
use std::task::Context;

use windlass_sync::CancellationToken;

use super::told::Told;

/// The ties between an upgraded connection and its server.
#[derive(Debug, Default)]
pub(super) struct Upgrade {
    cut: CancellationToken,
    closed: CancellationToken,
}

impl Upgrade {
    /// Waits until the I/O is dropped. If the wait is dropped before, the I/O is cut.
    pub(super) async fn closed(&self) {
        let _cut = CutOnDrop(self);
        self.closed.cancelled().await;
    }

    /// Notes that the I/O is dropped.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }
}

struct CutOnDrop<'a>(&'a Upgrade);

impl Drop for CutOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cut.cancel();
    }
}

/// Whether the I/O is cut, as the one that reads sees it, or the one that writes.
#[derive(Debug, Default)]
pub(super) struct Cut(Option<Told>);

impl Cut {
    /// An error if the I/O is cut. Otherwise the task is woken when that happens.
    pub(super) fn check(&mut self, upgrade: &Upgrade, cx: &mut Context<'_>) -> io::Result<()> {
        let told = self.0.get_or_insert_with(|| Told::new(upgrade.cut.clone()));
        match told.is_told(cx) {
            true => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server has ended")),
            false => Ok(()),
        }
    }
}
