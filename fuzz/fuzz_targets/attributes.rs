//! The attributes `main` and `test`, with whatever stands in their brackets and below them: code or an error, no panic.
#![no_main]

// Outside of the compiler, this does what the compiler's own crate does.
extern crate proc_macro2 as proc_macro;

use libfuzzer_sys::fuzz_target;

#[path = "../../macros/src/error.rs"]
mod error;
#[path = "../../macros/src/expand.rs"]
mod expand;
#[path = "../../macros/src/function.rs"]
mod function;
#[path = "../../macros/src/options.rs"]
mod options;

use error::Error;
use expand::{Kind, expand};

fuzz_target!(|text: &str| {
    // Options and item are divided by a line.
    let (options, item) = text.split_once('\n').unwrap_or(("", text));
    let (Ok(options), Ok(item)) = (options.parse(), item.parse()) else { return };
    for kind in [Kind::Main, Kind::Test] {
        let expanded: proc_macro::TokenStream =
            expand(kind, Clone::clone(&options), Clone::clone(&item));
        let _ = expanded.to_string();
    }
});
