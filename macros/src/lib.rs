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
//! The function is kept whole, one level deeper, instead of having its body moved into an async block. So its return
//! type still guides `?` and coercions, and the expansion adds nothing to its scope.
//!
//! The crate contains no parser for Rust and depends on none. `function` finds the few tokens that matter, `options`
//! reads `name = value` pairs, and the added code is written as source text. Every error is a compile error at the
//! token that caused it.

mod error;
mod expand;
mod function;
mod options;

use error::Error;
use expand::{Kind, expand};
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
/// | `virtual_time = true` | time passes only when everything waits for it, as in `Builder::virtual_time` | `false` |
/// | `tokio = true` | also starts tokio, for crates that call it; needs windlass's feature `tokio` | `false` |
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
/// It replaces `#[test]`; `#[should_panic]`, `#[ignore]` and a returned `Result` work as they do
/// there. Each test has its own runtime, which is shut down at the end of the test, so tests cannot
/// affect each other.
///
/// # Options
///
/// They are the same as for [`macro@main`], but the default is `workers = 2`: enough to run tasks
/// in parallel, and the same on every machine.
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
/// // Hours pass at once.
/// #[windlass::test(virtual_time = true)]
/// async fn a_session_ends_after_an_hour() {
///     windlass::timer::sleep(std::time::Duration::from_secs(3600)).await;
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
