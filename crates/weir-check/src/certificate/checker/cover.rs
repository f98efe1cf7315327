//! Whether a configuration is in the set that a certificate represents.

use rustc_hash::FxHashMap;

use super::{Checker, Config, ProcessViewId};

/// The configurations of a certificate, by what has to be equal: control states and memory.
pub(super) struct Cover<'c> {
    buckets: FxHashMap<Box<[u32]>, Vec<&'c [ProcessViewId]>>,
}

impl<'c> Cover<'c> {
    pub fn new(configs: &'c [Config]) -> Self {
        let mut buckets: FxHashMap<Box<[u32]>, Vec<&[ProcessViewId]>> = FxHashMap::default();
        for config in configs {
            let mut key = Vec::new();
            config.write_key(&mut key);
            buckets.entry(key.into()).or_default().push(&config.views);
        }
        Self { buckets }
    }

    /// Whether one of the configurations covers another.
    pub fn contains(&self, checker: &Checker<'_>, config: &Config, key: &mut Vec<u32>) -> bool {
        config.write_key(key);
        self.buckets.get(key.as_slice()).is_some_and(|bucket| {
            bucket
                .iter()
                .any(|stored| stored.iter().zip(&config.views).all(|(a, b)| checker.covers(*a, *b)))
        })
    }
}
