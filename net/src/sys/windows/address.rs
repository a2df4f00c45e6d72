//! Socket addresses in the form of the system calls.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use windows_sys::Win32::Networking::WinSock as ws;

/// An address of either family, with the length that is in use.
pub(super) struct RawAddress {
    bytes: Bytes,
    len: i32,
}

/// All fields are numbers or arrays of numbers, so bytes that were written through one of them can be read through
/// another.
#[repr(C)]
union Bytes {
    family: ws::ADDRESS_FAMILY,
    v4: ws::SOCKADDR_IN,
    v6: ws::SOCKADDR_IN6,
}

impl RawAddress {
    /// Creates room for an address that a call will fill in.
    pub(super) fn empty() -> Self {
        Self { bytes: Bytes { v6: Default::default() }, len: size_of::<Bytes>() as i32 }
    }

    pub(super) fn new(address: &SocketAddr) -> Self {
        let mut raw = Self::empty();
        match address {
            SocketAddr::V4(address) => {
                let mut v4 = ws::SOCKADDR_IN { sin_family: ws::AF_INET, ..Default::default() };
                v4.sin_port = address.port().to_be();
                v4.sin_addr.S_un.S_addr = u32::from_ne_bytes(address.ip().octets());
                raw.bytes.v4 = v4;
                raw.len = size_of::<ws::SOCKADDR_IN>() as i32;
            }
            SocketAddr::V6(address) => {
                let mut v6 = ws::SOCKADDR_IN6 { sin6_family: ws::AF_INET6, ..Default::default() };
                v6.sin6_port = address.port().to_be();
                v6.sin6_addr.u.Byte = address.ip().octets();
                v6.sin6_flowinfo = address.flowinfo();
                v6.Anonymous.sin6_scope_id = address.scope_id();
                raw.bytes.v6 = v6;
                raw.len = size_of::<ws::SOCKADDR_IN6>() as i32;
            }
        }
        raw
    }

    /// Returns the address that a call has filled in.
    pub(super) fn to_inet(&self) -> io::Result<SocketAddr> {
        // SAFETY: see `Bytes`; all its bytes have been zeroes at least.
        match unsafe { self.bytes.family } {
            ws::AF_INET => {
                // SAFETY: as above; the fields of the union within are numbers of the same bytes.
                let (v4, ip) = unsafe { (&self.bytes.v4, self.bytes.v4.sin_addr.S_un.S_addr) };
                let ip = Ipv4Addr::from(ip.to_ne_bytes());
                Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            ws::AF_INET6 => {
                // SAFETY: as above.
                let (v6, ip, scope) = unsafe {
                    let v6 = &self.bytes.v6;
                    (v6, v6.sin6_addr.u.Byte, v6.Anonymous.sin6_scope_id)
                };
                let (ip, port) = (Ipv6Addr::from(ip), u16::from_be(v6.sin6_port));
                Ok(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, scope).into())
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "not an internet address")),
        }
    }

    pub(super) fn as_ptr(&self) -> *const ws::SOCKADDR {
        std::ptr::from_ref(&self.bytes).cast()
    }

    pub(super) fn len(&self) -> i32 {
        self.len
    }

    /// Returns pointers for a call that writes the address and its length.
    pub(super) fn as_mut_parts(&mut self) -> (*mut ws::SOCKADDR, *mut i32) {
        (std::ptr::from_mut(&mut self.bytes).cast(), &mut self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_round_trip() {
        for address in ["127.0.0.1:80", "255.1.2.3:65535", "[::1]:1", "[fe80::1%7]:443"] {
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(RawAddress::new(&address).to_inet().unwrap(), address);
        }
    }
}
