//! The running server behind a `Drain`: accepts, and takes the steps of a drain one after the other.

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::time::Duration;

use windlass_runtime::is_shutdown_error;
use windlass_runtime::task::consume_budget;
use windlass_runtime::timer::{now, timeout, timeout_at};
use windlass_sync::CancellationToken;

use crate::accept_errors::AcceptErrors;
use crate::open::Open;
use crate::policy::{LAST_ACCEPTS, LAST_FAILURES, LETTING_GO, PAUSES};
use crate::{DrainReport, Listener, Switch};

/// A running server.
pub(crate) struct Server<C> {
    connection: C,
    switch: Switch,
    open: Open,
    errors: AcceptErrors,
}

impl<C> Server<C> {
    pub(crate) fn new(connection: C, switch: Switch, open: Open, errors: AcceptErrors) -> Self {
        Self { connection, switch, open, errors }
    }

    /// Accepts connections until something tells the server to end, then drains, and returns the report.
    pub(crate) async fn run<L, F>(
        mut self,
        listener: L,
        limits: Limits,
        location: &'static Location<'static>,
    ) -> io::Result<DrainReport>
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        self.accept_until_told(&listener, limits.connections).await?;
        let begun = now();
        let end = self.switch.end().clone();
        let draining = end.run_until_cancelled(async {
            self.empty_the_queue(&listener, limits.grace).await;
            drop(listener);
            self.open.all_ended().await;
        });
        match begun.checked_add(limits.deadline) {
            Some(deadline) => drop(timeout_at(deadline, draining).await),
            None => drop(draining.await),
        }
        let aborted = self.open.abort_all(location);
        // A task that has not ended by then is stuck in a poll. The report of the runtime's shutdown names it. Entries
        // other than connections can't be aborted, and are not waited for any longer.
        let _ = timeout(LETTING_GO, self.open.connections_ended()).await;
        Ok(DrainReport {
            accepted: self.open.accepted(),
            panicked: self.open.panicked(),
            failed: self.open.failed(),
            accept_errors: self.errors.count(),
            elapsed: now().saturating_duration_since(begun),
            aborted,
        })
    }

    async fn accept_until_told<L, F>(&mut self, listener: &L, limit: usize) -> io::Result<()>
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        let told = self.switch.token().clone();
        let (first_pause, longest_pause) = PAUSES;
        let mut pause = first_pause;
        while !told.is_cancelled() {
            if self.open.connections() >= limit {
                told.run_until_cancelled(self.open.one_ended()).await;
                continue;
            }
            // Signals are polled in this task. If the listener always has a connection, this loop never waits, so it
            // has to yield.
            consume_budget().await;
            match told.run_until_cancelled(listener.accept()).await {
                None => break,
                Some(Ok((stream, peer))) => {
                    self.start(stream, peer);
                    pause = first_pause;
                }
                Some(Err(error)) if is_shutdown_error(&error) => return Err(error),
                Some(Err(error)) => {
                    self.errors.note(&error);
                    let waiting = timeout(pause, self.open.one_ended());
                    let _ = told.run_until_cancelled(waiting).await;
                    pause = longest_pause.min(2 * pause);
                }
            }
        }
        Ok(())
    }

    /// Accepts connections until the grace period is over, and then those that are still in the queue.
    async fn empty_the_queue<L, F>(&mut self, listener: &L, grace: Duration)
    where
        L: Listener,
        C: FnMut(L::Stream, L::Addr, CancellationToken) -> F + Send,
        F: Future<Output = ()> + Send + 'static,
    {
        // If this is not supported, a connection may still be lost at the end of this function. If others have the same
        // queue, they accept it.
        let is_closed = listener.refuse_new().unwrap_or(false);
        let _ = timeout(grace, async {
            loop {
                consume_budget().await;
                match listener.accept().await {
                    Ok((stream, peer)) => self.start(stream, peer),
                    Err(error) if is_shutdown_error(&error) => return,
                    Err(error) => {
                        self.errors.note(&error);
                        let _ = timeout(PAUSES.0, self.open.one_ended()).await;
                    }
                }
            }
        })
        .await;
        let mut left = if is_closed { usize::MAX } else { LAST_ACCEPTS };
        let mut failures = 0;
        while left > 0 && failures < LAST_FAILURES {
            // The deadline and the second signal are checked when this task yields.
            consume_budget().await;
            match listener.try_accept() {
                Ok((stream, peer)) => {
                    self.start(stream, peer);
                    left -= 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_shutdown_error(&error) => return,
                Err(error) => {
                    self.errors.note(&error);
                    // The OS's errors, a lack of descriptors for one, come to an end. Those of a listener of one's own
                    // may not.
                    if error.raw_os_error().is_none() {
                        failures += 1;
                    }
                    let _ = timeout(PAUSES.0, self.open.one_ended()).await;
                }
            }
        }
    }

    fn start<S, A, F>(&mut self, stream: S, peer: A)
    where
        A: fmt::Debug,
        C: FnMut(S, A, CancellationToken) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let name = format!("connection of {peer:?}");
        let connection = (self.connection)(stream, peer, self.switch.token().clone());
        self.open.spawn(name, connection);
    }
}

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) deadline: Duration,
    pub(crate) grace: Duration,
    pub(crate) connections: usize,
}
