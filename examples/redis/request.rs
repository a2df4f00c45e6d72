//! Requests, parsed from the wire.

use std::ops::Range;

/// The longest argument, and the largest number of them. Redis has the same limits.
const LONGEST: usize = 512 << 20;
const MOST: usize = 1 << 20;

/// The positions of a request's arguments in a buffer. Reused from one request to the next.
#[derive(Default)]
pub(crate) struct Request {
    arguments: Vec<Range<usize>>,
}

/// The error of a client that does not speak the protocol.
#[derive(Debug)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl Request {
    /// Reads a request from the start of `bytes`, and returns its length, or `None` if it is incomplete.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        self.arguments.clear();
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first != b'*' {
            return self.read_inline(bytes);
        }
        let Some((count, mut at)) = number(bytes, 1, MOST, "invalid multibulk length")? else {
            return Ok(None);
        };
        for _ in 0..count {
            match bytes.get(at) {
                None => return Ok(None),
                Some(b'$') => {}
                Some(_) => return Err(Malformed("expected '$'")),
            }
            let Some((length, start)) = number(bytes, at + 1, LONGEST, "invalid bulk length")?
            else {
                return Ok(None);
            };
            let end = start + length;
            if bytes.len() < end + 2 {
                return Ok(None);
            }
            self.arguments.push(start..end);
            at = end + 2;
        }
        Ok(Some(at))
    }

    /// Reads words on a line, as people type them.
    fn read_inline(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let Some(length) = bytes.iter().position(|byte| *byte == b'\n') else {
            let too_long = bytes.len() > 64 * 1024;
            return if too_long { Err(Malformed("too big inline request")) } else { Ok(None) };
        };
        let mut start = None;
        for (at, byte) in bytes[..=length].iter().enumerate() {
            match (byte.is_ascii_whitespace(), start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    self.arguments.push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        Ok(Some(length + 1))
    }

    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Returns an argument of the request that was read from `bytes`, or an empty one if there is none.
    pub(crate) fn argument<'a>(&self, bytes: &'a [u8], index: usize) -> &'a [u8] {
        self.arguments.get(index).map_or(&[], |range| &bytes[range.clone()])
    }
}

/// Returns the number up to the end of the line, and the start of the next line.
fn number(
    bytes: &[u8],
    from: usize,
    most: usize,
    wrong: &'static str,
) -> Result<Option<(usize, usize)>, Malformed> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'0'..=b'9' => value = value * 10 + usize::from(byte - b'0'),
            b'\r' if at > from => {
                return Ok((bytes.len() > at + 1).then_some((value, at + 2)));
            }
            _ => return Err(Malformed(wrong)),
        }
        if value > most {
            return Err(Malformed(wrong));
        }
    }
    Ok(None)
}
