//! What files of other tools mean: locked blocks over several addresses, first values that do not
//! matter, files without a question, and litmus tests in C.

use weir::question::Listed;
use weir::{MemoryModel, Verdict, Verifier};

fn final_states(verifier: &Verifier, names: &[&str]) -> Vec<Vec<i128>> {
    let found = verifier.outcomes().unwrap();
    let found = Listed::of(&found).unwrap();
    assert!(found.is_complete());
    let values = |state: std::collections::BTreeMap<String, String>| {
        names.iter().map(|name| state[*name].parse().unwrap()).collect::<Vec<_>>()
    };
    let mut states: Vec<Vec<i128>> = found.states().map(values).collect();
    states.sort();
    states.dedup();
    states
}

/// Two threads move one unit between two accounts; a third one looks at both.
const MOVE: &str = "
thread a
  initial q0
  transition q0 q1 lock
  transition q1 q2 read r x
  transition q2 q3 write - r 1 x
  transition q3 q4 read r y
  transition q4 q5 write + r 1 y
  transition q5 q6 unlock
end
thread b
  initial q0
  transition q0 q1 lock
  transition q1 q2 read r y
  transition q2 q3 write - r 1 y
  transition q3 q4 read r x
  transition q4 q5 write + r 1 x
  transition q5 q6 unlock
end
thread c
  initial q0
  transition q0 q1 lock
  transition q1 q2 read s x
  transition q2 q3 read t y
  transition q3 q4 write + s t z
  transition q4 q5 unlock
end";

#[test]
fn a_locked_block_over_two_addresses_is_one_step() {
    for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO] {
        let verifier = Verifier::new(MOVE).name("move.txt").model(model);
        assert_eq!(final_states(&verifier, &["x", "y", "z"]), [[0, 0, 0]]);
    }
    // Without the locks updates get lost, and the third thread sees a unit on its way.
    let divided = MOVE.replace(" lock\n", " noop\n").replace("unlock", "noop");
    let verifier = Verifier::new(divided).name("move.txt").model(MemoryModel::SC);
    assert!(final_states(&verifier, &["x", "y", "z"]).len() > 3);
}

#[test]
fn a_loop_that_only_reads_again_inside_a_lock_is_waiting() {
    let text = |wait: &str| {
        format!(
            "thread a initial q0
               transition q0 q1 lock
               transition q1 q2 read r x
               {wait}
               transition q2 q3 check == r 1
               transition q3 q4 write 2 y
               transition q4 q5 write 2 x
               transition q5 q6 unlock
             end
             thread b initial q0 transition q0 q1 write 1 x end"
        )
    };
    let again = "transition q2 q1 check != r 1";
    for wait in ["", again] {
        for model in [MemoryModel::SC, MemoryModel::TSO] {
            let verifier = Verifier::new(text(wait)).name("wait.txt").model(model);
            assert_eq!(final_states(&verifier, &["x", "y", "a.r"]), [[2, 2, 1]]);
            // A file without a question is asked for deadlocks.
            let report = verifier.check().unwrap();
            assert_eq!(report.findings.len(), 1);
            assert_eq!(report.finding("no deadlock").unwrap().verdict, Verdict::Holds);
        }
    }
    // Nobody writes what it waits for.
    let stuck = text(again).replace("write 1 x end", "write 3 x end");
    let report = Verifier::new(stuck).name("wait.txt").check().unwrap();
    assert_eq!(report.finding("no deadlock").unwrap().verdict, Verdict::Violated);
}

/// What a way through a lock does before a test that fails is not done.
#[test]
fn a_test_after_a_write_in_a_lock_undoes_nothing_because_nothing_was_done() {
    let text = "
        thread a initial q0
          transition q0 q1 lock
          transition q1 q2 write 1 x
          transition q2 q3 read r y
          transition q3 q4 check == r 1
          transition q4 q5 unlock
        end
        thread b initial q0
          transition q0 q1 read s x
          transition q1 q2 write 1 y
        end";
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let verifier = Verifier::new(text).name("undo.txt").model(model);
        // The write to x comes after that to y, and so after the read.
        assert_eq!(final_states(&verifier, &["x", "y", "b.s"]), [[1, 1, 0]]);
    }
}

