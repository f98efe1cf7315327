//! `std::thread::Builder`. The size of a stack has no meaning here.

use super::handle::Name;
use super::scoped::{Scope, ScopedJoinHandle};
use super::start::{self, JoinHandle};
use real::boxed::Box;
use real::io;
use real::string::String;

/// How a thread is started.
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Without a name.
    #[inline]
    pub fn new() -> Builder {
        Builder { name: None }
    }

    /// With a name.
    #[inline]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Without effect.
    #[inline]
    pub fn stack_size(self, size: usize) -> Builder {
        let _ = size;
        self
    }

    /// Starts a thread.
    #[inline]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        unsafe { self.spawn_unchecked(f) }
    }

    /// Starts a thread. It has to end before what it borrows.
    #[inline]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let name = self.known_name();
        Ok(JoinHandle(unsafe { start::start(f, name) }))
    }

    /// Starts a thread in a scope.
    #[inline]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let name = self.known_name();
        Ok(scope.start(f, name))
    }

    #[inline]
    fn known_name(self) -> Option<Name> {
        match self.name {
            Some(name) => Some(Box::leak(Box::new(name))),
            None => None,
        }
    }
}
