//! Runs that are written by hand: the checker accepts those that are runs, and
//! rejects each mistake for the right reason.

use weir_check::witness::WitnessStep;
use weir_check::{Witness, check};
use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{ProcessId, QuestionId, StateId};
use weir_model::limits::Budget;
use weir_model::semantics::Form;
use weir_model::system::{Op, System};

fn show(witness: &Witness) -> String {
    let mut text = format!("{} ({})\n", witness.model, witness.semantics);
    for (i, s) in witness.steps.iter().enumerate() {
        let what = s.op.clone().unwrap_or_else(|| format!("{:?} {:?}", s.variable, s.value));
        text += &format!("{:3} {} {}: {what}\n", i + 1, s.process, s.rule);
    }
    text
}

/// Two processes, and a question that every state settles.
const TWO: &str = "
    var x, y
    process p { reg r, s; x = 1; r = y; s = x }
    process q { reg r; y = 1; r = x }
    never x >= 0
    final exists p.r == 0
    assertions
    no deadlock
";

/// A witness that is written by hand, step by step.
struct Sketch {
    system: System,
    states: Vec<StateId>,
    witness: Witness,
}

impl Sketch {
    fn new(text: &str, model: &str) -> Self {
        let (program, _) = weir_front::read("sketch.weir", text, None).expect("it is a program");
        let system = System::new(program).expect("it is finite");
        let states: Vec<_> = system.processes.iter().map(|p| p.initial).collect();
        let memory: Vec<_> = system.vars.iter().map(|v| v.initial[0]).collect();
        let start = Snapshot {
            controls: states.clone(),
            memory,
            pending: vec![vec![]; system.processes.len()],
        };
        let model = model.parse().expect("it is a model");
        let run = Run { model, form: Form::Relaxations, bound: 1, start, steps: vec![] };
        let witness = Witness::new(&system, &run, QuestionId(0), &|_| 1);
        Self { system, states, witness }
    }

    /// A step along the transition that does `op`.
    fn take(mut self, process: &str, rule: &str, op: &str) -> Self {
        let p = self.system.processes.iter().position(|p| p.name == process).expect("a process");
        let (id, state) = (ProcessId::new(p), self.states[p]);
        let all = self.system.expanded(&Budget::new()).expect("it is finite");
        let found = all.transitions(id, state).find(|(_, t)| self.system.show_op(t.op) == op);
        let (_, &taken) = found.unwrap_or_else(|| panic!("{process} does not do {op} here"));
        self.states[p] = taken.to;
        self.witness.end.states[p] = self.system.state_name(id, taken.to);
        if rule == "write" {
            self.witness.end.buffers[p].push(op.to_owned());
        }
        // Where a read goes on depends on its value.
        let value = match taken.op {
            Op::Read(x, d) | Op::Arw(x, d, _) => Some(self.system.value(x, d)),
            _ => None,
        };
        self.witness.steps.push(WitnessStep {
            process: process.into(),
            rule: rule.into(),
            transition: Some(self.system.transition_name(id, &taken)),
            op: Some(op.into()),
            variable: None,
            value,
            newer: None,
            source: None,
            line: None,
        });
        self
    }

    /// A step of memory alone.
    fn memory(mut self, process: &str, rule: &str, variable: &str, value: i128) -> Self {
        self.witness.steps.push(WitnessStep {
            process: process.into(),
            rule: rule.into(),
            transition: None,
            op: None,
            variable: Some(variable.into()),
            value: Some(value),
            newer: None,
            source: None,
            line: None,
        });
        if rule == "update" {
            let p = self.system.processes.iter().position(|p| p.name == process);
            if let Some(buffer) = p.map(|p| &mut self.witness.end.buffers[p])
                && let Some(at) = buffer.iter().position(|w| *w == format!("w({variable},{value})"))
            {
                buffer.remove(at);
            }
            self = self.ends(variable, value);
        }
        self
    }

    /// The last step reads a write of this process.
    fn of(mut self, source: &str) -> Self {
        self.last().source = Some(source.into());
        self
    }

    fn last(&mut self) -> &mut WitnessStep {
        self.witness.steps.last_mut().expect("there is a step")
    }

    fn ends(mut self, variable: &str, value: i128) -> Self {
        self.witness.end.memory.insert(variable.into(), value);
        self
    }

