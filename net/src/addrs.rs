//! Socket addresses from whatever a program has: addresses, or names to be looked up.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::pin::Pin;
use std::task::{Context, Poll};

use windlass_runtime::task::JoinHandle;

/// What can be turned into socket addresses: everything that std's trait of the same name takes.
///
/// Addresses in numbers are at hand at once. Names are looked up with the OS's resolver, which blocks,
/// on a thread of the blocking pool.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// for address in windlass::net::resolve("localhost:80").await? {
///     assert!(address.ip().is_loopback());
/// }
/// let given = windlass::net::resolve((std::net::Ipv4Addr::LOCALHOST, 80)).await?.next();
/// assert_eq!(given, "127.0.0.1:80".parse().ok());
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub trait ToSocketAddrs {
    /// The addresses, or the name that has to be looked up for them.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if it can be neither.
    fn lookup(&self) -> io::Result<Lookup>;
}

/// What [`ToSocketAddrs`] comes to: addresses, or a name to be looked up.
#[derive(Clone, Debug)]
pub struct Lookup(Target);

#[derive(Clone, Debug)]
enum Target {
    One(SocketAddr),
    Many(Vec<SocketAddr>),
    Name { host: String, port: u16 },
}

impl Lookup {
    /// Addresses that are known.
    pub fn addresses(addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        Self(Target::Many(addresses.into_iter().collect()))
    }

    /// A host by name, or by address in numbers.
    pub fn host(host: &str, port: u16) -> Self {
        match host.parse::<IpAddr>() {
            Ok(ip) => SocketAddr::new(ip, port).into(),
            Err(_) => Self(Target::Name { host: host.to_owned(), port }),
        }
    }

    async fn resolve(self) -> io::Result<Addresses> {
        match self.0 {
            Target::One(address) => {
                Ok(Addresses { first: Some(address), others: Vec::new().into_iter() })
            }
            Target::Many(addresses) => Ok(Addresses { first: None, others: addresses.into_iter() }),
            Target::Name { host, port } => {
                let addresses = Resolving::start(host, port).await?;
                Ok(Addresses { first: None, others: addresses.into_iter() })
            }
        }
    }
}

impl<A: Into<SocketAddr>> From<A> for Lookup {
    fn from(address: A) -> Self {
        Self(Target::One(address.into()))
    }
}

/// Finds the addresses of a host: `"example.org:443"`, `("example.org", 443)`, or anything else that
/// is [`ToSocketAddrs`].
///
/// Dropping the future drops the look-up if it has not begun; one that has goes on to its end on its
/// thread, and its result is thrown away.
///
/// # Errors
///
/// If the name has no address, or cannot be looked up; if the runtime is shutting down.
pub async fn resolve<A: ToSocketAddrs>(host: A) -> io::Result<Addresses> {
    host.lookup()?.resolve().await
}

/// The first address that `op` has success with, or the error of the last.
pub(crate) async fn with_first<A: ToSocketAddrs, R>(
    addrs: A,
    mut op: impl FnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let mut failed = None;
    for address in resolve(addrs).await? {
        match op(address) {
            Ok(result) => return Ok(result),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(no_address))
}

pub(crate) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "there is no address to use")
}

/// Socket addresses, in the order in which they should be tried. Made by [`resolve`].
pub struct Addresses {
    first: Option<SocketAddr>,
    others: std::vec::IntoIter<SocketAddr>,
}

impl Iterator for Addresses {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        self.first.take().or_else(|| self.others.next())
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.first).entries(self.others.as_slice()).finish()
    }
}

/// A look-up on the blocking pool.
struct Resolving(JoinHandle<io::Result<Vec<SocketAddr>>>);

impl Resolving {
    fn start(host: String, port: u16) -> Self {
        Self(windlass_runtime::spawn_blocking(move || {
            std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
        }))
    }
}

impl Future for Resolving {
    type Output = io::Result<Vec<SocketAddr>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|result| match result {
            Ok(addresses) => addresses,
            Err(error) => Err(io::Error::other(error)),
        })
    }
}

impl Drop for Resolving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    fn lookup(&self) -> io::Result<Lookup> {
        (**self).lookup()
    }
}

/// Types that are one address as they stand.
macro_rules! one_address {
    ($($type:ty),*) => {
        $(impl ToSocketAddrs for $type {
            fn lookup(&self) -> io::Result<Lookup> {
                Ok(Lookup::from(*self))
            }
        })*
    };
}

one_address!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);

impl ToSocketAddrs for [SocketAddr] {
    fn lookup(&self) -> io::Result<Lookup> {
        Ok(Lookup::addresses(self.iter().copied()))
    }
}

impl<const N: usize> ToSocketAddrs for [SocketAddr; N] {
    fn lookup(&self) -> io::Result<Lookup> {
        self.as_slice().lookup()
    }
}

impl ToSocketAddrs for Vec<SocketAddr> {
    fn lookup(&self) -> io::Result<Lookup> {
        self.as_slice().lookup()
    }
}

impl ToSocketAddrs for (&str, u16) {
    fn lookup(&self) -> io::Result<Lookup> {
        Ok(Lookup::host(self.0, self.1))
    }
}

impl ToSocketAddrs for (String, u16) {
    fn lookup(&self) -> io::Result<Lookup> {
        Ok(Lookup::host(&self.0, self.1))
    }
}

/// `host:port`, the host by name or in numbers, an IPv6 address in brackets.
impl ToSocketAddrs for str {
    fn lookup(&self) -> io::Result<Lookup> {
        if let Ok(address) = self.parse::<SocketAddr>() {
            return Ok(address.into());
        }
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
        let (host, port) = self
            .rsplit_once(':')
            .ok_or_else(|| invalid("a socket address needs a port: `host:port`"))?;
        let port = port.parse().map_err(|_| invalid("the port of a socket address is invalid"))?;
        Ok(Lookup::host(host, port))
    }
}

impl ToSocketAddrs for String {
    fn lookup(&self) -> io::Result<Lookup> {
        self.as_str().lookup()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: impl ToSocketAddrs) -> Target {
        host.lookup().unwrap().0
    }

    #[test]
    fn numbers_need_no_thread() {
        assert!(matches!(target("127.0.0.1:80"), Target::One(_)));
        assert!(matches!(target("[::1]:80"), Target::One(_)));
        assert!(matches!(target(("::1", 80)), Target::One(_)));
        assert!(matches!(target((String::from("10.0.0.1"), 80)), Target::One(_)));
        assert!(matches!(target((Ipv4Addr::LOCALHOST, 80)), Target::One(_)));
    }

    #[test]
    fn names_are_looked_up() {
        assert!(matches!(target("a.b:80"), Target::Name { host, port: 80 } if host == "a.b"));
        assert!(matches!(target(("a.b", 80)), Target::Name { host, port: 80 } if host == "a.b"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "host", "host:", "host:99999", "1.2.3.4"] {
            let error = text.lookup().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{text}");
        }
    }
}
