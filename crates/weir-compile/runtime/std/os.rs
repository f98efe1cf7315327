//! `std::os`: what names threads.

pub use real::os::*;

/// `std::os::unix`.
pub mod unix {
    pub use real::os::unix::*;

    /// `std::os::unix::thread`.
    pub mod thread {
        pub use real::os::unix::thread::RawPthread;

        /// The native thread of a handle: its number in Weir, since there is no other.
        pub trait JoinHandleExt {
            /// The number of the thread.
            fn as_pthread_t(&self) -> RawPthread;
            /// The number of the thread, which is then detached.
            fn into_pthread_t(self) -> RawPthread;
        }

        impl<T> JoinHandleExt for crate::thread::JoinHandle<T> {
            #[inline]
            fn as_pthread_t(&self) -> RawPthread {
                self.number() as RawPthread
            }
            #[inline]
            fn into_pthread_t(self) -> RawPthread {
                self.number() as RawPthread
            }
        }
    }

    /// `std::os::unix::prelude`.
    pub mod prelude {
        pub use super::thread::JoinHandleExt;
        pub use real::os::unix::prelude::{
            AsFd, AsRawFd, BorrowedFd, CommandExt, DirEntryExt, ExitStatusExt, FileExt,
            FileTypeExt, FromRawFd, IntoRawFd, MetadataExt, OpenOptionsExt, OsStrExt, OsStringExt,
            OwnedFd, PermissionsExt, RawFd,
        };
    }
}