    /// Claims to settle another question.
    fn asks(mut self, property: usize) -> Self {
        self.witness.property = property;
        self.witness.property_name = self.system.questions[property].name.clone();
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Witness)) -> Self {
        change(&mut self.witness);
        self
    }

    #[track_caller]
    fn accepted(self) {
        if let Err(why) = check(&self.system, &self.witness) {
            panic!("{why}\n{}", show(&self.witness));
        }
    }

    /// Rejected at this step, 0 for none, for this reason.
    #[track_caller]
    fn rejected(self, step: usize, reason: &str) {
        match check(&self.system, &self.witness) {
            Err(why)
                if why.step() == (step > 0).then_some(step) && why.to_string().contains(reason) => {
            }
            other => panic!("{other:?}, not {step}: {reason}\n{}", show(&self.witness)),
        }
    }
}

fn two(model: &str) -> Sketch {
    Sketch::new(TWO, model)
}

#[test]
fn hand_written_runs_are_accepted() {
    two("SC").accepted();
    two("SC")
        .take("p", "write memory", "w(x,1)")
        .take("q", "write memory", "w(y,1)")
        .take("p", "read memory", "r(y,1)")
        .ends("x", 1)
        .ends("y", 1)
        .accepted();
    // Store buffering, with forwarding.
    two("TSO")
        .take("p", "write", "w(x,1)")
        .take("q", "write", "w(y,1)")
        .take("p", "read memory", "r(y,0)")
        .take("p", "read own write", "r(x,1)")
        .take("q", "read memory", "r(x,0)")
        .memory("q", "update", "y", 1)
        .memory("p", "update", "x", 1)
        .asks(1)
        .accepted();
    // To come behind its write, the last read lets the fence move before the
    // write, and the fence takes the first read along.
    Sketch::new("var x, y process p { reg r, s; x = 1; r = y; rfence; s = x } never x >= 0", "NSW")
        .take("p", "write", "w(x,1)")
        .take("p", "guess", "r(y,0)")
        .take("p", "read fence", "rfence")
        .take("p", "read own write", "r(x,1)")
        .memory("p", "validate", "y", 0)
        .memory("p", "update", "x", 1)
        .accepted();
}

#[test]
fn the_file_has_to_be_a_witness() {
    two("SC")
        .with(|w| w.header.format = "weir-certificate".into())
        .rejected(0, "this is weir-certificate version 3, not weir-witness version 3");
    two("SC")
        .with(|w| w.header.version = 1)
        .rejected(0, "this is weir-witness version 1, not weir-witness version 3");
    two("SC")
        .with(|w| w.model = "TOS".into())
        .rejected(0, "memory model: `TOS` is neither a memory model nor a relaxation");
    two("SC").with(|w| w.property = 4).rejected(0, "the program has no property 4");
    two("SC").with(|w| w.property = 1).rejected(0, "property 1 is called `final exists`");
    let text = serde_json::to_string(&two("SC").witness).expect("JSON");
    let more = text.replacen('{', "{\"more\":1,", 1);
    assert!(serde_json::from_str::<Witness>(&more).is_err(), "fields that nobody knows");
}

#[test]
fn the_run_has_to_begin_in_the_beginning() {
    two("SC")
        .with(|w| w.initial.states[0] = "1".into())
        .rejected(0, "the run does not begin in the initial control states");
    two("SC")
        .with(|w| w.initial.states.push("0".into()))
        .rejected(0, "the run does not begin in the initial control states");
    two("TSO")
        .with(|w| w.initial.buffers[0].push("w(x,1)".into()))
        .rejected(0, "the run does not begin with empty buffers");
    two("SC")
        .with(|w| *w.initial.memory.get_mut("x").unwrap() = 1)
        .rejected(0, "the run does not begin with an initial memory");
    two("SC")
        .with(|w| *w.initial.memory.get_mut("x").unwrap() = 7)
        .rejected(0, "the run does not begin with an initial memory");
    two("SC")
        .with(|w| {
            w.initial.memory.remove("x");
        })
        .rejected(0, "the memory does not have the variables of the program");
    two("SC")
        .with(|w| {
            w.initial.memory.remove("x");
            w.initial.memory.insert("z".into(), 0);
        })
        .rejected(0, "the memory has no `x`");
}

