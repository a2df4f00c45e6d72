//! The secret in the inspector's URL.

use std::fmt::{self, Write as _};
use std::io;

use crate::sys;

/// The shortest token that a program may set.
const SHORTEST: usize = 16;

/// A secret that each request has to carry.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Returns a token of 128 random bits.
    pub(crate) fn random() -> io::Result<Self> {
        Ok(Self(sys::random()?.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// Returns the token that a program has set, if it fits into a URL and is not easily guessed.
    pub(crate) fn chosen(text: &str) -> io::Result<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.len() < SHORTEST || text.len() > 256 || !text.bytes().all(plain) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the inspector's token must have 16 to 256 characters, of a-z, A-Z, 0-9, '-' and '_'",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that depends only on the length of the guess.
    pub(crate) fn is(&self, guess: &str) -> bool {
        let own = self.0.as_bytes();
        let mut difference = own.len() ^ guess.len();
        for (index, byte) in guess.bytes().enumerate() {
            difference |= usize::from(byte ^ own[index % own.len()]);
        }
        std::hint::black_box(difference) == 0
    }
}

/// Hides the secret, which would otherwise end up in logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_tokens_differ_and_have_128_bits() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert_ne!(one.as_str(), other.as_str());
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::chosen("0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef"));
        for guess in ["", "0", "0123456789abcdeg", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!token.is(guess), "{guess}");
        }
        let twice = "0123456789abcdef".repeat(2);
        assert!(!token.is(&twice));
    }

    #[test]
    fn weak_tokens_and_those_that_break_a_url_are_refused() {
        for text in ["", "short", "0123456789abcde&", "0123456789abcde\"", "0123456789abcdé"] {
            assert!(Token::chosen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn debug_output_keeps_the_secret() {
        let token = Token::chosen("0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
    }
}
