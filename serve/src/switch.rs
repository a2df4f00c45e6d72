//! What tells a drain to begin.

use std::sync::Arc;

use windlass_sync::CancellationToken;

use crate::open::{self, Entry, Shared};

/// Tells a [`Drain`](crate::Drain) to begin, and the second time to be done with it. Clones are the same switch.
///
/// # Examples
///
/// ```
/// use windlass::serve::Drain;
///
/// let drain = Drain::new();
/// let switch = drain.switch();
/// switch.flip();
/// assert!(drain.token().is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Switch {
    begin: CancellationToken,
    end: CancellationToken,
    open: Arc<Shared>,
}

impl Switch {
    /// Begins the drain. If it has begun, ends it: what is still open is aborted at once.
    pub fn flip(&self) {
        if self.begin.is_cancelled() {
            self.end.cancel();
        } else {
            self.begin.cancel();
        }
    }

    /// Cancelled when the drain begins: what tasks that should end with the server wait for.
    pub fn token(&self) -> &CancellationToken {
        &self.begin
    }

    /// Has the server wait, as it does for a connection, until the returned value is dropped, or until the deadline. Its report calls it
    /// by `name` then.
    ///
    /// For what goes on after its connection has been handed over, a WebSocket for instance, and for other tasks that should
    /// not be cut short.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::{Drain, Switch};
    ///
    /// async fn chat(switch: Switch) {
    ///     let _open = switch.hold("chat");
    ///     switch.token().cancelled().await;
    ///     // says goodbye
    /// }
    ///
    /// # windlass::block_on(async {
    /// let drain = Drain::new();
    /// let chat = windlass::spawn(chat(drain.switch()));
    /// # drain.switch().flip();
    /// # chat.await.unwrap();
    /// # });
    /// ```
    pub fn hold(&self, name: impl Into<String>) -> Hold {
        Hold { _entry: open::enter(&self.open, name.into()) }
    }

    pub(crate) fn open(&self) -> &Arc<Shared> {
        &self.open
    }

    /// Cancelled when it is to end at once.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.end
    }
}

/// Has a server wait while it lives; see [`Switch::hold`].
#[derive(Debug)]
#[must_use = "the server does not wait once it is dropped"]
pub struct Hold {
    _entry: Entry,
}