#[test]
fn steps_have_to_be_steps_of_the_program() {
    let written = || two("SC").take("p", "write memory", "w(x,1)").ends("x", 1);
    written().with(|w| w.steps[0].process = "z".into()).rejected(1, "there is no process `z`");
    written()
        .with(|w| w.steps[0].rule = "store".into())
        .rejected(1, "the rule `store` does not do w(x,1)");
    written()
        .with(|w| w.steps[0].rule = "read memory".into())
        .rejected(1, "the rule `read memory` does not do w(x,1)");
    written()
        .with(|w| w.steps[0].transition = None)
        .rejected(1, "the rule `write memory` needs a transition");
    written()
        .with(|w| w.steps[0].transition = Some("w(x,1) to 99".into()))
        .rejected(1, "process `p` has no such transition in its control state");
    written()
        .with(|w| w.steps[0].op = Some("w(x,0)".into()))
        .rejected(1, "the transition does w(x,1), the step says otherwise");
    written()
        .with(|w| w.steps.push(w.steps[0].clone()))
        .rejected(2, "process `p` has no such transition in its control state");
    // Where a read goes on depends on its value, so it has to be named.
    let read = || written().take("p", "read memory", "r(y,0)");
    read().accepted();
    for value in [None, Some(1)] {
        read()
            .with(|w| w.steps[1].value = value)
            .rejected(2, "process `p` has no such transition in its control state");
    }
    // An update has no transition, and a transition is no update.
    written()
        .with(|w| w.steps[0].rule = "update".into())
        .rejected(1, "the rule `update` does not do w(x,1)");
    let updated = || two("TSO").take("p", "write", "w(x,1)").memory("p", "update", "x", 1);
    updated().accepted();
    updated().with(|w| w.steps[1].variable = None).rejected(2, "the step names no variable");
    updated()
        .with(|w| w.steps[1].variable = Some("z".into()))
        .rejected(2, "there is no variable `z`");
    updated().with(|w| w.steps[1].process = "q".into()).rejected(2, "nothing on `x` is under way");
    updated().with(|w| w.steps[1].value = Some(0)).rejected(2, "the value on its way is 1");
    updated()
        .with(|w| w.steps[1].rule = "validate".into())
        .rejected(2, "w(x,1) comes first on `x`");
    updated()
        .with(|w| w.steps[1].rule = "flush".into())
        .rejected(2, "the rule `flush` needs a transition");
    updated().with(|w| w.steps.push(w.steps[1].clone())).rejected(3, "nothing on `x` is under way");
}

#[test]
fn reads_have_to_find_their_values() {
    two("SC")
        .take("p", "write memory", "w(x,1)")
        .take("p", "read memory", "r(y,1)")
        .ends("x", 1)
        .rejected(2, "memory has 0 for r(y,1)");
    two("TSO")
        .take("q", "write", "w(y,1)")
        .take("p", "write", "w(x,1)")
        .take("p", "read memory", "r(y,1)")
        .rejected(3, "memory has 0 for r(y,1)");
    two("NSW")
        .take("p", "write", "w(x,1)")
        .take("p", "read history", "r(y,1)")
        .rejected(2, "memory never had the value of r(y,1) when the process could see it");
    // What was overwritten before the process read something newer is gone.
    Sketch::new("var x process p { reg r; r = x; r = x } process q { x = 1 } never x >= 0", "NSW")
        .take("q", "write", "w(x,1)")
        .memory("q", "update", "x", 1)
        .take("p", "read memory", "r(x,1)")
        .take("p", "read history", "r(x,0)")
        .rejected(4, "memory never had the value of r(x,0) when the process could see it");
    Sketch::new(
        "var x, y process p { reg r; r = y; rfence; r = x } process q { x = 1; y = 1 } never x >= 0",
        "NSW",
    )
    .take("q", "write", "w(x,1)")
    .take("q", "write", "w(y,1)")
    .memory("q", "update", "x", 1)
    .memory("q", "update", "y", 1)
    .take("p", "read memory", "r(y,1)")
    .take("p", "read fence", "rfence")
    .take("p", "read history", "r(x,0)")
    .rejected(7, "memory never had the value of r(x,0) when the process could see it");
    two("w->r")
        .take("p", "write", "w(x,1)")
        .take("p", "read memory", "r(y,0)")
        .take("p", "read own write", "r(x,1)")
        .rejected(3, "SC+w->r has no RLWE");
    two("TSO")
        .take("q", "write", "w(y,1)")
        .take("q", "read own write", "r(x,1)")
        .rejected(2, "no own write is there for r(x,1) to take its value from");
    two("TSO")
        .take("p", "write", "w(x,1)")
        .take("p", "read memory", "r(y,0)")
        .take("p", "read own write", "r(x,0)")
        .rejected(3, "no own write is there for r(x,0) to take its value from");
    two("TSO")
        .take("p", "write", "w(x,1)")
        .take("p", "read memory", "r(y,0)")
        .take("p", "read memory", "r(x,0)")
        .rejected(3, "under TSO r(x,0) may not overtake w(x,1)");
    Sketch::new("var x process p { fetch_add(x, 1) } process q { x = 1 } never x >= 0", "TSO")
        .take("p", "atomic read-write", "arw(x,1,2)")
        .rejected(1, "memory has 0 for arw(x,1,2)");
}

