//! Compile errors that point at the tokens that caused them.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A message, and the part of the source that it is about.
pub(crate) struct Error {
    message: String,
    from: Span,
    to: Span,
}

impl Error {
    /// Creates an error about the source that `span` covers.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), from: span, to: span }
    }

    /// Creates an error about the tokens from the first to the last of `tokens`, or about the
    /// attribute if there are none.
    pub(crate) fn about(tokens: &[TokenTree], message: impl Into<String>) -> Self {
        let span = |token: Option<&TokenTree>| token.map_or_else(Span::call_site, TokenTree::span);
        Self { message: message.into(), from: span(tokens.first()), to: span(tokens.last()) }
    }

    /// Returns `::core::compile_error! { "message" }`.
    ///
    /// The compiler underlines from the first token to the last. Two spans cannot be joined on
    /// stable Rust, so the first and the last token get one each.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let Self { message, from, to } = self;
        let punct = |char, spacing, span| {
            let mut punct = Punct::new(char, spacing);
            punct.set_span(span);
            TokenTree::from(punct)
        };
        let mut message = Literal::string(&message);
        message.set_span(to);
        let mut argument = Group::new(Delimiter::Brace, TokenTree::from(message).into());
        argument.set_span(to);
        TokenStream::from_iter([
            punct(':', Spacing::Joint, from),
            punct(':', Spacing::Alone, from),
            Ident::new("core", from).into(),
            punct(':', Spacing::Joint, from),
            punct(':', Spacing::Alone, from),
            Ident::new("compile_error", from).into(),
            punct('!', Spacing::Alone, to),
            argument.into(),
        ])
    }
}
