//! The function under the attribute, parsed just far enough to run it on a runtime.

use crate::{Error, Kind};
use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// An `async fn`, split at the places where something is inserted, left out or checked.
pub(crate) struct Function {
    /// Attributes and doc comments.
    attributes: Vec<TokenTree>,
    /// `pub`, `pub(crate)` or nothing.
    visibility: Vec<TokenTree>,
    /// `async` and other qualifiers.
    qualifiers: Vec<TokenTree>,
    name: Ident,
    /// `<T>`, or nothing.
    generics: Vec<TokenTree>,
    /// The parenthesised list of arguments.
    arguments: Group,
    /// From `->` to the body, or nothing.
    returns: Vec<TokenTree>,
    body: TokenTree,
}

impl Function {
    /// Parses the item. Returns an error if it is not an `async fn` with a body.
    pub(crate) fn parse(kind: Kind, item: TokenStream) -> Result<Self, Error> {
        let all: Vec<TokenTree> = item.into_iter().collect();
        let (attributes, rest) = all.split_at(attributes_len(&all));
        let (visibility, rest) = rest.split_at(visibility_len(rest));

        let Some(at_fn) = rest.iter().take_while(|t| is_qualifier(t)).position(|t| is(t, "fn"))
        else {
            let message = format!("{} belongs on an `async fn`", kind.attribute());
            return Err(Error::about(rest.get(..1).unwrap_or_default(), message));
        };
        let (qualifiers, signature) = rest.split_at(at_fn);
        if !qualifiers.iter().any(|t| is(t, "async")) {
            let message = format!("{} needs this to be an `async fn`", kind.attribute());
            return Err(Error::about(&signature[..1], message));
        }

        // `fn name <generics> (arguments) -> returns { body }`
        let at_arguments = signature.iter().position(is_arguments).unwrap_or(0);
        let (front, back) = signature.split_at(at_arguments);
        match (front, back) {
            (
                [_, TokenTree::Ident(name), generics @ ..],
                [TokenTree::Group(arguments), returns @ .., body],
            ) if is_body(body) => Ok(Self {
                attributes: attributes.to_vec(),
                visibility: visibility.to_vec(),
                qualifiers: qualifiers.to_vec(),
                name: name.clone(),
                generics: generics.to_vec(),
                arguments: arguments.clone(),
                returns: returns.to_vec(),
                body: body.clone(),
            }),
            _ => {
                let message = format!("{} needs a function with a body", kind.attribute());
                Err(Error::about(signature, message))
            }
        }
    }

    /// Returns an error if the function has something that neither a `main` nor a test may have.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), Error> {
        if let Some(odd) = self.qualifiers.iter().find(|t| !is(t, "async")) {
            let message = format!("a function under {} cannot be `{odd}`", kind.attribute());
            return Err(Error::new(odd.span(), message));
        }
        if !self.generics.is_empty() {
            let message = format!("a function under {} cannot be generic", kind.attribute());
            return Err(Error::about(&self.generics, message));
        }
        if !self.arguments.stream().is_empty() {
            let message = format!("a function under {} takes no arguments", kind.attribute());
            return Err(Error::new(self.arguments.span(), message));
        }
        let is_test = |token: &&TokenTree| match token {
            TokenTree::Group(attribute) => attribute.to_string() == "[test]",
            _ => false,
        };
        match self.attributes.iter().find(is_test) {
            Some(test) if kind == Kind::Test => {
                let message = format!("{} stands in for `#[test]`: remove it", kind.attribute());
                Err(Error::new(test.span(), message))
            }
            _ => Ok(()),
        }
    }

    /// Returns a plain function that contains the async one, and runs it on a runtime.
    ///
    /// `leading_attribute` and `runtime`, an expression, are source text.
    pub(crate) fn on_runtime(&self, leading_attribute: &str, runtime: &str) -> TokenStream {
        let name = TokenStream::from(TokenTree::from(self.name.clone()));
        let call = TokenStream::from_iter([name.clone(), source("()")]);
        let call = Group::new(Delimiter::Parenthesis, call);

        let mut body = source("async fn");
        body.extend([name, source("()")]);
        body.extend(self.returns.iter().cloned());
        body.extend([self.body.clone()]);
        body.extend([source(&format!("{runtime}.block_on")), TokenTree::from(call).into()]);
        TokenStream::from_iter([source(leading_attribute), self.with_body(body)])
    }

    /// Returns the plain function with another body and without arguments.
    pub(crate) fn with_body(&self, body: TokenStream) -> TokenStream {
        let mut body = Group::new(Delimiter::Brace, body);
        body.set_span(self.body.span());

        let mut function = TokenStream::new();
        function.extend(self.attributes.iter().cloned());
        function.extend(self.visibility.iter().cloned());
        function.extend([source("fn"), TokenTree::from(self.name.clone()).into(), source("()")]);
        function.extend(self.returns.iter().cloned());
        function.extend([TokenTree::from(body)]);
        function
    }
}

/// Returns the number of tokens at the front that are attributes: pairs of `#` and `[…]`.
fn attributes_len(tokens: &[TokenTree]) -> usize {
    let is_attribute = |pair: &[TokenTree]| match pair {
        [TokenTree::Punct(hash), TokenTree::Group(_)] => hash.as_char() == '#',
        _ => false,
    };
    2 * tokens.chunks(2).take_while(|pair| is_attribute(pair)).count()
}

/// Returns the number of tokens at the front that are a visibility.
fn visibility_len(tokens: &[TokenTree]) -> usize {
    match tokens {
        // `$vis` of a `macro_rules!`, possibly empty
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::None => 1,
        [public, TokenTree::Group(_), ..] if is(public, "pub") => 2,
        [public, ..] if is(public, "pub") => 1,
        _ => 0,
    }
}

/// Returns true if the token can stand between the visibility and the name of a function.
fn is_qualifier(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Literal(_)) // the ABI
        || ["const", "async", "unsafe", "extern", "fn"].iter().any(|word| is(token, word))
}

fn is_arguments(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
}

/// Returns true for a block, and for `$body:block` of a `macro_rules!`, which has invisible delimiters around it.
fn is_body(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    matches!(group.delimiter(), Delimiter::Brace | Delimiter::None)
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

/// Returns the tokens of source text of this crate, which is known to be valid.
fn source(text: &str) -> TokenStream {
    text.parse().expect("windlass-macros wrote text that is no Rust")
}
