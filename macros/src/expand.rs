//! Turns the tokens of an attribute and its item into the code that takes their place. It uses nothing of the compiler
//! but tokens, so that a fuzz target can call it too.

use crate::function::Function;
use crate::options::Options;
use proc_macro::TokenStream;

/// The attribute that is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

impl Kind {
    /// Returns the attribute as users write it, for messages.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Kind::Main => "#[windlass::main]",
            Kind::Test => "#[windlass::test]",
        }
    }

    /// Returns the number of workers if the option is not given. `None` leaves it to the runtime.
    fn default_workers(self) -> Option<usize> {
        match self {
            Kind::Main => None,
            Kind::Test => Some(2),
        }
    }

    /// Returns the attribute in front of the resulting function, as source text.
    fn leading_attribute(self) -> &'static str {
        match self {
            Kind::Main => "",
            Kind::Test => "#[::core::prelude::v1::test]",
        }
    }
}

/// Returns what the compiler gets in place of the attribute and the item below it.
pub(crate) fn expand(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::parse(kind, item.clone()) {
        Ok(function) => function,
        // The item is kept, because its absence would cause errors that hide this one.
        Err(error) => return TokenStream::from_iter([error.into_tokens(), item]),
    };
    match function.check(kind).and_then(|()| Options::parse(options)) {
        Ok(options) => {
            let runtime = options.runtime_source(kind.default_workers());
            function.on_runtime(kind.leading_attribute(), &runtime)
        }
        Err(error) => function.with_body(error.into_tokens()),
    }
}
