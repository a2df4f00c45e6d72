//! A live view into a running windlass runtime, for the browser and for the terminal.
//!
//! Programs use this crate through the facade `windlass` with the feature `inspector`, as `windlass::inspector`.
//!
//! ```
//! # #[windlass::main]
//! # async fn main() -> std::io::Result<()> {
//! let inspector = windlass::inspector::serve("127.0.0.1:0").await?;
//! println!("look inside: {}", inspector.url());
//! # Ok(())
//! # }
//! ```
//!
//! Open the URL in a browser. The page shows what each worker does, all tasks and what they wait for, how long polls
//! take at each place that spawns tasks, how long ready tasks wait for a worker, and polls that are stuck. It also says
//! in plain words what is wrong. A button downloads the flight record. In a terminal, pass the URL to `top`:
//!
//! ```text
//! cargo run -p windlass-inspector -- top 'http://127.0.0.1:7001/?token=…'
//! ```
//!
//! # What it costs
//!
//! Nothing while nobody looks. While somebody does, one snapshot for all clients is taken twice a second, on a separate
//! thread. The page receives only the rows that it shows, so 100,000 tasks make no difference to the browser.
//!
//! # Who may look
//!
//! An inspector shows the names of tasks, addresses of peers and stacks. It changes nothing in the program.
//!
//! - It listens on loopback. It refuses any other address unless the program has set a [token](Builder::token).
//! - Each request has to carry the token, which is part of the URL; it is random unless it is set.
//! - `Host` has to name the loopback or the bound address, and `Origin` the inspector itself, so that no page on the
//!   web can reach it through the browser of somebody who sits at this machine.
//! - At most eight clients look at a time. The memory for each is bounded, and a client that does not read is dropped.
//!
//! Whoever has the token is trusted with what the inspector shows, and with nothing else. Everybody else, including
//! other pages in the same browser, is not trusted. [SECURITY.md] has the limits.
//!
//! [SECURITY.md]: https://github.com/windlass-rs/windlass/blob/main/SECURITY.md
//!
//! # How it is built
//!
//! While it has clients, `feed` has `collect` take a `model::Snapshot` of the runtime. `frame` writes it as JSON, with
//! the rows that a client's `view` selects, and `findings` and `waits` add conclusions from it. `connection` serves the
//! requests that `http` has parsed and `guard` has let in. `page` is sent to the browser; [`top`] draws the same frames
//! in a terminal.

mod aside;
mod builder;
mod client;
mod collect;
mod connection;
mod feed;
mod findings;
mod frame;
mod guard;
mod http;
mod inspector;
mod json;
mod lines;
mod model;
mod page;
mod policy;
mod sys;
mod text;
mod token;
#[doc(hidden)]
pub mod top;
mod value;
mod view;
mod waits;

pub use builder::Builder;
pub use inspector::Inspector;

/// Serves an inspector of the current runtime at the address, which has to be a loopback address.
///
/// Port 0 lets the OS choose one; [`Inspector::url`] contains it. The inspector is served by tasks of the current
/// runtime until that runtime shuts down or [`Inspector::stop`] is called. [`Builder`] has settings.
///
/// # Errors
///
/// Returns an error of kind `InvalidInput` if the address is not a loopback address, or an error of binding.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let inspector = windlass::inspector::serve("127.0.0.1:0").await?;
/// println!("look inside: {}", inspector.url());
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn serve<A: windlass_net::ToSocketAddrs>(address: A) -> std::io::Result<Inspector> {
    Builder::new().serve(address).await
}
