//! Searches with several workers, in several processes, on several machines.
//!
//! They need the feature `cluster`, so that nobody else compiles `timely`. All processes run the same
//! command, and the first one prints.

#[cfg(feature = "cluster")]
mod hosts;
#[cfg(feature = "cluster")]
mod local;
#[cfg(any(test, not(feature = "cluster")))]
#[cfg_attr(feature = "cluster", allow(dead_code))]
mod missing;
#[cfg(feature = "cluster")]
mod table;
#[cfg(feature = "cluster")]
mod workers;

#[cfg(not(feature = "cluster"))]
pub use missing::of;
#[cfg(feature = "cluster")]
pub use workers::of;
