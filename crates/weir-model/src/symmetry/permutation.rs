//! Permutations of the values of a variable or register.

use std::collections::BTreeMap;

/// What becomes of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Permutation {
    /// One after the other; none does nothing, and two that follow each other differ in kind.
    layers: Vec<Layer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Layer {
    /// Values that become others.
    Values(BTreeMap<i128, i128>),
    /// Bits that become others.
    Bits(BTreeMap<u32, u32>),
}

/// First one, then another.
fn compose<T: Copy + Ord>(first: &BTreeMap<T, T>, second: &BTreeMap<T, T>) -> BTreeMap<T, T> {
    let image = |of: &BTreeMap<T, T>, v: T| of.get(&v).copied().unwrap_or(v);
    let all = first.keys().chain(second.keys());
    all.map(|&v| (v, image(second, image(first, v)))).filter(|(v, w)| v != w).collect()
}

impl Permutation {
    /// Values become others; those that are missing stay.
    pub fn values(mut map: BTreeMap<i128, i128>) -> Self {
        map.retain(|v, w| v != w);
        Self { layers: if map.is_empty() { vec![] } else { vec![Layer::Values(map)] } }
    }

    /// Bits become others; those that are missing stay.
    pub fn bits(mut map: BTreeMap<u32, u32>) -> Self {
        map.retain(|a, b| a != b);
        Self { layers: if map.is_empty() { vec![] } else { vec![Layer::Bits(map)] } }
    }

    #[inline]
    pub fn is_identity(&self) -> bool {
        self.layers.is_empty()
    }

    /// What becomes of a value.
    pub fn image(&self, value: i128) -> i128 {
        self.layers.iter().fold(value, |value, layer| match layer {
            Layer::Values(map) => map.get(&value).copied().unwrap_or(value),
            Layer::Bits(map) => {
                let moved = map.keys().fold(0, |mask, a| mask | 1 << a);
                let set = map.iter().filter(|(a, _)| value >> **a & 1 == 1);
                set.fold(value & !moved, |image, (_, b)| image | 1 << b)
            }
        })
    }

    /// First this, then the other.
    pub fn then(&self, other: &Self) -> Self {
        let mut layers = self.layers.clone();
        for layer in &other.layers {
            let merged = match (layers.last(), layer) {
                (Some(Layer::Values(a)), Layer::Values(b)) => Self::values(compose(a, b)),
                (Some(Layer::Bits(a)), Layer::Bits(b)) => Self::bits(compose(a, b)),
                _ => {
                    layers.push(layer.clone());
                    continue;
                }
            };
            layers.pop();
            layers.extend(merged.layers);
        }
        Self { layers }
    }

    /// The largest bit that becomes another, if bits do.
    pub fn largest_bit(&self) -> Option<u32> {
        let last = |layer: &Layer| match layer {
            Layer::Bits(map) => map.keys().next_back().copied(),
            Layer::Values(_) => None,
        };
        self.layers.iter().filter_map(last).max()
    }

    /// The values that become others, if values do.
    pub fn moved(&self) -> impl Iterator<Item = i128> {
        let of = |layer: &Layer| match layer {
            Layer::Values(map) => map.keys().copied().collect::<Vec<_>>(),
            Layer::Bits(_) => vec![],
        };
        self.layers.iter().flat_map(of).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_compose() {
        let swap = |a, b| Permutation::values(BTreeMap::from([(a, b), (b, a)]));
        let bits = |a, b| Permutation::bits(BTreeMap::from([(a, b), (b, a)]));
        let both = swap(1, 2).then(&swap(2, 3));
        assert_eq!([1, 2, 3, 4].map(|v| both.image(v)), [3, 1, 2, 4]);
        assert!(swap(1, 2).then(&swap(1, 2)).is_identity());
        assert_eq!([0b001, 0b010, 0b011, 0b101].map(|v| bits(0, 1).image(v)), [2, 1, 3, 0b110]);
        let mixed = bits(0, 1).then(&swap(2, 7));
        assert_eq!([1, 2, 7, 4].map(|v| mixed.image(v)), [7, 1, 2, 4]);
        assert!(mixed.then(&swap(2, 7)).then(&bits(0, 1)).is_identity());
    }
}