#[test]
fn nothing_overtakes_what_it_may_not() {
    two("SC")
        .take("p", "write", "w(x,1)")
        .take("p", "read memory", "r(y,0)")
        .rejected(2, "under SC r(y,0) may not overtake w(x,1)");
    let program = "
        var x, y, z
        process p { x = 1; wfence; y = 1 }
        process q { reg r, s; r = x; z = 1; s = y; fence; z = 2 }
        never x >= 0
    ";
    Sketch::new(program, "PSO")
        .take("p", "write", "w(x,1)")
        .take("p", "write fence", "wfence")
        .take("p", "write", "w(y,1)")
        .memory("p", "update", "y", 1)
        .rejected(4, "under PSO w(y,1) may not overtake wfence");
    let unfenced = || {
        Sketch::new(&program.replace("wfence;", ""), "PSO")
            .take("p", "write", "w(x,1)")
            .take("p", "write", "w(y,1)")
            .memory("p", "update", "y", 1)
    };
    unfenced().accepted();
    unfenced()
        .with(|w| w.model = "TSO".into())
        .rejected(3, "under TSO w(y,1) may not overtake w(x,1)");
    Sketch::new(program, "NSW")
        .take("q", "guess", "r(x,1)")
        .take("q", "write memory", "w(z,1)")
        .rejected(2, "under NSW w(z,1) may not overtake r(x,1)");
    Sketch::new(program, "TSO+r->w")
        .take("q", "guess", "r(x,1)")
        .take("q", "write memory", "w(z,1)")
        .take("q", "guess", "r(y,0)")
        .memory("q", "validate", "y", 0)
        .rejected(4, "under TSO+r->w r(y,0) may not overtake r(x,1)");
    Sketch::new(program, "TSO+r->r/w")
        .take("q", "guess", "r(x,1)")
        .take("q", "write", "w(z,1)")
        .take("q", "guess", "r(y,0)")
        .memory("q", "validate", "y", 0)
        .take("q", "fence", "fence")
        .rejected(5, "under TSO+r->r+r->w fence may not overtake r(x,1)");
}

#[test]
fn remote_writes_are_read_early_only_where_they_may() {
    let program = "
        var x, y
        process p { x = 1 }
        process q { reg r; r = x; x = 2; swap(x, 3) }
        process s { reg r; y = 1; fence; r = x }
        never x >= 0
    ";
    let early = || {
        Sketch::new(program, "NSW+RRWE")
            .take("p", "write", "w(x,1)")
            .take("q", "read remote write", "r(x,1)")
            .of("p")
    };
    early().accepted();
    early()
        .with(|w| w.model = "NSW".into())
        .rejected(2, "under NSW no process may read that write early");
    early().with(|w| w.steps[1].source = None).rejected(2, "the step does not say whose write");
    early().of("q").rejected(2, "under NSW+RRWE no process may read that write early");
    early().of("s").rejected(2, "there is no such write under way");
    early().of("z").rejected(2, "there is no process `z`");
    early()
        .take("q", "write", "w(x,2)")
        .memory("q", "update", "x", 2)
        .rejected(4, "a write that was read early has to come first");
    let program = "
        var x
        process p { x = 1 }
        process q { reg r; r = x; swap(x, 3) }
        never x >= 0
    ";
    Sketch::new(program, "NSW+RRWE")
        .take("p", "write", "w(x,1)")
        .take("q", "read remote write", "r(x,1)")
        .of("p")
        .take("q", "atomic read-write", "arw(x,0,3)")
        .rejected(3, "a write that was read early has to come first");
    let program = "
        var x, y
        process p { x = 1 }
        process q { reg r, s; r = y; rfence; s = x }
        never x >= 0
    ";
    Sketch::new(program, "NSW+RRWE")
        .take("p", "write", "w(x,1)")
        .take("q", "guess", "r(y,0)")
        .take("q", "read fence", "rfence")
        .take("q", "read remote write", "r(x,1)")
        .of("p")
        .rejected(4, "r(x,1) may not overtake the operations under way");
    // Each of two readers takes its own write to come first.
    let program = "
        var x
        process p { reg r; x = 1; r = x }
        process q { reg r; x = 2; r = x }
        never x >= 0
    ";
    Sketch::new(program, "NSW+RRWE")
        .take("p", "write", "w(x,1)")
        .take("q", "write", "w(x,2)")
        .take("p", "read remote write", "r(x,2)")
        .of("q")
        .take("q", "read remote write", "r(x,1)")
        .of("p")
        .rejected(0, "the writes under way in the end wait for one another");
}

