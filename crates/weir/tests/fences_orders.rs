//! Stronger and weaker orders, against all assignments of orders.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use weir::MemoryModel;
use weir::fences::{Change, Checked, Costs, Repairs, Request, Target, To, repairs, weaken};
use weir::solver::outcomes;
use weir_engine::SearchOptions;
use weir_front::orders::Access;
use weir_gen::tools::are_installed;
use weir_gen::{Rng, setting};
use weir_model::ids::SpanId;
use weir_model::program::{
    Atom, BinOp, Expr, FenceKind, Order, Program, Property, PropertyKind, Quantifier,
};
use weir_model::system::System;

/// The places of orders, with the orders that may be there and the one that is.
fn places(found: &Repairs) -> Vec<(usize, Vec<Order>, Order)> {
    let all = 0..found.places.len();
    all.filter_map(|p| Some((p, found.levels(p).to_vec(), found.ordered(p)?.1))).collect()
}

/// How many assignments there are.
fn count(found: &Repairs) -> usize {
    places(found).iter().fold(1, |n, (_, levels, _)| n.saturating_mul(levels.len()))
}

/// The minimal assignments of orders with which the program is as it should be, each as the changes that make it. Every
/// assignment is tried; nothing is assumed of those that are stronger than a good one.
fn brute_force(found: &Repairs, request: &Request) -> Option<BTreeSet<Vec<Change>>> {
    let places = places(found);
    let mut assignments: Vec<Vec<Order>> = vec![vec![]];
    for (_, levels, _) in &places {
        let longer = |a: &Vec<Order>| {
            let with = |order: &Order| a.iter().copied().chain([*order]).collect();
            levels.iter().map(with).collect::<Vec<Vec<Order>>>()
        };
        assignments = assignments.iter().flat_map(longer).collect();
    }
    let changes = |assignment: &[Order]| -> Vec<Change> {
        let each = places.iter().zip(assignment).filter(|((.., now), order)| now != *order);
        each.map(|((place, ..), order)| Change { place: *place, to: To::Order(*order) }).collect()
    };
    let mut good: Vec<&Vec<Order>> = vec![];
    for assignment in &assignments {
        match found.check(&changes(assignment), request, &request.options).unwrap() {
            Checked::Repaired(..) => good.push(assignment),
            Checked::Broken(..) => {}
            Checked::Open(_) => return None,
        }
    }
    let is_below = |a: &Vec<Order>, b: &Vec<Order>| a.iter().zip(b).all(|(a, b)| a.is_at_most(*b));
    // What is stronger than a good assignment is good: the search relies on it.
    for assignment in &assignments {
        let has_weaker = good.iter().any(|g| is_below(g, assignment));
        assert_eq!(
            has_weaker,
            good.contains(&assignment),
            "{assignment:?} in {}",
            found.source.name
        );
    }
    let is_minimal = |a: &&&Vec<Order>| !good.iter().any(|b| b != *a && is_below(b, a));
    Some(good.iter().filter(is_minimal).map(|a| changes(a)).collect())
}

/// The sets that were found.
fn sets(found: &Repairs) -> BTreeSet<Vec<Change>> {
    found.sets.iter().map(|set| set.changes.clone()).collect()
}

/// Checks what was found against all assignments, if there are at most so many. Returns whether it did.
fn agrees(name: &str, text: &str, found: &Repairs, request: &Request, most: usize) -> bool {
    if count(found) > most || !found.open.is_empty() {
        return false;
    }
    let Some(expected) = brute_force(found, request) else { return false };
    assert_eq!(sets(found), expected, "{name}:\n{text}");
    assert!(found.is_complete || found.beyond.is_some(), "{name}");
    assert!(found.sets.is_sorted_by_key(|set| set.cost), "{name}");
    // One step from each set something comes back.
    for set in &found.sets {
        for less in found.steps(set) {
            let checked = found.check(&less.changes, request, &request.options).unwrap();
            assert!(matches!(checked, Checked::Broken(..)), "{name}: {less:?}\n{text}");
        }
    }
    true
}

fn request() -> Request {
    let mut request = Request { orders: Some(true), ..Request::new(MemoryModel::C11) };
    request.reading.settings.files = |path| fs::read_to_string(path);
    request
}

/// Compares a repair with all assignments.
fn repaired(name: &str, text: &str, most: usize) -> (Repairs, bool) {
    let request = request();
    let found =
        repairs(name, text, &request, &|_| {}).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    // Of a program that is as it should be nothing is changed.
    let is_compared = match found.sets.first() {
        Some(set) if set.changes.is_empty() => false,
        _ => agrees(name, text, &found, &request, most),
    };
    (found, is_compared)
}

