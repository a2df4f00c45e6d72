//! The runtime that serves programs which make none of their own.

use std::sync::OnceLock;

use crate::runtime::Runtime;

static GLOBAL: OnceLock<Runtime> = OnceLock::new();

/// The global runtime, started at first use. It lives as long as the process.
///
/// # Panics
///
/// If its threads can't be started.
pub(crate) fn runtime() -> &'static Runtime {
    GLOBAL.get_or_init(|| {
        Runtime::new().unwrap_or_else(|error| {
            panic!("the global windlass runtime could not start its threads: {error}")
        })
    })
}
