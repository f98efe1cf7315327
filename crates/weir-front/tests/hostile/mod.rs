//! Random texts, for the tests that mean harm.

/// Marsaglia's xorshift: random enough, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Says which seed failed.
pub fn with_seeds(cases: u64, run: impl Fn(&mut Random)) {
    for seed in 1..=cases {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&mut random)));
        if let Err(panic) = result {
            eprintln!("seed {seed} fails");
            std::panic::resume_unwind(panic);
        }
    }
}

/// A text with parts taken out, repeated and moved, and some characters of `letters` in
/// the place of others.
pub fn mutated(random: &mut Random, text: &str, letters: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len());
        let len = random.below(12).min(text.len() - at);
        let part: Vec<char> = text[at..at + len].to_vec();
        match random.below(4) {
            0 => drop(text.drain(at..at + len)),
            1 => drop(text.splice(at..at, part)),
            2 => {
                let to = random.below(text.len());
                drop(text.splice(to..to, part));
            }
            _ => text[at] = letters[random.below(letters.len())],
        }
    }
    text.into_iter().collect()
}

/// How often something is repeated in a text that is too deep or too long: beyond nearly all
/// limits of the readers. With `WEIR_SLOW=1` it is more.
pub fn many(most: usize) -> usize {
    if std::env::var_os("WEIR_SLOW").is_some_and(|value| value == "1") { most } else { 25_000 }
}
