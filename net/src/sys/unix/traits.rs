//! The conversions between this crate's types and descriptors.

/// For a type with a method `io()` that gives its `Async<$std>`, a function `from_std` and
/// `into_inner`.
macro_rules! descriptor_traits {
    ($type:ty, $std:ty) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(self.io().get_ref())
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(self.io().get_ref())
            }
        }

        /// Leaves the descriptor non-blocking.
        impl From<$type> for std::os::fd::OwnedFd {
            fn from(this: $type) -> Self {
                this.into_inner().into()
            }
        }

        /// Makes the descriptor non-blocking and registers it with the current runtime.
        impl TryFrom<std::os::fd::OwnedFd> for $type {
            type Error = std::io::Error;

            fn try_from(descriptor: std::os::fd::OwnedFd) -> std::io::Result<Self> {
                Self::from_std(descriptor.into())
            }
        }

        /// The same as `from_std`.
        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            fn try_from(source: $std) -> std::io::Result<Self> {
                Self::from_std(source)
            }
        }
    };
}

pub(crate) use descriptor_traits;
