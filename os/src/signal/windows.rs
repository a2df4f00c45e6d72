//! Console events. Available on Windows only.
//!
//! When the console is closed, the user logs off or the system shuts down, the OS ends the process as soon as its
//! handler returns, or within seconds if it does not return. While there are listeners for such an event, the handler
//! does not return, so the program has those seconds to end by itself.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::News;
use crate::sys::{self, Listener};

macro_rules! events {
    ($($function:ident $type:ident $number:ident $text:literal)*) => {$(
        #[doc = concat!("Listens for ", $text, " from now on.")]
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses the handler.
        ///
        /// # Examples
        ///
        /// ```no_run
        /// # windlass::block_on(async {
        #[doc = concat!("let mut events = windlass::signal::windows::", stringify!($function), "()?;")]
        /// events.recv().await;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn $function() -> io::Result<$type> {
            Ok($type { news: News::new(Listener::new(sys::$number)?) })
        }

        #[doc = concat!("Receives ", $text, "; see [`", stringify!($function), "`]. It is also a [`Stream`].")]
        pub struct $type {
            news: News,
        }

        impl $type {
            /// Waits for the event. Never returns `None`. Dropping the future loses no event.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # windlass::block_on(async {
            #[doc = concat!("let mut events = windlass::signal::windows::", stringify!($function), "()?;")]
            /// while events.recv().await.is_some() {
            ///     println!("again");
            /// }
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn recv(&mut self) -> Option<()> {
                self.news.next().await.ok()
            }

            /// Does what [`recv`](Self::recv) does, for poll functions.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # windlass::block_on(async {
            #[doc = concat!("let mut events = windlass::signal::windows::", stringify!($function), "()?;")]
            /// std::future::poll_fn(|cx| events.poll_recv(cx)).await;
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
                self.news.poll_next(cx).map(Result::ok)
            }
        }

        impl Stream for $type {
            type Item = ();

            fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
                self.poll_recv(cx)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    )*};
}

events! {
    ctrl_c CtrlC INTERRUPT "Ctrl-C"
    ctrl_break CtrlBreak BREAK "Ctrl-Break"
    ctrl_close CtrlClose CLOSE "the console being closed"
    ctrl_logoff CtrlLogoff LOGOFF "the user logging off"
    ctrl_shutdown CtrlShutdown SHUTDOWN "the system shutting down"
}
