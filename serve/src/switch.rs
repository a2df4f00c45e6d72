//! The switch that tells a server to end.

use std::sync::Arc;

use windlass_sync::CancellationToken;

use crate::open::{Entry, Shared};

/// A switch that begins a [`Drain`](crate::Drain), and the second time ends it. Clones are the same switch.
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
    /// Begins the drain, or ends it if it has already begun: connections that are still open are then aborted at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// let drain = Drain::new();
    /// drain.switch().flip();
    /// assert!(drain.token().is_cancelled());
    /// ```
    pub fn flip(&self) {
        if self.begin.is_cancelled() {
            self.end.cancel();
        } else {
            self.begin.cancel();
        }
    }

    /// Returns the token that is cancelled when the drain begins, for tasks that should end with the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// assert!(!Drain::new().switch().token().is_cancelled());
    /// ```
    pub fn token(&self) -> &CancellationToken {
        &self.begin
    }

    /// Makes a drain wait, as it does for a connection, until the returned value is dropped.
    ///
    /// At the deadline the drain stops waiting, and its report contains `name`. This is for work that continues after
    /// its connection has ended, and for other tasks that should not be cut short. The hold does not count as a
    /// connection for [`Drain::limit`](crate::Drain::limit).
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
        Hold { _entry: self.open.hold(name.into()) }
    }

    pub(crate) fn open(&self) -> &Arc<Shared> {
        &self.open
    }

    /// Returns the token that is cancelled when the drain should end at once.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.end
    }
}

/// Makes a drain wait for as long as it exists; see [`Switch::hold`].
#[derive(Debug)]
#[must_use = "the server does not wait once it is dropped"]
pub struct Hold {
    _entry: Entry,
}
