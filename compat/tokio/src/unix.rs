//! Local connections, as tokio's world wants them.

use windlass_net::unix::UnixStream;

use crate::io::{Writes, impl_reads};

impl_reads!([] UnixStream);

impl Writes for UnixStream {}
