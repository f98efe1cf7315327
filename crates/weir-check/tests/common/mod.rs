//! Random programs that ask one question of each kind, and witnesses.

use weir_check::Witness;
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::Run;
use weir_model::ids::{LabelId, ProcessId, QuestionId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Label, Program, Property, PropertyKind, Quantifier, Stmt, StmtKind,
    UnOp,
};
use weir_model::system::{Expanded, System};

/// The models that have a form of their own.
pub const MODELS: [MemoryModel; 8] = [
    MemoryModel::SC,
    MemoryModel::TSO,
    MemoryModel::PSO,
    MemoryModel::NSW,
    MemoryModel::GUESS,
    MemoryModel::GUESS_WW,
    MemoryModel::TSO.with(Relaxation::ReadWrite),
    MemoryModel::NSW.with(Relaxation::Rrwe),
];

pub fn random_model(rng: &mut Rng) -> MemoryModel {
    let all: Vec<_> = MemoryModel::all().collect();
    *rng.pick(&all)
}

fn random_formula(rng: &mut Rng, program: &Program, depth: usize) -> Formula {
    if depth > 0 && rng.once_in(2) {
        let (a, b) =
            (random_formula(rng, program, depth - 1), random_formula(rng, program, depth - 1));
        return match rng.below(5) {
            0 => Expr::unary(UnOp::Not, a),
            1 => Expr::binary(BinOp::Or, a, b),
            _ => Expr::binary(BinOp::And, a, b),
        };
    }
    let p = rng.below(program.processes.len());
    let process = &program.processes[p];
    let place = |l: usize| Expr::Atom(Atom::At(ProcessId::new(p), LabelId::new(l)));
    let atom = match rng.below(6) {
        0 if !process.labels.is_empty() => return place(rng.below(process.labels.len())),
        0..=3 if !process.registers.is_empty() => {
            Atom::Reg(ProcessId::new(p), RegId::new(rng.below(process.registers.len())))
        }
        _ => Atom::Var(VarId::new(rng.below(program.vars.len()))),
    };
    let op = *rng.pick(&[BinOp::Eq, BinOp::Eq, BinOp::Ne]);
    Expr::binary(op, Expr::Atom(atom), Expr::Const(rng.below(2) as i128))
}

/// Puts a statement somewhere into the body of a random process.
fn insert(rng: &mut Rng, program: &mut Program, make: impl Fn(&mut Rng, usize) -> StmtKind) {
    let p = rng.below(program.processes.len());
    let process = &mut program.processes[p];
    if process.registers.is_empty() {
        return;
    }
    let statement = make(rng, process.registers.len());
    // Not before the first statement, where registers are what they are.
    let at = 1 + rng.below(process.body.len());
    process.body.insert(at, Stmt::new(statement, SpanId::NONE));
}

fn on_register(rng: &mut Rng, registers: usize) -> Expr<RegId> {
    let register = Expr::Atom(RegId::new(rng.below(registers)));
    Expr::binary(BinOp::Eq, register, Expr::Const(rng.below(2) as i128))
}

/// A random program that asks one question of each kind, and some twice.
pub fn asking(rng: &mut Rng, shape: &Shape) -> Program {
    let mut random = program(rng, shape);
    insert(rng, &mut random, |rng, n| StmtKind::Assert(on_register(rng, n)));
    if rng.once_in(3) {
        insert(rng, &mut random, |rng, n| StmtKind::Assume(on_register(rng, n)));
    }
    let p = rng.below(random.processes.len());
    let process = &mut random.processes[p];
    process.labels.push(Label { name: "here".into(), span: SpanId::NONE });
    let at = rng.below(process.body.len() + 1);
    process.body.insert(at, Stmt::new(StmtKind::Label(LabelId(0)), SpanId::NONE));

    let never = |f| PropertyKind::Never(f);
    let last = |q, f| PropertyKind::Final(q, f);
    let kinds = [
        never(random_formula(rng, &random, 2)),
        never(random_formula(rng, &random, 2)),
        PropertyKind::Assertions,
        PropertyKind::NoDeadlock(vec![]),
        last(Quantifier::Exists, random_formula(rng, &random, 2)),
        last(Quantifier::Never, random_formula(rng, &random, 2)),
        last(Quantifier::Always, random_formula(rng, &random, 2)),
    ];
    if rng.once_in(4) {
        random.filter = Some(random_formula(rng, &random, 1));
    }
    let property = |kind| Property { name: None, kind, span: SpanId::NONE };
    random.properties = kinds.into_iter().map(property).collect();
    random
}

pub fn system(program: &Program) -> System {
    System::for_model(program.clone(), MemoryModel::GUESS).expect("random programs are finite")
}

pub fn expanded(system: &System) -> Expanded<'_> {
    system.expanded(&Budget::new()).expect("random programs are finite")
}

pub fn loop_free() -> Vec<Shape> {
    let plain = Shape { statements: 4, ..Shape::default() };
    vec![
        plain.clone(),
        Shape { vars: 3, ..plain.clone() },
        Shape { types: true, indices: true, ..plain.clone() },
        Shape { statements: 5, fences: false, atomics: false, branches: false, ..plain.clone() },
        Shape { statements: 3, values: 3, ..plain.clone() },
        Shape { processes: 3, statements: 2, branches: false, ..plain },
    ]
}

pub fn looping() -> Vec<Shape> {
    let plain = Shape { statements: 3, loops: true, ..Shape::default() };
    vec![plain.clone(), Shape { branches: false, ..plain.clone() }, Shape { vars: 1, ..plain }]
}

/// Runs `agree` on random programs; a failure is shrunk before it is shown.
/// `agree` also gets a number from which to draw what else is random.
pub fn on_random_programs(
    cases: u64,
    shapes: &[Shape],
    mut agree: impl FnMut(&System, u64) -> Result<(), String>,
) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", cases);
    for case in 0..cases {
        let start = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut rng = Rng::new(start);
        let shape = rng.pick(shapes).clone();
        let random = asking(&mut rng, &shape);
        if agree(&system(&random), start).is_err() {
            let small = shrink(random, |p| agree(&system(p), start).is_err());
            let text = weir_front::weir::print(&small);
            let why = agree(&system(&small), start).unwrap_err();
            panic!("seed {seed}, case {case}: {why}\n{text}");
        }
    }
}

/// The witness file of an answer, written and read again.
pub fn witness(system: &System, run: &Run, property: QuestionId) -> Witness {
    let made = Witness::new(system, run, property, &|_| 1);
    let text = serde_json::to_string(&made).expect("a witness is JSON");
    let read: Witness = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(made, read, "nothing is lost in the file");
    read
}

/// The steps of a witness, one per line, for a person who looks for the bug.
pub fn show(witness: &Witness) -> String {
    let mut text = format!("{} ({})\n", witness.model, witness.semantics);
    for (i, s) in witness.steps.iter().enumerate() {
        let what = s.op.clone().unwrap_or_else(|| format!("{:?} {:?}", s.variable, s.value));
        text += &format!("{:3} {} {}: {what} {:?}\n", i + 1, s.process, s.rule, s.source);
    }
    text + &format!("ends {:?} in {:?}\n", witness.end.states, witness.end.memory)
}
