//! The loaded executable and libraries, and their descriptions of their stack frames.

use std::ffi::c_int;
use std::ops::Range;
use std::slice;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, NativeEndian, Pointer};

/// A section that was read.
pub(super) type Bytes<'a> = EndianSlice<'a, NativeEndian>;

/// All that is loaded.
pub(super) struct Modules(Vec<Module>);

/// One executable or library.
struct Module {
    segments: Vec<Range<usize>>,
    /// The index of its frame descriptions, by address.
    index: Option<Range<usize>>,
}

/// The frame descriptions of one module. Copies, because the module may be unloaded at any time.
pub(super) struct Descriptions {
    index: Vec<u8>,
    frames: Vec<u8>,
    pub(super) bases: BaseAddresses,
}

impl Modules {
    /// Returns what is loaded at this moment.
    pub(super) fn loaded() -> Self {
        unsafe extern "C" fn note(
            info: *mut libc::dl_phdr_info,
            _size: usize,
            modules: *mut libc::c_void,
        ) -> c_int {
            // SAFETY: the loader passes on what `loaded` has passed to it, and an entry of its own, both for this call.
            let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<Module>>()) };
            modules.push(Module::of(info));
            0
        }
        let mut modules = Vec::<Module>::new();
        // SAFETY: the callback is called with this very vector, before the call returns.
        unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut modules).cast()) };
        Self(modules)
    }

    /// Returns the frame descriptions of the module in which an address is, and the segment there.
    pub(super) fn descriptions(&self, address: usize) -> Option<(Range<usize>, Descriptions)> {
        let mut found = self.0.iter().filter_map(|module| Some((module, module.segment(address)?)));
        let (module, segment) = found.next()?;
        Some((segment.clone(), module.descriptions()?))
    }
}

impl Module {
    fn of(info: &libc::dl_phdr_info) -> Self {
        let headers = match info.dlpi_phnum {
            0 => &[],
            // SAFETY: the loader says that there are this many.
            count => unsafe { slice::from_raw_parts(info.dlpi_phdr, count.into()) },
        };
        let range = |header: &libc::Elf64_Phdr| {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            start..start.wrapping_add(header.p_memsz as usize)
        };
        let of_type = |wanted| headers.iter().filter(move |header| header.p_type == wanted);
        Self {
            segments: of_type(libc::PT_LOAD).map(range).collect(),
            index: of_type(libc::PT_GNU_EH_FRAME).map(range).next(),
        }
    }

    fn segment(&self, address: usize) -> Option<&Range<usize>> {
        self.segments.iter().find(|segment| segment.contains(&address))
    }

    fn descriptions(&self) -> Option<Descriptions> {
        let range = self.index.clone()?;
        let index = read(range.clone())?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(range.start as u64);
        let parsed = EhFrameHdr::new(&index, NativeEndian).parse(&bases, 8).ok()?;
        let Pointer::Direct(start) = parsed.eh_frame_ptr() else { return None };
        // Its length is not recorded. Whatever follows in the same segment does no harm.
        let frames = read(start as usize..self.segment(start as usize)?.end)?;
        let bases = bases.set_eh_frame(start);
        Some(Descriptions { index, frames, bases })
    }
}

impl Descriptions {
    pub(super) fn index(&self) -> EhFrameHdr<Bytes<'_>> {
        EhFrameHdr::new(&self.index, NativeEndian)
    }

    pub(super) fn frames(&self) -> EhFrame<Bytes<'_>> {
        EhFrame::new(&self.frames, NativeEndian)
    }
}

/// Reads memory that may have been unmapped since we learned of it. The kernel reads it, and reports if it is gone. If
/// the call is refused, or ends early, tries [`read_file`].
fn read(range: Range<usize>) -> Option<Vec<u8>> {
    let length = range.end.checked_sub(range.start)?;
    let mut bytes = vec![0_u8; length];
    let into = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let from =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(range.start), iov_len: length };
    // SAFETY: the kernel writes only to our buffer, no more than its length, and checks what it reads.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &into, 1, &from, 1, 0) };
    if usize::try_from(copied).is_ok_and(|copied| copied == length) {
        return Some(bytes);
    }
    read_file(range.start, bytes)
}

/// Reads the memory from the kernel's image of it, for systems on which the call is refused.
fn read_file(start: usize, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let memory = std::fs::File::open("/proc/self/mem").ok()?;
    memory.read_exact_at(&mut bytes, start as u64).ok()?;
    Some(bytes)
}
