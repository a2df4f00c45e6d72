//! Socket addresses in the form of the system calls.

use std::io;
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::unix::ffi::OsStrExt;

use libc::{
    sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, sockaddr_un, socklen_t,
};

use super::local;

/// An address of any family, with the length that is in use.
pub(super) struct RawAddress {
    bytes: Bytes,
    len: socklen_t,
}

/// All fields are numbers or arrays of numbers, so bytes that were written through one of them can be read through
/// another.
#[repr(C)]
union Bytes {
    any: sockaddr_storage,
    v4: sockaddr_in,
    v6: sockaddr_in6,
    local: sockaddr_un,
}

impl RawAddress {
    /// Creates room for an address that a call will fill in.
    pub(super) fn empty() -> Self {
        // SAFETY: zeroes are valid for the numbers that all these are made of.
        let bytes = Bytes { any: unsafe { std::mem::zeroed() } };
        Self { bytes, len: size_of::<Bytes>() as socklen_t }
    }

    pub(super) fn from_inet(address: &SocketAddr) -> Self {
        let mut raw = Self::empty();
        match address {
            SocketAddr::V4(address) => {
                // SAFETY: zeroes are valid for the numbers that it is made of.
                let mut v4: sockaddr_in = unsafe { std::mem::zeroed() };
                v4.sin_family = libc::AF_INET as sa_family_t;
                v4.sin_port = address.port().to_be();
                v4.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                raw.bytes.v4 = v4;
                raw.len = size_of::<sockaddr_in>() as socklen_t;
            }
            SocketAddr::V6(address) => {
                // SAFETY: zeroes are valid for the numbers that it is made of.
                let mut v6: sockaddr_in6 = unsafe { std::mem::zeroed() };
                v6.sin6_family = libc::AF_INET6 as sa_family_t;
                v6.sin6_port = address.port().to_be();
                v6.sin6_addr.s6_addr = address.ip().octets();
                v6.sin6_flowinfo = address.flowinfo();
                v6.sin6_scope_id = address.scope_id();
                raw.bytes.v6 = v6;
                raw.len = size_of::<sockaddr_in6>() as socklen_t;
            }
        }
        raw
    }