/// Compares a weakening with all assignments.
fn weakened(name: &str, text: &str, most: usize) -> (Repairs, bool) {
    let request = request();
    let found =
        weaken(name, text, &request, &|_| {}).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    let is_compared = found.beyond.is_none() && agrees(name, text, &found, &request, most);
    (found, is_compared)
}

/// Small programs with the orders `R` of loads, `W` of stores and `U` of atomic read-writes, and how many places of orders they have.
const PROGRAMS: [(&str, usize, &str); 9] = [
    (
        "message passing",
        4,
        "var x, y process p { x.store(1, W) y.store(1, W) } \
         process q { reg r, s r = y.load(R) s = x.load(R) } final never q.r == 1 and q.s == 0",
    ),
    (
        "store buffering",
        4,
        "var x, y process p { reg r x.store(1, W) r = y.load(R) } \
         process q { reg r y.store(1, W) r = x.load(R) } final never p.r == 0 and q.r == 0",
    ),
    (
        "independent readers",
        6,
        "var x, y process a { x.store(1, W) } process b { y.store(1, W) } \
         process c { reg r, s r = x.load(R) s = y.load(R) } process d { reg r, s r = y.load(R) s = x.load(R) } \
         final never c.r == 1 and c.s == 0 and d.r == 1 and d.s == 0",
    ),
    (
        "peterson",
        5,
        "var flag[2], turn, in process p[i: 0..1] { flag[i].store(1, W) turn.store(1 - i, W) \
         await flag[1 - i].load(R) == 0 or turn.load(R) == i cs: nop flag[i].store(0, W) } never p[0]@cs and p[1]@cs",
    ),
    (
        "dekker once",
        3,
        "var flag[2] process p[i: 0..1] { reg r flag[i].store(1, W) r = flag[1 - i].load(R) \
         if r == 0 { cs: nop flag[i].store(0, W) } } never p[0]@cs and p[1]@cs",
    ),
    (
        "seqlock",
        5,
        "var seq, a process w { seq.store(1, seq_cst) fence a.store(1, W) seq.store(2, W) } \
         process r { reg s, x, t s = seq.load(R) x = a.load(R) fence t = seq.load(R) \
         if s == t and s != 1 { assert s == 2 * x } }",
    ),
    (
        "lock",
        3,
        "var lock, data process p[2] { reg r loop { r = cas(lock, 0, 1, U, relaxed) if r == 1 { break } } \
         r = data.load(plain) data.store(r + 1, plain) lock.store(0, W) } final always data == 2",
    ),
    (
        "handing on",
        5,
        "var x, y process a { x.store(1, W) y.store(1, W) } process b { reg r r = fetch_add(y, 1, U) } \
         process c { reg r, s r = y.load(R) s = x.load(R) } final never c.r == 2 and c.s == 0 and b.r == 1",
    ),
    (
        "plain data",
        2,
        "var x, f process a { x.store(1, plain) f.store(1, W) } \
         process b { reg r await f.load(R) == 1 r = x.load(plain) } final always b.r == 1",
    ),
];

fn with(text: &str, (write, read, update): (&str, &str, &str)) -> String {
    let text = text.replace(", W)", &format!(", {write})")).replace("(R)", &format!("({read})"));
    text.replace(", U)", &format!(", {update})")).replace(", U, ", &format!(", {update}, "))
}

#[test]
fn small_programs_are_repaired_as_trying_all_assignments_does() {
    let most = setting("WEIR_ORDERS", 900) as usize;
    for (name, places, text) in PROGRAMS {
        let text = with(text, ("relaxed", "relaxed", "relaxed"));
        let (found, is_compared) = repaired(name, &text, most);
        println!(
            "{name}: {} sets, {} checked of {}",
            found.sets.len(),
            found.tally.checks,
            count(&found)
        );
        assert!(is_compared && found.places.len() == places, "{name}: {:?}", found.places);
        assert!(!found.sets.is_empty(), "{name}");
    }
}