#[test]
fn values_come_to_an_end_without_a_domain() {
    let text = "
        data x = 0
        process(2)
        registers $r = * $s = *
        text
          L: read: $r := x;
          if $r < 4 then { $s := $r + 1; write: x := $s; goto L } else nop";
    let report = Verifier::new(text).name("count.rmm").check().unwrap();
    assert_eq!(report.finding("no deadlock").unwrap().verdict, Verdict::Holds);

    // It is used before it is set on one of two ways.
    let open = "data x = 0 process registers $r = * text
        either { $r := 1 or nop }; write: x := $r";
    let error = Verifier::new(open).name("open.rmm").check().unwrap_err();
    assert!(error.to_string().contains("`$r` may begin with any number at all"), "{error}");
    for name in ["r", "P0.r"] {
        let bounded = Verifier::new(open).name("open.rmm");
        let bounded = bounded.domain(format!("{name}=0..4").parse().unwrap());
        assert_eq!(final_states(&bounded, &["x"]), [[0], [1], [2], [3], [4]]);
    }
}

#[test]
fn synchronizing_accesses_are_read_with_a_note() {
    let text = "forbidden B B data x = 0 y = 0
        process registers $r = * text
          syncwr: x := 1; syncrd: $r := y; assume: $r = 0; B: nop
        process registers $r = * text
          syncwr: y := 1; syncrd: $r := x; assume: $r = 0; B: nop";
    let verdict = |text: &str| {
        let report = Verifier::new(text).name("sync.rmm").check().unwrap();
        report.finding("forbidden").unwrap().verdict
    };
    assert_eq!(verdict(text), Verdict::Holds);
    assert_eq!(verdict(&text.replace("syncwr", "write")), Verdict::Violated);
    let (_, source) = weir_front::read("sync.rmm", text, None).unwrap();
    assert!(source.notes.iter().any(|note| note.contains("`syncwr`")), "{:?}", source.notes);
}

/// A litmus test in C: its text, and under which models the condition is met.
fn in_c(text: &str, allowed: &[(MemoryModel, bool)]) {
    for (model, expected) in allowed {
        let report = Verifier::new(text).name("t.litmus").model(*model).check().unwrap();
        let holds = report.findings[0].verdict == Verdict::Holds;
        assert_eq!(holds, *expected, "{model} of {text}");
    }
}

#[test]
fn litmus_tests_in_c() {
    use MemoryModel as M;
    let sb = |order: &str, between: &str| {
        format!(
            "C SB \"a test\" Orig=by hand\n{{ int x = 0; [y]=0; }};
             P0 (atomic_int* x, atomic_int* y) {{
               atomic_store_explicit(x, 1, memory_order_{order}); // (* no comment
               {between} int r0 = atomic_load_explicit(y, memory_order_{order});
             }}
             void P1 (atomic_int* x, atomic_int* y) {{
               atomic_store_explicit(y, 1, memory_order_{order});
               {between} int r0; r0 = atomic_load_explicit(x, memory_order_{order});
             }}
             (* the rest *) locations [x;] exists (0:r0=0 /\\ 1:r0=0)"
        )
    };
    in_c(&sb("relaxed", ""), &[(M::SC, false), (M::TSO, true), (M::PSO, true)]);
    in_c(&sb("seq_cst", ""), &[(M::SC, false), (M::TSO, false), (M::PSO, false)]);
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    in_c(&sb("relaxed", fence), &[(M::TSO, false), (M::PSO, false)]);
    let mp = |w: &str| {
        format!(
            "C MP {{ }}
             P0(int *x, int *y) {{ WRITE_ONCE(*x, 1); {w} WRITE_ONCE(*y, 1); }}
             P1(int *x, int *y) {{ int r0; int r1; r0 = READ_ONCE(*y); smp_rmb(); r1 = READ_ONCE(*x); }}
             exists (1:r0=1 /\\ 1:r1=0)"
        )
    };
    in_c(&mp(""), &[(M::SC, false), (M::TSO, false), (M::PSO, true)]);
    in_c(&mp("smp_wmb();"), &[(M::TSO, false), (M::PSO, false)]);
    let release = mp("").replace("WRITE_ONCE(*y, 1)", "smp_store_release(y, 1)");
    in_c(&release, &[(M::TSO, false), (M::PSO, false)]);
    // First values, arrays, pointers to pointers, loops and branches.
    let more = "C more { int a[2] = {3,4}; x=7; int *p = &x; }
        P0(int *a, int **p, int *x) { int r0 = a[1]; int *q = *p; int r1 = *q;
          while (*x != 8) { } if (r0 == 4) { a[0] = r1; } }
        P1(int *x) { *x = 8; }
        forall (0:r0=4 /\\ (0:r1=7 \\/ 0:r1=8) /\\ a[0]=0:r1 /\\ x=8)";
    in_c(more, &[(M::SC, true), (M::TSO, true), (M::PSO, true)]);
    // Lines are those of the test.
    let report = Verifier::new(sb("relaxed", "")).name("t.litmus").check().unwrap();
    let run = report.findings[0].run().unwrap();
    assert!(run.steps.iter().any(|step| step.line == Some(4)), "{run}");
}

