//! Local connections, as hyper wants them.

use windlass_net::unix::UnixStream;

use crate::io::{Writes, impl_read_uninit};

impl_read_uninit!([] UnixStream);

impl Writes for UnixStream {}
