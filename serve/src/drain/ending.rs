//! What tells a server to end, as far as it is set before the server starts.

use std::future::Future;
use std::io;

use windlass_os::signal::termination;
use windlass_sync::CancellationToken;

use super::Drain;
use crate::Switch;

impl Drain {
    /// Tells the server to end when `trigger` completes, which may wait for a message or a time-out.
    ///
    /// It can be called several times: the second trigger that completes ends the drain at once. Triggers
    /// count among themselves only: one that completes after a signal or a flip of the switch changes nothing. They
    /// are polled by [`serve`](Self::serve). For something that happens repeatedly, pass a loop that
    /// flips a [`switch`](Self::switch) and never ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::serve::Drain;
    /// use windlass::timer::sleep;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new().on(async { sleep(Duration::from_millis(5)).await });
    /// let report = drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// assert!(report.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on(mut self, trigger: impl Future<Output = ()> + Send + 'static) -> Self {
        self.triggers.add(trigger);
        self
    }

    /// Starts the drain at the first request to end the process, and ends it at once at the second.
    ///
    /// Requests are counted by themselves: the first one does not end a drain that something else has begun, such as a
    /// [`switch`](Self::switch) or another trigger that waits for the same signal.
    ///
    /// The requests are those of [`termination`]: Ctrl-C and `SIGTERM` on Unix; Ctrl-C, Ctrl-Break, the console being
    /// closed and the system shutting down on Windows. From this call on they no longer end the process by themselves,
    /// and after [`serve`](Self::serve) has returned nothing receives them: the program should come to its end then.
    ///
    /// Requests within half a second of each other count as one, because a shell or a supervisor may pass on a signal
    /// that the process has received already.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, if the OS refuses a handler, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:7000").await?;
    /// let server = Drain::new().on_signals()?.serve(listener, |stream, _peer, _told| async move {
    ///     let _ = stream.write_all(b"hello").await;
    /// });
    /// println!("{}", server.await?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_signals(mut self) -> io::Result<Self> {
        self.triggers.add_signals(termination()?);
        Ok(self)
    }

    /// Has the server end with another one: its drain begins when that of `other` begins, and ends at once when that is
    /// to end at once.
    ///
    /// This is for several servers in a process, each with connections, limits and a report of its own. One of them is
    /// told to end, and the rest follow. That `other` has drained does not end this one.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let public = Drain::new(); // with `on_signals`, for example
    /// let switch = public.switch();
    /// let internal = Drain::new().follow(&switch);
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let public = windlass::spawn(public.serve(listener, |_stream, _peer, _told| async {}));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let internal = windlass::spawn(internal.serve(listener, |_stream, _peer, _told| async {}));
    ///
    /// switch.flip();
    /// assert!(public.await.unwrap()?.is_clean());
    /// assert!(internal.await.unwrap()?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn follow(mut self, other: &Switch) -> Self {
        self.triggers.add_switch(other.clone());
        self
    }

    /// Returns a switch that tells the server to end.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new();
    /// let switch = drain.switch();
    /// let server = windlass::spawn(drain.serve(listener, |_stream, _peer, _told| async {}));
    /// switch.flip();
    /// assert!(server.await.unwrap()?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn switch(&self) -> Switch {
        self.switch.clone()
    }

    /// Returns the token that is cancelled when the drain begins.
    ///
    /// Each connection gets it with its stream. This method is for other tasks that should end with the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let drain = Drain::new();
    /// let told = drain.token().clone();
    /// let housekeeping = windlass::spawn(async move { told.cancelled().await });
    /// drain.switch().flip();
    /// housekeeping.await.unwrap();
    /// # });
    /// ```
    pub fn token(&self) -> &CancellationToken {
        self.switch.token()
    }
}