#[test]
fn small_programs_are_weakened_as_trying_all_assignments_does() {
    let most = setting("WEIR_ORDERS", 900) as usize;
    let mut compared = 0;
    for (name, _, text) in PROGRAMS {
        let text = with(text, ("seq_cst", "seq_cst", "seq_cst"));
        let (found, is_compared) = weakened(name, &text, most);
        println!(
            "{name}: {} sets, {} checked of {}",
            found.sets.len(),
            found.tally.checks,
            count(&found)
        );
        // The seqlock has more assignments.
        assert!(is_compared || count(&found) > most, "{name}");
        compared += usize::from(is_compared);
        // What is as weak as it can be is not weakened again.
        let again = found.text(&found.sets[0].changes);
        let (again, _) = weakened(name, &again, 0);
        assert!(again.sets.iter().all(|set| set.changes.is_empty()), "{name}");
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn what_the_literature_says_is_found() {
    let changed = |name: &str, orders: (&str, &str, &str)| -> Vec<String> {
        let (_, _, text) = PROGRAMS.iter().find(|(other, ..)| *other == name).unwrap();
        let (found, _) = repaired(name, &with(text, orders), 0);
        let set = &found.sets[0];
        set.changes.iter().map(|c| format!("{} {}", c.place, c.to.name())).collect()
    };
    let relaxed = ("relaxed", "relaxed", "relaxed");
    assert_eq!(changed("message passing", relaxed), ["1 release", "2 acquire"]);
    let all = ["0 seq_cst", "1 seq_cst", "2 seq_cst", "3 seq_cst"];
    assert_eq!(changed("store buffering", relaxed), all);
    assert_eq!(changed("store buffering", ("release", "acquire", "relaxed")), all);
    assert_eq!(changed("plain data", relaxed), ["0 release", "1 acquire"]);
}

/// The programs of a folder of examples, as far as all assignments can be tried: how many were repaired and weakened.
fn examples(folder: &str) -> (usize, usize) {
    let most = setting("WEIR_ORDERS", 16) as usize;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let (mut repairs, mut weakenings) = (0, 0);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for path in files {
        let (name, text) = (path.to_str().unwrap(), fs::read_to_string(&path).unwrap());
        // A loop that writes in each round is not decided.
        if name.contains("spinlock-tas") || !text.contains("rdering") && !text.contains("order") {
            continue;
        }
        let (found, is_compared) = repaired(name, &text, most);
        repairs += usize::from(is_compared);
        if found.sets.first().is_some_and(|set| set.changes.is_empty()) {
            let (_, is_compared) = weakened(name, &text, most);
            weakenings += usize::from(is_compared);
        }
    }
    println!("{repairs} repairs and {weakenings} weakenings compared");
    (repairs, weakenings)
}

#[test]
fn examples_in_c_are_repaired_and_weakened_as_trying_all_assignments_does() {
    let (repairs, weakenings) = examples("c");
    assert!(repairs > 0 && weakenings > 0, "{repairs} repairs, {weakenings} weakenings");
}

#[test]
fn examples_in_rust_are_repaired_and_weakened_as_trying_all_assignments_does() {
    let (repairs, weakenings) = examples("rust");
    assert!(repairs > 0 && weakenings > 0, "{repairs} repairs, {weakenings} weakenings");
}

/// Asks that the final states of a program that SC does not have are not there; `None` if there are none.
fn only_those_of_sc(mut program: Program) -> Option<Program> {
    program.observed = Some(program.everything());
    let options = SearchOptions::default();
    let states = |model| {
        let system = System::for_model(program.clone(), model).unwrap();
        outcomes(&system, model, &options, &mut |_| {}).unwrap()
    };
    let (weak, strong) = (states(MemoryModel::C11), states(MemoryModel::SC));
    let weak: Vec<_> = weak.states.difference(&strong.states).map(|(values, _)| values).collect();
    let state = |values: &&Vec<i128>| {
        let equal = |(atom, value): (&Atom, &i128)| {
            Expr::binary(BinOp::Eq, Expr::Atom(*atom), Expr::Const(*value))
        };
        let parts = strong.atoms.iter().zip(values.iter()).map(equal);
        parts.reduce(|a, b| Expr::binary(BinOp::And, a, b))
    };
    let formula = weak.iter().take(3).filter_map(state);
    let formula = formula.reduce(|a, b| Expr::binary(BinOp::Or, a, b))?;
    let kind = PropertyKind::Final(Quantifier::Never, formula);
    program.properties = vec![Property { name: None, kind, span: SpanId::NONE }];
    Some(program)
}

/// A random program: two or three processes that access two variables in pairs.
fn random(rng: &mut Rng) -> String {
    let mut text = "var x, y\n".to_owned();
    let processes = 2 + rng.below(2);
    for p in 0..processes {
        let mut body = String::new();
        let mut registers = 0;
        let first = rng.below(2);
        let accesses = if processes == 2 { 2 + rng.below(2) } else { 1 + rng.below(2) };
        for i in 0..accesses {
            let x = ["x", "y"][(first + i) % 2];
            let loads = ["relaxed", "relaxed", "acquire", "seq_cst"];
            let stores = ["relaxed", "relaxed", "release", "seq_cst"];
            let updates = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
            let fences = ["acquire", "release", "acq_rel", "seq_cst"];
            let value = 1 + rng.below(2);
            let statement = match rng.below(10) {
                0..=3 => format!("{x}.store({value}, {})", rng.pick(&stores)),
                4..=7 => {
                    registers += 1;
                    format!("r{registers} = {x}.load({})", rng.pick(&loads))
                }
                8 => {
                    registers += 1;
                    let operation = *rng.pick(&["swap", "fetch_add"]);
                    format!("r{registers} = {operation}({x}, {value}, {})", rng.pick(&updates))
                }
                _ => {
                    registers += 1;
                    let orders = (rng.pick(&updates), rng.pick(&loads));
                    format!("r{registers} = cas({x}, 0, {value}, {}, {})", orders.0, orders.1)
                }
            };
            body += &format!("    {statement}\n");
            if rng.once_in(8) {
                body += &format!("    fence({})\n", rng.pick(&fences));
            }
        }
        let names: Vec<String> = (1..=registers).map(|r| format!("r{r}")).collect();
        let declared = match registers {
            0 => String::new(),
            _ => format!("    reg {}\n", names.join(", ")),
        };
        text += &format!("process p{p} {{\n{declared}{body}}}\n");
    }
    text
}

#[test]
fn random_programs_are_repaired_and_weakened_as_trying_all_assignments_does() {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", 60));
    let most = setting("WEIR_ORDERS", 300) as usize;
    let mut rng = Rng::new(seed);
    let (mut repairs, mut weakenings) = (0, 0);
    for case in 0..cases {
        let name = format!("seed-{seed}-case-{case}.weir");
        let text = random(&mut rng) + "final exists x == 0\n";
        let (program, _) =
            weir_front::read(&name, &text, None).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let Some(asked) = only_those_of_sc(program) else { continue };
        let text = weir_front::weir::print(&asked);
        let (found, is_compared) = repaired(&name, &text, most);
        repairs += u64::from(is_compared);
        // With other orders than the least ones that are enough.
        if let Some(set) = found.sets.last().filter(|set| !set.changes.is_empty()) {
            let mut changes = set.changes.clone();
            for change in &mut changes {
                if rng.once_in(2) {
                    let levels = found.levels(change.place);
                    change.to = To::Order(levels[levels.len() - 1]);
                }
            }
            let text = found.text(&changes);
            let (_, is_compared) = weakened(&name, &text, most);
            weakenings += u64::from(is_compared);
        }
    }
    println!("seed {seed}: {repairs} repairs and {weakenings} weakenings of {cases} compared");
    assert!(repairs > cases / 10 && weakenings > cases / 12, "{repairs}, {weakenings} of {cases}");
}

#[test]
fn one_word_that_serves_several_accesses_is_one_place() {
    // A family, a procedure, and a constant.
    let family = "var x, y process p[i: 0..1] { x.store(i + 1, relaxed) y.store(1, relaxed) } \
        process q { reg r, s r = y.load(acquire) s = x.load(relaxed) } final never q.r == 1 and q.s == 0";
    let (found, is_compared) = repaired("family", family, 100);
    assert!(is_compared && found.places.len() == 4, "{:?}", found.places);
    let procedure = "var x, y procedure set(n) { x.store(n, relaxed) } process p { set(1) y.store(1, relaxed) set(2) } \
        process q { reg r, s r = y.load(relaxed) s = x.load(relaxed) } final never q.r == 1 and q.s == 0";
    let (found, is_compared) = repaired("procedure", procedure, 100);
    assert!(is_compared && found.places.len() == 4, "{:?}", found.places);
    let rust = "use std::sync::atomic::{AtomicU32, Ordering};\nuse std::thread;\n\
        static X: AtomicU32 = AtomicU32::new(0);\nstatic Y: AtomicU32 = AtomicU32::new(0);\n\
        const PUBLISH: Ordering = Ordering::Relaxed;\n\
        fn main() {\n    let t = thread::spawn(|| { X.store(1, PUBLISH); Y.store(1, PUBLISH); });\n    \
        if Y.load(Ordering::Acquire) == 1 { assert!(X.load(Ordering::Relaxed) == 1); }\n    t.join().unwrap();\n}\n";
    let (found, is_compared) = repaired("constant.rs", rust, 100);
    assert!(is_compared, "{:?}", found.places);
    let set = &found.sets[0].changes;
    assert_eq!(set.len(), 1);
    assert_eq!(found.ordered(set[0].place), Some((Access::Unknown, Order::Relaxed)));
    // It is used for stores, which cannot acquire.
    assert_eq!(found.levels(set[0].place), [Order::Relaxed, Order::Release, Order::SeqCst]);
    assert!(found.text(set).contains("const PUBLISH: Ordering = Ordering::Release;"));
}

#[test]
fn accesses_without_an_order_get_one() {
    let text = "var x, y process p { x = 1 y = x } process q { reg r, s r = y s = x } \
        final never q.r == 1 and q.s == 0";
    let (found, is_compared) = repaired("plain", text, 900);
    assert!(is_compared);
    let new = found.text(&found.sets[0].changes);
    assert!(new.contains("y.store(x, release)") && new.contains("r = y.load(acquire)"), "{new}");
    // An atomic operation without an order is a full fence, and needs none of it here.
    let text = "var x, y process p { x = 1 swap(y, 1) } process q { reg r, s r = y.load(acquire) s = x } \
        final never q.r == 1 and q.s == 0";
    let (found, is_compared) = weakened("atomic", text, 900);
    assert!(is_compared);
    let new = found.text(&found.sets[0].changes);
    assert!(new.contains("swap(y, 1, release)"), "{new}");
}

#[test]
fn fences_and_orders_are_chosen_by_what_they_cost() {
    let (_, _, text) = PROGRAMS[1];
    let text = with(text, ("relaxed", "relaxed", "relaxed"));
    let of = |costs: Costs| {
        let kinds = Some(vec![FenceKind::Full]);
        let request = Request { kinds, most: Some(1), costs, ..request() };
        let found = repairs("sb.weir", &text, &request, &|_| {}).unwrap();
        let fences = found.sets[0].changes.iter().filter(|c| c.to.fence().is_some()).count();
        (fences, found.sets[0].changes.len())
    };
    // On x86 a fence costs as much as a store.
    let fence = |cost| Costs { fences: vec![(FenceKind::Full, cost)], ..Costs::default() };
    assert_eq!(of(fence(1)), (2, 2));
    assert_eq!(of(fence(100)), (0, 4));
    // On POWER two fences cost less than four orders.
    assert_eq!(of(Costs { target: Target::Power, ..Costs::default() }), (2, 2));
}

#[test]
fn what_no_order_can_repair_is_said_and_what_the_text_does_not_name_is_skipped() {
    let wrong = "var x process p { x.store(1, relaxed) } final never x == 1";
    let (found, _) = repaired("wrong", wrong, 0);
    assert!(found.sets.is_empty() && found.beyond.is_some() && found.skipped.is_none());
    // `+=` names no order.
    let text = "var x, y process p { reg r x += 1 r = y.load(relaxed) } \
        process q { reg r y.store(1, relaxed) r = x.load(relaxed) } final never p.r == 0 and q.r == 0";
    let (found, _) = repaired("update", text, 0);
    assert!(found.sets.is_empty() && found.skipped == Some(vec![(None, 1)]), "{:?}", found.skipped);
}

/// What a deadlock needs is not there with fewer orders and gone with more.
#[test]
fn a_process_that_waits_sees_the_newest_write_in_the_end() {
    let text = "var flag, z process a { flag.store(1, relaxed) flag.store(0, relaxed) z.store(1, relaxed) } \
        process b { await z.load(relaxed) == 1 await flag.load(relaxed) == 1 } no deadlock";
    let (found, _) = repaired("late", text, 0);
    assert!(found.sets.is_empty() && found.beyond.is_some());
}

#[test]
fn patched_c_compiles() {
    if !are_installed(&["gcc"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in ["mailbox", "dekker", "chase-lev", "treiber", "parking", "msqueue"] {
        let path = folder.join(format!("{name}.c"));
        let text = fs::read_to_string(&path).unwrap();
        let request = Request { most: Some(1), ..request() };
        let found = match name {
            "mailbox" => repairs(path.to_str().unwrap(), &text, &request, &|_| {}).unwrap(),
            _ => weaken(path.to_str().unwrap(), &text, &request, &|_| {}).unwrap(),
        };
        let set = &found.sets[0].changes;
        assert!(!set.is_empty(), "{name}");
        let new = scratch.join(format!("orders-{name}.c"));
        fs::write(&new, found.text(set)).unwrap();
        let compiled = Command::new("gcc")
            .args(["-std=gnu11", "-fsyntax-only", "-w", "-I"])
            .args([&folder, &new])
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
    }
}
