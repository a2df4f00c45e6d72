//! Conversion into socket addresses, with names looked up by the OS's resolver.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use windlass_runtime::task::AbortHandle;

/// A value that can be converted into socket addresses, like std's trait of the same name.
///
/// Numeric addresses are converted at once. Names are looked up with the OS's resolver, which blocks, on a thread of
/// the blocking pool.
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
    /// Returns the addresses, or the name to look up.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the value is neither.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::ToSocketAddrs;
    ///
    /// assert!("localhost:80".lookup().is_ok());
    /// assert!("a host without a port".lookup().is_err());
    /// ```
    fn lookup(&self) -> io::Result<Lookup>;

    /// Does what [`lookup`](Self::lookup) does, for [`resolve`]: text needs no port. Without one, the addresses have
    /// port 0.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the value is neither addresses nor a name.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::ToSocketAddrs;
    ///
    /// assert!("localhost".lookup_host().is_ok());
    /// assert!("localhost".lookup().is_err());
    /// ```
    fn lookup_host(&self) -> io::Result<Lookup> {
        self.lookup()
    }
}

/// The result of [`ToSocketAddrs::lookup`]: addresses, or a name to look up.
#[derive(Clone, Debug)]
pub struct Lookup(Target);

#[derive(Clone, Debug)]
enum Target {
    One(SocketAddr),
    Many(Vec<SocketAddr>),
    Name { host: String, port: u16 },
}

impl Lookup {
    /// Creates a result from known addresses.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::Lookup;
    ///
    /// let lookup = Lookup::addresses(["127.0.0.1:80".parse().unwrap()]);
    /// # drop(lookup);
    /// ```
    pub fn addresses(addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        Self(Target::Many(addresses.into_iter().collect()))
    }

    /// Creates a result from a host, which is a name or a numeric address, and a port.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::Lookup;
    ///
    /// let lookup = Lookup::host("localhost", 80);
    /// # drop(lookup);
    /// ```
    pub fn host(host: &str, port: u16) -> Self {
        match host.parse::<IpAddr>() {
            Ok(ip) => SocketAddr::new(ip, port).into(),
            Err(_) => Self(Target::Name { host: host.to_owned(), port }),
        }
    }

    async fn resolve(self) -> io::Result<Addresses> {
        let (first, others) = match self.0 {
            Target::One(address) => (Some(address), Vec::new()),
            Target::Many(addresses) => (None, addresses),
            Target::Name { host, port } => (None, look_up(host, port).await?),
        };
        Ok(Addresses { first, others: others.into_iter() })
    }
}

impl<A: Into<SocketAddr>> From<A> for Lookup {
    fn from(address: A) -> Self {
        Self(Target::One(address.into()))
    }
}

/// Resolves a host into its addresses: `"example.org:443"`, `("example.org", 443)`, or any other [`ToSocketAddrs`].
///
/// A host without a port, such as `"example.org"`, resolves into addresses with port 0: use only their
/// [`ip`](SocketAddr::ip).
///
/// Dropping the future cancels the lookup if it has not started. One that has started continues on its thread, and its
/// result is discarded.
///
/// # Errors
///
/// Returns an error if the name has no address or cannot be looked up, or if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let mut addresses = windlass::net::resolve("127.0.0.1:443").await?;
/// assert_eq!(addresses.next(), "127.0.0.1:443".parse().ok());
/// assert!(windlass::net::resolve("localhost").await?.all(|address| address.ip().is_loopback()));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn resolve<A: ToSocketAddrs>(host: A) -> io::Result<Addresses> {
    host.lookup_host()?.resolve().await
}

/// Returns the first of the addresses, which have a port.
pub(crate) async fn first<A: ToSocketAddrs>(addrs: A) -> io::Result<SocketAddr> {
    addrs.lookup()?.resolve().await?.next().ok_or_else(no_address)
}

/// Returns the result of the first address with which `op` succeeds, or the error of the last one.
pub(crate) async fn with_first<A: ToSocketAddrs, R, F: Future<Output = io::Result<R>>>(
    addrs: A,
    mut op: impl FnMut(SocketAddr) -> F,
) -> io::Result<R> {
    let mut failed = None;
    for address in addrs.lookup()?.resolve().await? {
        match op(address).await {
            Ok(result) => return Ok(result),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(no_address))
}

fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "there is no address to use")
}

/// An iterator over socket addresses, in the order in which to try them; see [`resolve`].
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

/// Looks a name up on the blocking pool.
async fn look_up(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let lookup = windlass_runtime::spawn_blocking(move || {
        std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
    });
    let _guard = AbortOnDrop(lookup.abort_handle());
    lookup.await?
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    fn lookup(&self) -> io::Result<Lookup> {
        (**self).lookup()
    }

    fn lookup_host(&self) -> io::Result<Lookup> {
        (**self).lookup_host()
    }
}

/// Implements the trait for types that are one address.
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

/// Parses `host:port`. The host is a name or a numeric address; an IPv6 address is in brackets.
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

    fn lookup_host(&self) -> io::Result<Lookup> {
        // The text of an IPv6 address has colons, and its last part is not a port.
        if !self.is_empty() && (!self.contains(':') || self.parse::<IpAddr>().is_ok()) {
            return Ok(Lookup::host(self, 0));
        }
        self.lookup()
    }
}

impl ToSocketAddrs for String {
    fn lookup(&self) -> io::Result<Lookup> {
        self.as_str().lookup()
    }

    fn lookup_host(&self) -> io::Result<Lookup> {
        self.as_str().lookup_host()
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