#[test]
fn the_run_has_to_end_where_it_says() {
    let written = || two("TSO").take("p", "write", "w(x,1)");
    written().accepted();
    written().ends("x", 1).rejected(0, "the run does not end with the memory that it names");
    written()
        .with(|w| w.end.states[0] = w.initial.states[0].clone())
        .rejected(0, "the run does not end in the control states that it names");
    written().ends("x", 5).rejected(0, "the run does not end with the memory that it names");
    let program = "var x process p { reg r; r = x } process q { x = 1 } never x >= 0";
    Sketch::new(program, "TSO+r->r/w")
        .take("p", "guess", "r(x,1)")
        .rejected(0, "the value of r(x,1) is a guess that was never validated");
}

#[test]
fn the_last_state_has_to_settle_the_question() {
    let program = "
        var x
        process p { reg r; r = x; assert r == 0; x = 2 }
        process q { x = 1; await x == 3 }
        never x == 2
        assertions
        no deadlock
        final exists x == 2
        final always x == 2
        final never x == 2
    ";
    let run =
        |property| Sketch::new(program, "TSO").take("p", "read memory", "r(x,0)").asks(property);
    for (property, name) in
        ["never", "assertions", "no deadlock", "final exists", "final always", "final never"]
            .into_iter()
            .enumerate()
    {
        run(property).rejected(0, &format!("the last state does not settle `{name}`"));
    }
    // Everybody has ended, but a write is on its way.
    Sketch::new("var x process p { x = 1 } final exists x == 0", "TSO")
        .take("p", "write", "w(x,1)")
        .rejected(0, "does not settle `final exists`");
    // Without store buffers, a write that is on its way was not executed.
    let program = "var x, y process p { x = 1; y = 1 } never y == 1 and x == 0";
    Sketch::new(program, "w->w")
        .take("p", "write", "w(x,1)")
        .take("p", "write memory", "w(y,1)")
        .ends("y", 1)
        .rejected(0, "does not settle `never`");
}

/// A process that reads its own first write twice with all of this behind it.
fn reads_behind(model: &str, vars: usize, writes: usize) -> Sketch {
    let names: Vec<_> = (0..vars).map(|v| format!("y{v}")).collect();
    let body: String = (0..writes).map(|w| format!("{} = 1 ", names[w % vars])).collect();
    let text = format!(
        "var x, {} process p {{ reg r x = 1 {body} r = x r = x }} never p.r == 1 and x == 0",
        names.join(", ")
    );
    let mut sketch = Sketch::new(&text, model).take("p", "write", "w(x,1)");
    for w in 0..writes {
        sketch = sketch.take("p", "write", &format!("w({},1)", names[w % vars]));
    }
    sketch.take("p", "read own write", "r(x,1)").take("p", "read own write", "r(x,1)")
}

/// However much a process has under way, the checker neither gives up nor takes
/// for ever.
#[test]
fn a_lot_can_be_under_way() {
    for model in ["TSO", "PSO", "NSW"] {
        for (vars, writes) in [(1, 40), (14, 14), (20, 100)] {
            reads_behind(model, vars, writes).accepted();
        }
    }
    // Reads that a read may not overtake: they have to move before the write.
    let reads = "r = y ".repeat(40);
    let text = format!(
        "var x, y process p {{ reg r x = 1 {reads} r = x }} process q {{ y = 1 }} never x == 1"
    );
    let mut sketch = Sketch::new(&text, "TSO+r->w").take("p", "write", "w(x,1)");
    for _ in 0..40 {
        sketch = sketch.take("p", "guess", "r(y,0)");
    }
    sketch = sketch.take("p", "read own write", "r(x,1)").memory("p", "update", "x", 1);
    for _ in 0..40 {
        sketch = sketch.memory("p", "validate", "y", 0);
    }
    sketch.accepted();
}
