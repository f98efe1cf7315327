//! Modules that were changed at random are read or refused.

use std::panic::{self, AssertUnwindSafe};

use weir_front::Language;
use weir_gen::Rng;
use weir_gen::mutate::mutate;
use weir_gen::tools::setting;

const SOME: [&str; 4] = [
    include_str!("heap.ll"),
    include_str!("list.ll"),
    include_str!("loop.ll"),
    include_str!("../../../weir-llvm/tests/all.ll"),
];

/// `WEIR_MUTANTS` texts from the seed `WEIR_SEED` on.
#[test]
fn no_module_makes_the_reader_panic() {
    let (count, seed) = (setting("WEIR_MUTANTS", 2_000), setting("WEIR_SEED", 1));
    let texts: Vec<String> = SOME.iter().map(|text| (*text).to_owned()).collect();
    let language = Language::named("llvm");
    let (mut right, mut parsed) = (0, 0);
    for number in seed..seed + count {
        let mut rng = Rng::new(number);
        let text = rng.pick(&texts).clone();
        let text = mutate(&mut rng, &text, &texts);
        let read = panic::catch_unwind(AssertUnwindSafe(|| {
            if let Ok(module) = weir_llvm::parse(&text) {
                // Values that do not fit their types may be printed as something else.
                let _ = weir_llvm::parse(&module.to_string());
                parsed += 1;
            }
            weir_front::read("mutant.ll", &text, language).is_ok()
        }));
        match read {
            Ok(is_right) => right += u64::from(is_right),
            Err(_) => panic!("seed {number} makes the reader panic:\n{text}"),
        }
    }
    assert!(
        parsed > count / 20 && right > count / 50,
        "of {count} texts {parsed} are parsed and {right} read"
    );
}
