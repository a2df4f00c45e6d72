//! An HTTP/1 connection that changes to another protocol, and belongs to the code that upgraded it.
//!
//! By then hyper's future has ended, and the connection's I/O is somewhere else. Three tokens connect the I/O and the
//! server. The I/O cancels one when it is dropped, so the server knows how long the connection lasts. The server
//! cancels another when it no longer waits, and the I/O fails from then on. It cancels the third when it is time for a
//! WebSocket to say goodbye; see `goodbye`.

use std::io;
use std::task::Context;
use std::time::Duration;

use windlass_runtime::timer::sleep;
use windlass_sync::CancellationToken;

use super::told::Told;

/// The ties between an upgraded connection and its server.
#[derive(Debug)]
pub(super) struct Upgrade {
    is_websocket: bool,
    cut: CancellationToken,
    closed: CancellationToken,
    goodbye: CancellationToken,
}

impl Upgrade {
    pub(super) fn new(is_websocket: bool) -> Self {
        Self {
            is_websocket,
            cut: CancellationToken::new(),
            closed: CancellationToken::new(),
            goodbye: CancellationToken::new(),
        }
    }

    /// Waits until the I/O is dropped. Once `drain` is cancelled and `linger` has passed, it is time to say goodbye. If
    /// the wait is dropped before the I/O, the I/O is cut.
    pub(super) async fn closed(&self, drain: &CancellationToken, linger: Duration) {
        let _cut = CutOnDrop(self);
        let drained = async {
            drain.cancelled().await;
            sleep(linger).await;
        };
        if self.closed.run_until_cancelled(drained).await.is_some() {
            self.goodbye.cancel();
            self.closed.cancelled().await;
        }
    }

    pub(super) fn is_websocket(&self) -> bool {
        self.is_websocket
    }

    /// Returns the token that is cancelled when it is time to say goodbye.
    pub(super) fn goodbye(&self) -> &CancellationToken {
        &self.goodbye
    }

    /// Returns the token that is cancelled when the server no longer waits.
    pub(super) fn cut(&self) -> &CancellationToken {
        &self.cut
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

/// Tells a reader or a writer whether the I/O is cut.
#[derive(Debug, Default)]
pub(super) struct Cut(Option<Told>);

impl Cut {
    /// Returns an error if the I/O is cut. Otherwise, the task is woken when that happens.
    pub(super) fn check(&mut self, upgrade: &Upgrade, cx: &mut Context<'_>) -> io::Result<()> {
        let told = self.0.get_or_insert_with(|| Told::new(upgrade.cut.clone()));
        match told.check(cx) {
            true => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server has ended")),
            false => Ok(()),
        }
    }
}
