//! Socket addresses as system calls leave them: any bytes, of any length, are an address or an
//! error. (Ancillary data is parsed nowhere: no call of ours asks for any.)
#![no_main]

use libfuzzer_sys::fuzz_target;

// Paths below are relative to this folder.
#[path = "."]
mod sys {
    // As the library has it.
    pub(crate) use std::os::unix::net as local;

    #[allow(dead_code)]
    #[path = "../../net/src/sys/unix/address.rs"]
    mod address;

    use address::RawAddress;

    pub(crate) fn read(bytes: &[u8]) {
        let mut raw = RawAddress::empty();
        let (address, len) = raw.as_mut_parts();
        // SAFETY: a place for the length, which says how much room there is.
        let room = unsafe { *len } as usize;
        let used = bytes.len().min(room);
        // SAFETY: there is that much room, and any value may be written to it.
        unsafe { address.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), used) };
        // SAFETY: as above. A call may claim more than there was room for.
        unsafe { *len = bytes.len() as _ };
        if let Ok(address) = raw.to_inet() {
            assert_eq!(RawAddress::from_inet(&address).to_inet().unwrap(), address);
        }
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(bytes);
        if let Ok(address) = local::SocketAddr::from_pathname(path) {
            if let Ok(raw) = RawAddress::from_local(&address) {
                assert!(raw.to_inet().is_err());
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| sys::read(bytes));
