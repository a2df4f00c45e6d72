//! The global runtime, for programs that build none.

use std::sync::OnceLock;

use crate::runtime::Runtime;

static GLOBAL: OnceLock<Runtime> = OnceLock::new();

/// Returns the global runtime, which is started at first use and never shut down.
///
/// # Panics
///
/// Panics if its threads can't be started.
pub(crate) fn runtime() -> &'static Runtime {
    GLOBAL.get_or_init(|| {
        Runtime::new().unwrap_or_else(|error| {
            panic!("the global windlass runtime could not start its threads: {error}")
        })
    })
}
