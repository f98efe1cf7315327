//! Places, atomic operations and guessed reads mean what `docs/language.md` and
//! `docs/models.md` say, and an answer does not depend on what else is asked.

use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;

/// The verdict on the first property under a model.
#[track_caller]
fn verdict(text: &str, model: &str) -> Verdict {
    let model: MemoryModel = model.parse().expect("a model");
    let loaded =
        Loaded::for_model("p.weir", text, model).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let (answers, _) =
        weir::solver::check(&loaded.system, model, &SearchOptions::default()).unwrap();
    answers[0].verdict
}

const NAMED: [&str; 4] = ["sc", "tso", "pso", "nsw"];

#[test]
fn a_local_step_into_a_negated_place_is_seen() {
    let program = "
        var x, y
        process p { reg r   x = 1   l1: r = 1   l2: y = 1 }
        a: never x == 1 and y == 0 and not p@l2
    ";
    for model in NAMED {
        assert_eq!(verdict(program, model), Verdict::Violated, "{model}");
        let more = format!("{program} b: never p@l1");
        assert_eq!(verdict(&more, model), Verdict::Violated, "{model}");
    }
}

#[test]
fn a_label_before_a_loop_is_its_head() {
    let loops = [
        "m: while x == 0 { s = 1  x = 0 }",
        "m: if x == 0 { s = 1  x = 0  goto m }",
        "m: loop { if x != 0 { break } s = 1  x = 0 }",
        "m: loop { choose { s = 1 continue } or { break } }",
    ];
    for body in loops {
        let text = format!("var x process p {{ reg s {body} }} never p@m and p.s == 1");
        for model in NAMED {
            assert_eq!(verdict(&text, model), Verdict::Violated, "{body} under {model}");
        }
    }
    // The head of an outer loop is not reached by going round the inner one.
    let text = "
        var x
        process p { reg s  m: loop { loop { s = 1  if x == 0 { break } } s = 0 } }
        never p@m and p.s == 1
    ";
    assert_eq!(verdict(text, "tso"), Verdict::Holds);
}

#[test]
fn a_label_before_await_holds_while_the_process_waits() {
    let text = "
        var x, y
        process p { w: await x == 1 or y == 1  past: nop }
        process q { y = 1 }
        never not p@w and not p@past and y == 0
    ";
    for model in NAMED {
        assert_eq!(verdict(text, model), Verdict::Holds, "{model}");
    }
}

#[test]
fn compare_and_set_is_one_step() {
    let text = "
        var x
        process p { reg s  s = cas(x, 0, 1) }
        never x == 1 and p.s == 0
    ";
    for model in NAMED {
        assert_eq!(verdict(text, model), Verdict::Holds, "{model}");
    }
    let text = "
        var x
        process p { reg s = 5  s = cas(x, 1, 2) }
        final exists p.s == 0 and x == 0
    ";
    assert_eq!(verdict(text, "tso"), Verdict::Holds);
}

/// The program of Atig et al. 2012, section 3.6.
const CYCLE: &str = "
    process P1 { assume x == 1   y = 1 }
    process P2 { assume y == 1   x = 1 }
    final exists x == 1 and y == 1
";

#[test]
fn guessed_reads_range_over_the_domain() {
    for declared in ["var x: 0..1, y: 0..1", "var x, y"] {
        let text = format!("{declared} {CYCLE}");
        for model in ["r->w", "tso+r->w", "tso+r->r/w", "nsw+r->w", "nsw+rrwe"] {
            assert_eq!(verdict(&text, model), Verdict::Holds, "{declared}: {model}");
        }
        for model in NAMED {
            assert_eq!(verdict(&text, model), Verdict::Violated, "{declared}: {model}");
        }
    }
}

