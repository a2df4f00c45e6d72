//! Frames of a WebSocket: any bytes, in any pieces. Where they begin is what a parser says that sees all of them at once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_fuzz::Input;

#[path = "../../compat/hyper/src/server/frames.rs"]
#[allow(dead_code)]
mod frames;

use frames::Frames;

/// How long the first frame is, header and all, if its header is whole.
fn length(bytes: &[u8]) -> Option<u128> {
    let second = *bytes.get(1)?;
    let (header, payload) = match second & 0x7f {
        126 => (4, u128::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().unwrap()))),
        127 => (10, u128::from(u64::from_be_bytes(bytes.get(2..10)?.try_into().unwrap()))),
        short => (2, u128::from(short)),
    };
    Some(header + u128::from(second >> 7) * 4 + payload)
}

/// Whether the bytes end between two frames, and whether there was the header of a close frame.
fn whole(mut bytes: &[u8]) -> (bool, bool) {
    let mut closed = false;
    while !bytes.is_empty() {
        let Some(length) = length(bytes) else { return (false, closed) };
        closed |= bytes[0] & 0x0f == 8;
        if length > bytes.len() as u128 {
            return (false, closed);
        }
        bytes = &bytes[length as usize..];
    }
    (true, closed)
}

fuzz_target!(|bytes: &[u8]| {
    // The first bytes say where it is cut.
    let (cuts, bytes) = bytes.split_at(bytes.len().min(8));
    let mut cuts = Input::new(cuts);
    let mut frames = Frames::default();
    let mut seen = 0;
    while seen < bytes.len() {
        let piece = 1 + cuts.below(bytes.len() - seen);
        frames.note(&bytes[seen..seen + piece]);
        seen += piece;
        assert_eq!((frames.is_between(), frames.has_closed()), whole(&bytes[..seen]));
    }
});
