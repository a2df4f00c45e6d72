//! A guard that cancels a token that it borrows.

use super::CancellationToken;

/// Cancels a token when it is dropped; see [`CancellationToken::drop_guard_ref`].
#[derive(Debug)]
#[must_use = "dropping the guard cancels the token"]
pub struct DropGuardRef<'a> {
    token: Option<&'a CancellationToken>,
}

impl<'a> DropGuardRef<'a> {
    pub(super) fn new(token: &'a CancellationToken) -> Self {
        Self { token: Some(token) }
    }

    /// Returns the token without cancelling it.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// assert!(!token.drop_guard_ref().disarm().is_cancelled());
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> &'a CancellationToken {
        self.token.take().expect("the token is taken once, by disarm or drop")
    }
}

impl Drop for DropGuardRef<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}
