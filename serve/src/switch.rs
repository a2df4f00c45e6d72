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

    /// Counts a connection that has failed, for the [report](crate::DrainReport::failed) of the drain.
    ///
    /// A server does not know the protocol of its connections, so it is told by whoever does. `windlass::axum` counts
    /// by itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let address = listener.local_addr()?;
    /// let drain = Drain::new();
    /// let switch = drain.switch();
    /// let server = drain.serve(listener, move |stream, _peer, _told| {
    ///     let switch = switch.clone();
    ///     async move {
    ///         if stream.read_exact(&mut [0; 5]).await.is_err() {
    ///             switch.count_failed();
    ///         }
    ///         # switch.flip();
    ///     }
    /// });
    /// let server = windlass::spawn(server);
    /// drop(TcpStream::connect(address).await?); // and says nothing
    /// assert_eq!(server.await.unwrap()?.failed(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn count_failed(&self) {
        self.open.count_failed();
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
