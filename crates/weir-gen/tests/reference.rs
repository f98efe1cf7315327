//! The reference agrees with itself.

use weir_gen::reference::{self, domains};
use weir_gen::{Rng, Shape, ask, program, setting, shrink};
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;

/// Runs `agree` on random programs; a failure is shrunk before it is shown.
fn on_random(cases: u64, agree: impl Fn(&Program) -> Result<bool, String>) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", cases);
    let mut compared = 0;
    for number in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let shape = Shape { loops: rng.once_in(4), ..Shape::rich() };
        let mut random = program(&mut rng, &shape);
        ask(&mut rng, &mut random, 3);
        match agree(&random) {
            Ok(was_compared) => compared += u64::from(was_compared),
            Err(_) => {
                let small = shrink(random, |p| agree(p).is_err());
                let why = agree(&small).unwrap_err();
                let text = weir_front::weir::print(&small);
                panic!("seed {seed}, case {number}: {why}\n{text}");
            }
        }
    }
    assert!(compared > cases / 2, "only {compared} were compared");
}

/// The two halves of the reference are the same where both are defined.
#[test]
fn store_buffers_are_what_rewriting_says() {
    on_random(300, |program| {
        let atoms = reference::atoms(program);
        let mut compared = false;
        for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO] {
            let buffers = reference::store_buffers(program, model, &atoms, 50_000, 20);
            let rewriting = reference::rewriting(program, model, &atoms, 20_000);
            if let (Some(buffers), Some(rewriting)) = (buffers, rewriting)
                && !buffers.is_cut
            {
                compared = true;
                if buffers != rewriting {
                    return Err(format!("{model}: {buffers:?}\n{rewriting:?}"));
                }
            }
        }
        Ok(compared)
    });
}

/// Where no write overtakes a read, a value that is never written is never read.
#[test]
fn more_values_to_guess_change_nothing_without_guesses() {
    let models = ["tso", "pso", "nsw", "w->r", "w->w", "r->r"];
    let models = models.map(|m| m.parse::<MemoryModel>().expect("a memory model"));
    on_random(200, |program| {
        let atoms = reference::atoms(program);
        let Some(domains) = domains(program) else { return Ok(false) };
        let more: Vec<_> = domains.iter().map(|d| d.iter().copied().chain([7]).collect()).collect();
        for model in models {
            let few = reference::rewriting_with(program, model, &atoms, &domains, 20_000);
            let many = reference::rewriting_with(program, model, &atoms, &more, 20_000);
            if let (Some(few), Some(many)) = (few, many)
                && few != many
            {
                return Err(format!("{model}: {few:?}\n{many:?}"));
            }
        }
        Ok(true)
    });
}

/// What the reference says of a program: for each property whether it holds.
fn verdicts(text: &str, model: &str) -> Vec<bool> {
    let (program, _) = weir_front::read("test.weir", text, None).expect("a program");
    let model: MemoryModel = model.parse().expect("a memory model");
    let atoms = reference::atoms(&program);
    let buffers = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO].contains(&model);
    let reached = if buffers {
        reference::store_buffers(&program, model, &atoms, 10_000, 8)
    } else {
        reference::rewriting(&program, model, &atoms, 10_000)
    };
    let reached = reached.expect("small");
    let holds = |p: &weir_model::program::Property| {
        reached.holds(&program, &atoms, &p.kind).expect("within bounds")
    };
    program.properties.iter().map(holds).collect()
}

/// A label before a loop holds at its head until the first statement has been executed.
#[test]
fn heads_of_loops() {
    let text = "
        var x, y
        process p {
        head:
            loop {
                x = 1
                y = 1
                x = 0
                y = 0
            }
        }
        never p@head and x == 1
        never p@head and y == 1
        never not p@head and x == 0 and y == 0
    ";
    assert_eq!(verdicts(text, "sc"), [true, true, true]);
    // A body that begins with a label is not the head: the head is left by a step.
    let text = "
        var x
        process p {
            reg r
            if r == 0 { goto inside }
        head:
            loop {
            inside:
                x = 1
            }
        }
        never p@head
        never p@inside
        never p@head and p@inside
        never p@head and x == 0
        never not p@head and not p@inside and x == 1
    ";
    assert_eq!(verdicts(text, "sc"), [false, false, true, true, true]);
}

/// A label before `await` holds until the test has succeeded.
#[test]
fn waiting() {
    let text = "
        var x, y
        process p {
        waits:
            await x == 1
            y = 1
        }
        process q { x = 1 }
        never not p@waits and x == 0
        never p@waits and x == 1
        never p@waits and y == 1
        never not p@waits and x == 1 and y == 0
        no deadlock
    ";
    assert_eq!(verdicts(text, "sc"), [true, false, true, false, true]);
}

/// A label at the end of a block is a place of its own; at the end of the process it
/// stays.
#[test]
fn ends_of_blocks() {
    let text = "
        var x
        process p {
            reg r
            if r == 0 {
                r = 1
            inner:
            }
        outer:
        }
        never p@inner and p@outer
        never p@inner
        never p.r == 1 and not p@inner and not p@outer
        final exists p@inner
        final always p@outer
    ";
    assert_eq!(verdicts(text, "sc"), [true, false, true, false, true]);
}

/// A guessed read may justify itself, with any value of its domain.
#[test]
fn guesses_justify_themselves() {
    let text = "
        var x: 0..2, y
        process p { reg r   r = x   y = r }
        process q { reg r   r = y   x = r }
        final never p.r == 2
        final never p.r == 3
    ";
    assert_eq!(verdicts(text, "r->w"), [false, true]);
    assert_eq!(verdicts(text, "nsw"), [true, true]);
}
