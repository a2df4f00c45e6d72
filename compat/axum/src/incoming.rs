//! A connection before it is served, for the factory that makes its service.

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::handler::HandlerService;
use axum::routing::MethodRouter;
use tower_service::Service;
use windlass_net::TcpListener;

use crate::{Listener, TapIo};

/// A connection that a service is made for.
///
/// `into_make_service_with_connect_info::<SocketAddr>()` works for TCP, and `::<Peer>()` for local
/// sockets. For your own types, implement [`Connected`]:
///
/// ```
/// use axum::extract::connect_info::Connected;
/// use windlass::net::TcpListener;
/// use windlass_axum::IncomingStream;
///
/// #[derive(Clone)]
/// struct FromHere(bool);
///
/// impl Connected<IncomingStream<'_, TcpListener>> for FromHere {
///     fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
///         Self(stream.remote_addr().ip().is_loopback())
///     }
/// }
/// ```
pub struct IncomingStream<'a, L: Listener> {
    stream: &'a L::Stream,
    remote_addr: &'a L::Addr,
}

impl<'a, L: Listener> IncomingStream<'a, L> {
    pub(crate) fn new(stream: &'a L::Stream, remote_addr: &'a L::Addr) -> Self {
        Self { stream, remote_addr }
    }

    /// Returns the connection.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::connect_info::Connected;
    /// use windlass::net::TcpListener;
    /// use windlass_axum::IncomingStream;
    ///
    /// #[derive(Clone)]
    /// struct Local(Option<std::net::SocketAddr>);
    ///
    /// impl Connected<IncomingStream<'_, TcpListener>> for Local {
    ///     fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
    ///         Self(stream.stream().local_addr().ok())
    ///     }
    /// }
    /// ```
    pub fn stream(&self) -> &L::Stream {
        self.stream
    }

    /// Returns the connection, like [`stream`](Self::stream), under the method's name in axum.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::connect_info::Connected;
    /// use windlass::net::TcpListener;
    /// use windlass_axum::IncomingStream;
    ///
    /// #[derive(Clone)]
    /// struct NoDelay(bool);
    ///
    /// impl Connected<IncomingStream<'_, TcpListener>> for NoDelay {
    ///     fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
    ///         Self(stream.io().nodelay().unwrap_or(false))
    ///     }
    /// }
    /// ```
    pub fn io(&self) -> &L::Stream {
        self.stream
    }

    /// Returns the address that the connection comes from.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::connect_info::Connected;
    /// use windlass::net::TcpListener;
    /// use windlass_axum::IncomingStream;
    ///
    /// #[derive(Clone)]
    /// struct Port(u16);
    ///
    /// impl Connected<IncomingStream<'_, TcpListener>> for Port {
    ///     fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
    ///         Self(stream.remote_addr().port())
    ///     }
    /// }
    /// ```
    pub fn remote_addr(&self) -> &L::Addr {
        self.remote_addr
    }
}

impl<L: Listener> fmt::Debug for IncomingStream<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingStream")
            .field("remote_addr", &self.remote_addr)
            .finish_non_exhaustive()
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for SocketAddr {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        *stream.remote_addr()
    }
}

/// A listener that does something with each connection does not change the peer.
impl<L, F> Connected<IncomingStream<'_, TapIo<L, F>>> for SocketAddr
where
    L: Listener<Addr = SocketAddr>,
    F: Fn(&mut L::Stream) + Send + Sync + 'static,
{
    fn connect_info(stream: IncomingStream<'_, TapIo<L, F>>) -> Self {
        *stream.remote_addr()
    }
}

/// A router serves every connection, and so does a single handler.
macro_rules! serves_all {
    ([$($parameters:tt)*] $type:ty) => {
        impl<L: Listener, $($parameters)*> Service<IncomingStream<'_, L>> for $type {
            type Response = Self;
            type Error = Infallible;
            type Future = Ready<Result<Self, Infallible>>;

            fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, _stream: IncomingStream<'_, L>) -> Self::Future {
                ready(Ok(self.clone()))
            }
        }
    };
}

serves_all!([] Router<()>);
serves_all!([] MethodRouter<()>);
serves_all!([H: Clone, T] HandlerService<H, T, ()>);