#[test]
fn the_domain_has_what_is_written_anywhere() {
    let copies = "
        process P1 { reg r  r = x  y = r }
        process P2 { reg r  r = y  x = r }
        final exists x == 1
    ";
    for model in ["r->w", "tso+r->r/w", "nsw+r->w"] {
        assert_eq!(verdict(&format!("var x, y {copies}"), model), Verdict::Violated, "{model}");
        for more in ["var x: 0..1, y: 0..1", "var x, y process dead { reg z  if z == 1 { x = 1 } }"]
        {
            // Out of thin air: each reads what the other writes because of that.
            assert_eq!(verdict(&format!("{more} {copies}"), model), Verdict::Holds, "{model}");
        }
    }
}

#[test]
fn an_infinite_domain_asks_for_a_declaration_only_where_reads_are_guessed() {
    let text = "var x process p[i: 0..1] { x = x + 1 } final exists x == 2";
    assert_eq!(verdict(text, "nsw"), Verdict::Holds);
    let model = "tso+r->w".parse().unwrap();
    let error = Loaded::for_model("p.weir", text, model).expect_err("it is infinite");
    assert!(error.render(false).contains("variable `x`"), "{}", error.render(false));
    assert_eq!(verdict(&text.replace("var x", "var x: 0..2"), "tso+r->w"), Verdict::Holds);
    // A counter that no variable gets is no matter.
    let text = "
        var x
        process p { reg j  while j < 3 { x = 1  j = j + 1 } }
        final exists x == 1
    ";
    assert_eq!(verdict(text, "tso+r->w"), Verdict::Holds);
}

/// The winner of each game.
fn winners(text: &str) -> Vec<String> {
    let file = std::env::temp_dir().join(format!("weir-places-{}.weir", std::process::id()));
    std::fs::write(&file, text).expect("a temporary file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["game", "--format", "json"])
        .arg(&file)
        .output()
        .expect("it runs");
    std::fs::remove_file(&file).expect("it is there");
    let text = String::from_utf8(output.stdout).expect("text");
    let report: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let games = report["findings"].as_array().expect("games");
    games.iter().map(|g| g["details"]["winner"].as_str().expect("a winner").to_owned()).collect()
}

#[test]
fn a_game_does_not_depend_on_other_games() {
    let program = "
        var x
        process p { reg r   s: if r == 0 { l: x = 1 } }
        process q { loop { nop } }
        a: game avoid p@l
    ";
    let alone = winners(program);
    let both = winners(&format!("{program} other: game reach p@s"));
    assert_eq!(alone[0], both[0]);
    assert_eq!(alone[0], "process");
}

/// A label that nothing asks about is a place like any other.
#[test]
fn places_do_not_depend_on_which_labels_are_asked_about() {
    // The label that is named with the other, at the end of the process.
    let text = "var x process p { goto b  a: b: } never p@a";
    assert_eq!(verdict(text, "sc"), Verdict::Violated);
    assert_eq!(verdict(&format!("{text} never p@b"), "sc"), Verdict::Violated);
    // The end of a block.
    let text = "
        var x, y
        process p { reg r  if r == 0 { x = 1 inner: } next: y = 1 }
        never x == 1 and not p@next and y == 0
    ";
    assert_eq!(verdict(text, "sc"), Verdict::Violated);
    assert_eq!(verdict(&format!("{text} never p@inner and x == 0"), "sc"), Verdict::Violated);
    // The head of a loop.
    let text = "
        var x, y
        process p { x = 1 head: loop { inside: y = 1 } }
        never x == 1 and not p@inside and y == 0
    ";
    assert_eq!(verdict(text, "sc"), Verdict::Violated);
    assert_eq!(verdict(&format!("{text} never p@head and x == 0"), "sc"), Verdict::Violated);
}

/// Only at the end of the whole process does a process end at a label.
#[test]
fn a_label_at_the_end_of_an_inner_block_is_left() {
    let text = "var x process p { choose { inner: } or { } } final exists p@inner";
    assert_eq!(verdict(text, "sc"), Verdict::Violated);
    let text = "var x process p { choose { inner: } or { } } never p@inner";
    assert_eq!(verdict(text, "sc"), Verdict::Violated);
    let text = "var x process p { choose { nop } or { } end: } final always p@end";
    assert_eq!(verdict(text, "sc"), Verdict::Holds);
}