    /// Converts the address of a path, or of a name in the abstract namespace.
    pub(super) fn from_local(address: &local::SocketAddr) -> io::Result<Self> {
        // SAFETY: zeroes are valid for the numbers that it is made of.
        let mut local: sockaddr_un = unsafe { std::mem::zeroed() };
        local.sun_family = libc::AF_UNIX as sa_family_t;
        // A path ends with a zero; an abstract name begins with one and has a length.
        let (name, start, end) = match (address.as_pathname(), abstract_name(address)) {
            (Some(path), _) => (path.as_os_str().as_bytes(), 0, 1),
            (None, Some(name)) => (name, 1, 0),
            (None, None) => {
                let message = "cannot connect to a local socket that has no name";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        };
        let used = start + name.len() + end;
        if used > local.sun_path.len() {
            let message = "the path of a local socket is too long";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        for (to, from) in local.sun_path[start..].iter_mut().zip(name) {
            *to = *from as libc::c_char;
        }
        let len = std::mem::offset_of!(sockaddr_un, sun_path) + used;
        let mut raw = Self::empty();
        raw.bytes.local = local;
        raw.len = len as socklen_t;
        Ok(raw)
    }

    /// Returns the address that a call has filled in.
    pub(super) fn to_inet(&self) -> io::Result<SocketAddr> {
        // SAFETY: see `Bytes`; all its bytes have been zeroes at least.
        let family = unsafe { self.bytes.any.ss_family };
        match i32::from(family) {
            libc::AF_INET => {
                // SAFETY: as above.
                let v4 = unsafe { &self.bytes.v4 };
                let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
                Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let v6 = unsafe { &self.bytes.v6 };
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                let port = u16::from_be(v6.sin6_port);
                Ok(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "not an internet address")),
        }
    }

    /// Returns the address that `accept` has filled in. The error for a peer that has none is of the kind that says that
    /// the connection was given up: macOS returns a socket without an address for one that was reset in the queue.
    pub(super) fn to_peer(&self) -> io::Result<SocketAddr> {
        if self.len == 0 {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.to_inet()
    }

    pub(super) fn as_ptr(&self) -> *const sockaddr {
        std::ptr::from_ref(&self.bytes).cast()
    }

    pub(super) fn len(&self) -> socklen_t {
        self.len
    }

    /// Returns pointers for a call that writes the address and its length.
    pub(super) fn as_mut_parts(&mut self) -> (*mut sockaddr, *mut socklen_t) {
        (std::ptr::from_mut(&mut self.bytes).cast(), &mut self.len)
    }
}

/// Returns the name in the abstract namespace, which only Linux has.
#[cfg(target_os = "linux")]
fn abstract_name(address: &local::SocketAddr) -> Option<&[u8]> {
    std::os::linux::net::SocketAddrExt::as_abstract_name(address)
}

#[cfg(not(target_os = "linux"))]
fn abstract_name(_address: &local::SocketAddr) -> Option<&[u8]> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_round_trip() {
        for address in ["127.0.0.1:80", "255.1.2.3:65535", "[::1]:1", "[fe80::1%7]:443"] {
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(RawAddress::from_inet(&address).to_inet().unwrap(), address);
        }
    }

    #[test]
    fn a_local_path_has_a_zero_at_its_end() {
        let path = local::SocketAddr::from_pathname("/x").unwrap();
        assert_eq!(RawAddress::from_local(&path).unwrap().len(), 2 + 3);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_abstract_name_has_a_zero_at_its_start() {
        use std::os::linux::net::SocketAddrExt;

        let name = local::SocketAddr::from_abstract_name("xyz").unwrap();
        assert_eq!(RawAddress::from_local(&name).unwrap().len(), 2 + 4);
    }

    #[test]
    fn only_an_internet_address_is_read_as_one() {
        let path = local::SocketAddr::from_pathname("/x").unwrap();
        assert!(RawAddress::from_local(&path).unwrap().to_inet().is_err());
    }

    /// One client's reset ended servers on macOS.
    #[test]
    fn a_peer_without_an_address_has_given_up() {
        let mut raw = RawAddress::empty();
        assert_eq!(raw.to_peer().unwrap_err().kind(), io::ErrorKind::InvalidData);
        let (_, len) = raw.as_mut_parts();
        // SAFETY: a place for the length.
        unsafe { *len = 0 };
        assert_eq!(raw.to_peer().unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        let address: SocketAddr = "[::1]:7".parse().unwrap();
        assert_eq!(RawAddress::from_inet(&address).to_peer().unwrap(), address);
    }

    /// Whatever bytes a call leaves, and however long it says they are: an address that survives the
    /// round trip, or an error.
    #[test]
    fn random_bytes_are_an_address_or_an_error() {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX, libc::AF_UNSPEC, 0x7f];
        for round in 0..20_000 {
            let mut raw = RawAddress::empty();
            let (address, len) = raw.as_mut_parts();
            for at in 0..size_of::<Bytes>() {
                // SAFETY: within the bytes, which any value may be written to.
                unsafe { address.cast::<u8>().add(at).write(byte()) };
            }
            // SAFETY: as above; every one of them has a place for the family.
            unsafe { (*address).sa_family = families[round % families.len()] as _ };
            // SAFETY: a place for the length.
            unsafe { *len = socklen_t::from(byte()) };
            if let Ok(address) = raw.to_inet() {
                assert_eq!(RawAddress::from_inet(&address).to_inet().unwrap(), address);
            } else {
                assert!(round % families.len() > 1, "an internet address is refused");
            }
        }
    }
}
