//! Finds the beginning and the end of the frames of a WebSocket (RFC 6455, section 5.2).

/// The opcode of a close frame.
const CLOSE: u8 = 0x8;
/// Set in the opcodes of control frames, which may come in the middle of a message.
const CONTROL: u8 = 0x8;
/// Set in the first byte of the last frame of a message.
const LAST: u8 = 0x80;

/// Follows one direction of a WebSocket from its first frame on, and knows whether it is between two frames.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The part of a header that has arrived: two bytes, and up to eight of a longer length.
    header: [u8; 10],
    have: usize,
    /// How many bytes of the current frame's payload are still to come.
    rest: u64,
    is_in_message: bool,
    has_closed: bool,
}

impl Frames {
    /// Notes the next bytes.
    pub(super) fn note(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped =
                usize::try_from(self.rest).map_or(bytes.len(), |rest| rest.min(bytes.len()));
            self.rest -= skipped as u64;
            bytes = &bytes[skipped..];
            if let Some((byte, others)) = bytes.split_first() {
                self.note_header(*byte);
                bytes = others;
            }
        }
    }

    /// Returns true between two frames. A control frame may be inserted here, even in the middle of a message of
    /// several frames.
    pub(super) fn is_between(&self) -> bool {
        self.have == 0 && self.rest == 0
    }

    /// Returns true if more frames of a message that has begun are to come.
    pub(super) fn is_in_message(&self) -> bool {
        self.is_in_message
    }

    /// Returns true if there was a close frame.
    pub(super) fn has_closed(&self) -> bool {
        self.has_closed
    }

    fn note_header(&mut self, byte: u8) {
        self.header[self.have] = byte;
        self.have += 1;
        let length = self.header[1] & 0x7f;
        let of_length = match length {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        if self.have < 2 || self.have < 2 + of_length {
            return;
        }
        let length = match of_length {
            0 => u64::from(length),
            _ => self.header[2..2 + of_length]
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        let mask = if self.header[1] & 0x80 == 0 { 0 } else { 4 };
        if self.header[0] & CONTROL == 0 {
            self.is_in_message = self.header[0] & LAST == 0;
        }
        self.has_closed |= self.header[0] & 0x0f == CLOSE;
        self.rest = length.saturating_add(mask);
        self.have = 0;
        self.header[1] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;

    /// Returns a frame with this opcode and a payload of this length, masked or not.
    fn frame(opcode: u8, length: usize, masked: bool) -> Vec<u8> {
        let mask_bit = if masked { 0x80 } else { 0 };
        let mut frame = vec![0x80 | opcode];
        match length {
            0..126 => frame.push(mask_bit | length as u8),
            126..0x1_0000 => {
                frame.push(mask_bit | 126);
                frame.extend_from_slice(&(length as u16).to_be_bytes());
            }
            _ => {
                frame.push(mask_bit | 127);
                frame.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        frame.extend(std::iter::repeat_n(0xff, length + if masked { 4 } else { 0 }));
        frame
    }

    #[test]
    fn the_ends_of_frames_are_found_however_the_bytes_come() {
        for masked in [false, true] {
            for length in [0, 1, 125, 126, 127, 65_535, 65_536] {
                let frame = frame(1, length, masked);
                for piece in [1, 3, 4096, frame.len()] {
                    let mut frames = Frames::default();
                    for twice in 0..2 {
                        let mut seen = 0;
                        for bytes in frame.chunks(piece) {
                            assert_eq!(frames.is_between(), seen == 0, "{length} {piece} {twice}");
                            frames.note(bytes);
                            seen += bytes.len();
                        }
                        assert!(frames.is_between() && !frames.has_closed());
                    }
                }
            }
        }
    }

    #[test]
    fn several_frames_may_come_at_once_and_a_close_is_noticed() {
        let mut frames = Frames::default();
        let bytes = [frame(2, 300, true), frame(9, 0, true), frame(1, 5, true)].concat();
        frames.note(&bytes);
        assert!(frames.is_between() && !frames.has_closed());
        let bytes = [frame(8, 2, false), frame(1, 0, false)].concat();
        frames.note(&bytes);
        assert!(frames.is_between() && frames.has_closed());
        frames.note(&bytes[..1]);
        assert!(!frames.is_between());
    }

    #[test]
    fn a_message_of_several_frames_lasts_until_the_last() {
        let mut frames = Frames::default();
        for (opcode, is_last) in [(1, false), (9, true), (0, false), (10, true), (0, true)] {
            let mut frame = frame(opcode, 3, true);
            frame[0] = opcode | if is_last { 0x80 } else { 0 };
            frames.note(&frame);
            assert_eq!(frames.is_in_message(), !(opcode == 0 && is_last), "{opcode}");
            assert!(frames.is_between());
        }
    }

    #[test]
    fn a_length_that_is_a_lie_does_no_harm() {
        let mut frames = Frames::default();
        frames.note(&[0x82, 0xff]);
        frames.note(&[0xff; 8]);
        frames.note(&[0; 1 << 16]);
        assert!(!frames.is_between());
    }
}