#[test]
fn assembly_of_compilers() {
    let text = "X86_64 RIP { x; y; 0:rbx=y; 0:rcx=0; }
        P0 | P1 ;
        movl $1,x(%rip) | movl $1,y(%rip) ;
        movl %cs:0(%rbx,%rcx,3),%eax | movl x(%rip),%eax ;
        ret | ret ;
        movl $7,x(%rip) | movl $7,(y) ;
        exists (0:rax=0 /\\ 1:rax=0)";
    in_c(text, &[(MemoryModel::SC, false), (MemoryModel::TSO, true)]);
    // Nothing is executed after `ret`.
    let verifier = Verifier::new(text.replace("0:rax=0 /\\", "x=7 \\/")).name("t.litmus");
    assert!(final_states(&verifier, &["x"]).iter().all(|state| state[0] == 1));
}

/// Formulas of Promela models other than `[] p` are about runs.
#[test]
fn formulas_of_promela() {
    let text = "
        byte x, y;
        active proctype p() { do :: x == 0 -> x = 1 :: x == 1 -> x = 2; x = 0 od }
        active proctype q() { (x == 2); y = 1 }
        ltl small { [] (x < 3) }
        ltl again { []<> (x == 1) }
        ltl comes { <> (y == 1) }
        ltl before { (y == 0) W (x == 2) }
        ltl answered { [] ((x == 1) -> <> (x == 2)) }
        ltl next { [] ((x == 1) -> X (x == 1)) }";
    let verifier = Verifier::new(text).name("t.pml").model(MemoryModel::SC);
    let small = verifier.check().unwrap();
    assert_eq!(small.finding("small").unwrap().verdict, Verdict::Holds);
    let report = verifier.live().unwrap();
    let verdict = |name: &str| report.finding(name).map(|answer| answer.verdict);
    assert_eq!(verdict("again"), Some(Verdict::Holds));
    assert_eq!(verdict("comes"), Some(Verdict::Violated));
    assert_eq!(verdict("before"), Some(Verdict::Holds));
    assert_eq!(verdict("answered"), Some(Verdict::Holds));
    assert_eq!(verdict("next"), None);
    let (_, source) = weir_front::read("t.pml", text, None).unwrap();
    assert!(source.notes.iter().any(|note| note.contains("`next`")), "{:?}", source.notes);
}

/// A formula is about the states before `init` runs processes too; where that cannot be told, it is not asked.
#[test]
fn formulas_about_what_init_does() {
    let text = "
        byte x;
        proctype p() { here: x = 2; there: skip }
        init { x = 1; RUN }
        ltl one { [] (x >= 1) }
        ltl two { (x == 0) U (x == 1) }
        ltl begins { [] !p[1]@here }
        ltl goes { <> (p[2]@there) }";
    let notes = |text: &str| {
        let (_, source) = weir_front::read("t.pml", text, None).unwrap();
        source.notes.join("\n")
    };
    let staggered = text.replace("RUN", "run p(); run p()");
    let found = notes(&staggered);
    assert!(found.contains("`one` is violated before `init` has run its processes"), "{found}");
    assert!(found.contains("`begins` is not asked: it tells where processes begin"), "{found}");
    assert!(!found.contains("goes"), "{found}");
    let verifier = Verifier::new(staggered).name("t.pml").model(MemoryModel::SC);
    let report = verifier.check().unwrap();
    assert_eq!(report.finding("one").unwrap().verdict, Verdict::Violated);
    assert_eq!(report.finding("two").unwrap().verdict, Verdict::Holds);
    assert!(report.finding("begins").is_none());
    let at_once = text.replace("RUN", "atomic { run p(); run p() }");
    assert!(!notes(&at_once).contains("begins"), "{}", notes(&at_once));
    let verifier = Verifier::new(at_once).name("t.pml").model(MemoryModel::SC);
    assert_eq!(verifier.check().unwrap().finding("begins").unwrap().verdict, Verdict::Violated);
}
