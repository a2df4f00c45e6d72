//! The attributes `#[windlass::main]` and `#[windlass::test]`.
//!
//! Use them through the `windlass` crate, which re-exports both. They turn an `async fn` into a
//! plain one that starts a runtime, runs the function on it and shuts it down:
//!
//! ```text
//! #[windlass::main(workers = 4)]          fn main() -> T {
//! async fn main() -> T { body }               async fn main() -> T { body }
//!                                             ::windlass::Builder::new().workers(4).build()
//!                                                 .expect("…").block_on(main())
//!                                         }
//! ```
//!
//! The function is kept whole, one level deeper, rather than moving its body into an async block. So its return type still
//! guides `?` and coercions, and the expansion adds nothing to its scope.
//!
//! The crate contains no parser of Rust, and does not depend on one. `function` finds the few tokens that matter, `options`
//! reads `name = value` pairs, and the added code is written as source text. Every error is a compile error at the token
//! that caused it.

mod error;
mod function;
mod options;

use error::Error;
use function::Function;
use options::Options;
use proc_macro::TokenStream;

/// Runs an `async fn main` on a runtime of its own.
///
/// The runtime is started on entry and shut down when the function returns: tasks still running
/// then are dropped. The function itself runs on the calling thread, so it need not be `Send`.
///
/// # Options
///
/// | option | meaning | default |
/// |---|---|---|
/// | `workers = 4` | number of worker threads | one per available core |
/// | `thread_name = "web"` | the prefix of the worker threads' names | the runtime's |
/// | `crate = "path"` | where to find windlass, if it is re-exported or renamed | `"::windlass"` |
///
/// # Panics
///
/// The resulting function panics if the runtime cannot be started, for example because the
/// system refuses another thread. To handle that, build the runtime by hand.
///
/// # Examples
///
/// ```
/// #[windlass::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let answer = windlass::spawn(async { 6 * 7 }).await?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
///
/// ```
/// #[windlass::main(workers = 2, thread_name = "web")]
/// async fn main() {
///     windlass::yield_now().await;
/// }
/// ```
///
/// The function must be `async` and take no arguments:
///
/// ```compile_fail
/// #[windlass::main]
/// fn main() {}
/// ```
///
/// ```compile_fail
/// #[windlass::main]
/// async fn main(arguments: Vec<String>) {}
/// ```
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(Kind::Main, options, item)
}

/// Makes an `async fn` a unit test that runs on a runtime of its own.
///
/// It replaces `#[test]`; `#[should_panic]`, `#[ignore]` and a returned `Result` work as they do there. Each test has its own
/// runtime, which is shut down at the end of the test, so tests cannot affect each other.
///
/// # Options
///
/// They are the same as for [`macro@main`], but the default is `workers = 2`: enough to run tasks in parallel, and the same
/// on every machine.
///
/// # Panics
///
/// The test fails if the runtime cannot be started.
///
/// # Examples
///
/// ```
/// #[windlass::test]
/// async fn a_task_returns_its_value() -> Result<(), windlass::task::JoinError> {
///     assert_eq!(windlass::spawn(async { 1 + 1 }).await?, 2);
///     Ok(())
/// }
///
/// #[windlass::test(workers = 1)]
/// #[should_panic(expected = "as promised")]
/// async fn a_panic_fails_the_test() {
///     panic!("as promised");
/// }
/// ```
///
/// Options are checked when the test is compiled:
///
/// ```compile_fail
/// #[windlass::test(workers = 0)]
/// async fn nobody_there() {}
/// # fn main() {}
/// ```
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(Kind::Test, options, item)
}

/// Which attribute is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    Test,
}

impl Kind {
    /// Returns the attribute as users write it, for messages.
    fn attribute(self) -> &'static str {
        match self {
            Kind::Main => "#[windlass::main]",
            Kind::Test => "#[windlass::test]",
        }
    }

    /// Returns the number of workers without the option. `None` leaves it to the runtime.
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

fn expand(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
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
