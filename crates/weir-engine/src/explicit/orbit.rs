//! Symmetry: of configurations that differ only in which of several interchangeable processes
//! does what, one is stored.

use std::cmp::Ordering;
use std::collections::HashSet;

use weir_model::ids::{Cell, StateId};
use weir_model::limits::{Budget, Stop};
use weir_model::question::Question;
use weir_model::semantics::Semantics;
use weir_model::symmetry::Automorphism;

/// The exchanges of processes that make no difference.
pub(super) struct Orbits {
    exchanges: Vec<Automorphism>,
}

impl Orbits {
    pub fn new(
        semantics: &dyn Semantics,
        questions: &[Question],
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let mut exchanges = semantics.system().exchanges(questions, budget)?;
        let first = semantics.initial().next();
        // Some forms have no images.
        let has_image = |g: &Automorphism| {
            first.as_ref().is_some_and(|c| semantics.image(c, g, &mut Vec::new()).is_some())
        };
        exchanges.retain(has_image);
        Ok(Self { exchanges })
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// All images of a configuration, itself among them.
    pub fn images(&self, semantics: &dyn Semantics, config: &[Cell]) -> HashSet<Vec<Cell>> {
        let mut all = HashSet::from([config.to_vec()]);
        let mut open = vec![config.to_vec()];
        let mut image = Vec::new();
        while let Some(config) = open.pop() {
            for exchange in &self.exchanges {
                if semantics.image(&config, exchange, &mut image).is_some() && !all.contains(&image)
                {
                    all.insert(image.clone());
                    open.push(image.clone());
                }
            }
        }
        all
    }

    /// Replaces a configuration by an image that no exchange makes smaller, and tells which
    /// exchanges lead there. Images of one configuration may end at different ones; then more are
    /// stored than necessary.
    pub fn shrink(
        &self,
        semantics: &dyn Semantics,
        config: &mut Vec<Cell>,
        image: &mut Vec<Cell>,
        taken: &mut dyn FnMut(&Automorphism),
    ) {
        let mut is_smaller = true;
        while std::mem::take(&mut is_smaller) {
            for exchange in &self.exchanges {
                if may_shrink(semantics, config, exchange)
                    && semantics.image(config, exchange, image).is_some()
                    && *image < *config
                {
                    std::mem::swap(config, image);
                    taken(exchange);
                    is_smaller = true;
                }
            }
        }
    }
}

/// Whether the image is smaller or equal, by the control states alone.
#[inline]
fn may_shrink(semantics: &dyn Semantics, config: &[Cell], exchange: &Automorphism) -> bool {
    let system = semantics.system();
    for &p in exchange.changed() {
        let source = exchange.process_source(p);
        let Some(state) = exchange.state(system, source, StateId(config[source.index()])) else {
            return false;
        };
        match state.0.cmp(&config[p.index()]) {
            Ordering::Less => return true,
            Ordering::Equal => {}
            Ordering::Greater => return false,
        }
    }
    true
}
