//! Reports as pages, in a real browser: they load without a complaint, can be stepped
//! through by keyboard alone, and show at every step what the JSON of the report says.
//! Without Chromium these tests are skipped.

#[path = "../common/mod.rs"]
mod common;
mod driver;
#[path = "../common/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use weir::report::scene::{Process, Scene, State};
use weir_gen::tools::are_installed;

use common::weir;
use driver::{Browser, CHROMIUM, Page};
use server::Served;

/// Writes the page of a command, and says where it is.
fn written(browser: &Browser, name: &str, args: &[&str]) -> String {
    let path = browser.folder().join(format!("{name}.html"));
    let shown = path.to_str().unwrap();
    let output = weir(&[args, &["--html", shown]].concat());
    assert!(output.status < 2 || output.status == 3, "weir {args:?}: {}", output.err);
    assert!(path.is_file(), "weir {args:?} wrote nothing: {}", output.err);
    format!("file://{shown}")
}

/// The data of a page: what `--format json` prints.
fn data(args: &[&str]) -> Value {
    let output = weir(&[args, &["--format", "json"]].concat());
    serde_json::from_str(output.out.lines().next().unwrap()).unwrap()
}

fn scene(value: &Value) -> Scene {
    serde_json::from_value(value.clone()).unwrap()
}

/// What the page shows of the machine.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
struct Shown {
    memory: BTreeMap<String, String>,
    lanes: Vec<Lane>,
}

/// What the page shows of a process.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
struct Lane {
    line: String,
    registers: BTreeMap<String, String>,
    /// The identities of what is under way, oldest first, queue after queue.
    queues: Vec<Vec<String>>,
}

const LOOK: &str = "(() => {
    const memory = {};
    for (const v of document.querySelectorAll('.memory .value')) memory[v.dataset.variable] = v.textContent;
    const lanes = [...document.querySelectorAll('.lane')].map((lane) => {
        const registers = {};
        for (const r of lane.querySelectorAll('.register')) {
            registers[r.dataset.register] = r.textContent.slice(r.dataset.register.length + 3);
        }
        const isLeft = lane.parentElement.classList.contains('toright');
        const queues = [...lane.querySelectorAll('.pipe')].map((pipe) => {
            const ids = [...pipe.querySelectorAll('.write')].map((w) => `${w.dataset.id} ${w.textContent}`);
            return isLeft ? ids.reverse() : ids;
        });
        return { line: lane.dataset.line, registers, queues };
    });
    return JSON.stringify({ memory, lanes });
})()";

fn looked(page: &Page<'_>) -> Shown {
    serde_json::from_str(&page.text(LOOK)).unwrap()
}

/// What the page has to show of a state.
fn expected(scene: &Scene, state: &State) -> Shown {
    let lane = |process: &Process| {
        let entry = |e: &weir::report::scene::Entry| match (&e.variable, &e.value) {
            (Some(x), Some(d)) if e.kind == "read" => format!("{} {x} is {d}?", e.id),
            (Some(x), Some(d)) => format!("{} {x} = {d}", e.id),
            _ => format!("{} {}", e.id, e.kind),
        };
        let queues = scene.variables.iter().filter_map(|x| process.waiting.get(x));
        let waiting = queues.map(|queue| queue.iter().map(entry).collect());
        let last = process.buffer.iter().map(entry).collect();
        let has_queues = scene.buffers != weir::report::scene::Buffers::None;
        Lane {
            line: process.place.line.map_or(String::new(), |line| line.to_string()),
            registers: process
                .registers
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
                .collect(),
            queues: if has_queues { waiting.chain([last]).collect() } else { vec![] },
        }
    };
    Shown { memory: state.memory.clone(), lanes: state.processes.iter().map(lane).collect() }
}

fn assert_quiet(page: &Page<'_>, what: &str) {
    let complaints = page.complaints();
    assert!(complaints.is_empty(), "{what}: {complaints:#?}");
}

fn step_of(page: &Page<'_>) -> String {
    page.text("document.querySelector('.count').textContent")
}

#[test]
fn a_run_is_stepped_through_by_keyboard() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let runs: [(&str, &[&str]); 7] = [
        ("sc", &["check", "examples/deadlock-violated.weir", "--model", "sc"]),
        ("tso", &["check", "examples/peterson.weir"]),
        ("pso", &["check", "corpus/mp-flag-2.weir", "--model", "pso"]),
        ("nsw", &["check", "examples/message-passing.weir", "--model", "nsw"]),
        ("guesses", &["check", "litmus/LB.litmus", "--model", "tso+r->w"]),
        ("remote", &["check", "litmus/IRIW.litmus", "--model", "nsw+rrwe"]),
        ("any", &["check", "litmus/MP.litmus", "--model", "w->r,w->w,r->r,r->w"]),
    ];
    for (name, args) in runs {
        let page = browser.open(&written(&browser, name, args));
        assert_quiet(&page, name);
        let data = data(args);
        let found = data["findings"].as_array().unwrap().iter();
        let found = found.map(|f| &f["evidence"]).find(|e| !e["scene"].is_null());
        let scene = scene(&found.unwrap_or_else(|| panic!("{name} has a run"))["scene"]);
        let states: Vec<State> = scene.states().collect();
        let count = scene.steps.len();
        // Forward, and back again.
        for (step, state) in states.iter().enumerate() {
            assert_eq!(step_of(&page), format!("step {step} of {count}"));
            assert_eq!(looked(&page), expected(&scene, state), "{name}, step {step}");
            page.press("ArrowRight");
        }
        for (step, state) in states.iter().enumerate().rev() {
            assert_eq!(looked(&page), expected(&scene, state), "{name}, back at step {step}");
            page.press("ArrowLeft");
        }
        page.press("End");
        assert_eq!(looked(&page), expected(&scene, &states[count]), "{name}, end");
        assert!(page.text("location.hash").contains(&format!("step={count}")));
        let sentence = page.text("document.querySelector('[aria-live]').textContent");
        assert!(sentence.starts_with(&format!("Step {count}.")), "{sentence}");
        page.press("Home");
        assert_eq!(step_of(&page), format!("step 0 of {count}"));
        let first = scene.steps.iter().position(|s| !s.overtakes.is_empty());
        page.press("r");
        let wanted = first.map_or(0, |i| i + 1);
        assert_eq!(step_of(&page), format!("step {wanted} of {count}"), "{name}");
        assert_quiet(&page, name);
    }
}

/// Presses Tab until an element with such a label has the keyboard.
fn tab_to(page: &Page<'_>, label: &str) {
    const LABEL: &str = "(() => { const e = document.activeElement; \
        return e === document.body ? '' : e.getAttribute('aria-label') ?? e.textContent; })()";
    for _ in 0..200 {
        if page.text(LABEL).contains(label) {
            return;
        }
        page.press("Tab");
    }
    panic!("no Tab leads to `{label}`");
}

#[test]
fn every_kind_of_report_is_shown() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let body = "document.body.innerText";

    // Answers, with the proof.
    let args = ["check", "examples/peterson-fenced.weir", "--engine", "views", "--verify"];
    let page = browser.open(&written(&browser, "holds", &args));
    let text = page.text(body);
    assert!(text.contains("mutex holds under TSO"), "{text}");
    assert!(text.contains("The checker accepts it."), "{text}");
    assert_quiet(&page, "holds");

    // Models side by side, and the run of one that is chosen.
    let args = ["compare", "examples/peterson.weir", "examples/message-passing.weir"];
    let page = browser.open(&written(&browser, "compare", &args));
    assert_eq!(page.value("document.querySelectorAll('tbody tr').length"), 3);
    tab_to(&page, "no_old_news under PSO");
    page.press("Enter");
    assert!(page.text(body).contains("no_old_news is violated under PSO"));
    page.press("ArrowRight");
    assert!(step_of(&page).starts_with("step 1 of"));
    assert_quiet(&page, "compare");

    // Final states, and how each is reached.
    let args = ["outcomes", "litmus/SB.litmus"];
    let page = browser.open(&written(&browser, "outcomes", &args));
    let data = data(&["outcomes", "litmus/SB.litmus", "--runs"]);
    for number in 1..=4 {
        tab_to(&page, &format!("how state {number} is reached"));
        page.press("Enter");
        page.press("End");
        let scene = scene(&data["findings"][0]["details"]["runs"][number - 1]);
        let last = scene.states().last().unwrap();
        assert_eq!(looked(&page), expected(&scene, &last), "state {number}");
    }
    assert_quiet(&page, "outcomes");

    // An infinite run goes on with its cycle.
    let args = ["live", "examples/live.weir"];
    let page = browser.open(&written(&browser, "live", &args));
    let live = self::data(&args);
    let scene = scene(&live["findings"][0]["evidence"]["scene"]);
    let (count, cycle) = (scene.steps.len(), scene.cycle.unwrap());
    page.press("End");
    page.press("ArrowRight");
    assert_eq!(step_of(&page), format!("step {cycle} of {count}"));
    assert_eq!(page.value("document.querySelectorAll('.lasso .dot').length"), count);
    assert_eq!(
        page.text("document.querySelector('.lasso .dot.now text').textContent"),
        cycle.to_string()
    );
    assert_quiet(&page, "live");

    // The cycle of a trace.
    let args = ["robust", "examples/peterson.weir"];
    let page = browser.open(&written(&browser, "robust", &args));
    let edges =
        self::data(&args)["findings"][0]["details"]["cycle"]["cycle"].as_array().unwrap().len();
    assert_eq!(page.value("document.querySelectorAll('svg.trace .edge').length"), edges);
    assert_quiet(&page, "robust");

    // Sets of fences, and the run without one.
    let args = ["fences", "corpus/dekker-2.weir", "--model", "pso"];
    let page = browser.open(&written(&browser, "fences", &args));
    let sets = self::data(&args)["findings"][0]["details"]["sets"].clone();
    for (number, set) in sets.as_array().unwrap().iter().enumerate() {
        tab_to(&page, &format!("show set {}", number + 1));
        page.press("Enter");
        let fences = set["fences"].as_array().unwrap().len();
        assert_eq!(page.value("document.querySelectorAll('.inserted').length"), fences);
        let patch = page.text("document.querySelector('.patch').textContent");
        assert_eq!(patch.trim_end(), set["patch"].as_str().unwrap().trim_end());
    }
    tab_to(&page, "the run without the fence");
    page.press("Enter");
    page.press("End");
    let steps = sets[1]["fences"][0]["without"]["steps"].to_string();
    assert_eq!(step_of(&page), format!("step {steps} of {steps}"));
    assert_quiet(&page, "fences");
}

/// A page does not say less than the text, nor anything else.
#[test]
fn pages_say_what_texts_say() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let said = |name: &str, args: &[&str]| {
        let page = browser.open(&written(&browser, name, args));
        let text = page.text("document.body.innerText");
        assert_quiet(&page, name);
        (page, text)
    };

    // No fences help: the run that shows it.
    let (page, text) = said("beyond", &["fences", "examples/deadlock-violated.weir"]);
    assert!(text.contains("Under SC no deadlock of line 29 is violated."), "{text}");
    page.press("End");
    assert_eq!(step_of(&page), "step 6 of 6");

    // Fences that the program has are not inserted once more.
    let args = ["fences", "examples/peterson-fenced.weir", "--redundant"];
    let (page, text) = said("redundant", &args);
    assert!(text.contains("Under TSO 1 of its 2 fences is enough"), "{text}");
    assert!(text.contains("line 25: wfence, not needed"), "{text}");
    assert!(text.contains("line 27: fence, needed"), "{text}");
    assert_eq!(page.value("document.querySelectorAll('.inserted').length"), 0);

    // A fence stands behind a transition, and the language has its own word for it.
    let (page, text) = said("behind", &["fences", "corpus/trencher/peterson.txt"]);
    assert!(text.contains("mfence behind line 8: transition 1 2 write 1 turn."), "{text}");
    assert!(text.contains("Without it, ends is allowed, in 13 steps."), "{text}");
    let before = "document.querySelector('.inserted').previousElementSibling.dataset.line";
    assert_eq!(page.text(before), "8");

    // A run without a step.
    let program = browser.folder().join("zero.weir");
    std::fs::write(&program, "var x: 0..1\nprocess a { x = 1 }\np: never x == 0\n").unwrap();
    let (page, text) = said("zero", &["check", program.to_str().unwrap()]);
    assert!(text.contains("It is so at the beginning, before the first step."), "{text}");
    assert!(text.contains("The run has no step."), "{text}");
    assert!(text.contains("So p is violated."), "{text}");
    assert!(!text.contains("Press →"), "{text}");
    page.press("ArrowRight");
    page.press(" ");
    assert_eq!(step_of(&page), "step 0 of 0");

    // No final state was found.
    let (_, text) = said("none", &["outcomes", "examples/peterson.weir", "--engine", "explicit"]);
    assert!(text.contains("peterson under TSO: no final state was found"), "{text}");
    assert!(text.contains("but there may be some"), "{text}");

    // Names in sentences, and several programs in one table.
    let (_, text) = said("argument", &["game", "examples/games/figure-6.weir"]);
    assert!(text.contains("Why: by playing in p only."), "{text}");
    let args = ["compare", "litmus/SB.litmus", "litmus/MP.litmus"];
    let (_, text) = said("several", &args);
    assert!(text.contains("weir compare · 2 programs"), "{text}");

    // A property that has several lines, one that stands in a comment, and one that stands nowhere.
    let (_, text) = said("lines", &["check", "corpus/iriw-2.weir", "--model", "nsw"]);
    assert!(text.contains("It says: final never (p[0].r == 1 and"), "{text}");
    let (_, text) = said("promela", &["check", "corpus/promela/dekker.pml"]);
    assert!(text.contains("It says: never P[0]@cs and P[1]@cs."), "{text}");
    let (page, _) = said("implicit", &["check", "corpus/promela/deadlock.pml", "--model", "sc"]);
    let first = "document.querySelector('.banner').innerText";
    assert!(!page.text(first).contains("Two locks"), "{}", page.text(first));

    // Processes whose names differ only in the end can be told apart.
    let (page, _) = said("names", &["check", "corpus/promela/peterson.pml"]);
    let are_whole = "[...document.querySelectorAll('.names .name')].every((n) => n.scrollWidth <= n.clientWidth)";
    assert_eq!(page.value(are_whole), true);
}

#[test]
fn points_of_measured_runs_are_pointed_at() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let row = |name: &str, seconds: f64| {
        serde_json::json!({
            "program": name, "model": "TSO", "engine": "auto", "answered": "views", "verdicts": "holds",
            "exact": true, "configurations": 70, "seconds": seconds, "peak_mib": 12.5,
            "instructions": null, "spin_states": null, "spin_seconds": null,
        })
    };
    let rows = [row("<b>first</b>", 0.5), row("second", 0.004)];
    let mut made = weir::report::page::Page::new("bench");
    made.report("weir-bench", &serde_json::json!({ "version": 1, "rows": rows })).unwrap();
    let path = browser.folder().join("bench.html");
    std::fs::write(&path, made.html()).unwrap();
    let page = browser.open(&format!("file://{}", path.display()));
    assert_eq!(page.value("document.querySelectorAll('.point').length"), 2);
    tab_to(&page, "second under TSO");
    let said = page.text("document.querySelector('[aria-live]').textContent");
    assert!(said.contains("0.004 seconds, 70 configurations"), "{said}");
    tab_to(&page, "sort by program");
    page.press("Enter");
    let first = page.text("document.querySelector('tbody td').textContent");
    assert_eq!(first, "<b>first</b>");
    assert_quiet(&page, "bench");
}

#[test]
fn a_game_is_played_against_the_strategy() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let args = ["game", "examples/games/handshake.weir"];
    let page = browser.open(&written(&browser, "game", &args));
    let play = data(&args)["findings"][0]["details"]["play"].clone();
    assert_eq!(play["person"], "update");
    let mut node = &play["nodes"][0];
    let said = "document.querySelector('[aria-live]').textContent";
    // Whatever is played, the page is where the board says; the first move ends the turn.
    for _ in 0..10 {
        let shown = page.text(
            "JSON.stringify([...document.querySelectorAll('.move')].map((m) => m.ariaLabel))",
        );
        let moves = node["moves"].as_array().unwrap();
        let texts: Vec<&Value> = moves.iter().map(|m| &m["text"]).collect();
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), serde_json::json!(texts));
        let memory = page.text("JSON.stringify([...document.querySelectorAll('.memory .value')].map((v) => v.textContent))");
        let values: Vec<&Value> = node["memory"].as_object().unwrap().values().collect();
        assert_eq!(serde_json::from_str::<Value>(&memory).unwrap(), serde_json::json!(values));
        let Some(first) = moves.first() else { break };
        tab_to(&page, first["text"].as_str().unwrap());
        page.press("Enter");
        node = &play["nodes"][first["to"].as_u64().unwrap() as usize];
    }
    assert!(node["over"].is_object(), "{node}");
    assert!(page.text(said).contains("You lose"), "{}", page.text(said));
    assert_quiet(&page, "game");
}

#[test]
fn a_graph_is_searched_and_walked() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let args = ["graph", "examples/peterson.weir", "--bound", "6"];
    let page = browser.open(&written(&browser, "graph", &args));
    let drawn = "document.querySelector('canvas').dataset";
    page.until(&format!("{drawn}.drawn"));
    let states: usize = page.text(&format!("{drawn}.drawn")).parse().unwrap();
    assert!(states > 3000, "{states}");
    tab_to(&page, "the graph of states");
    page.press("ArrowDown");
    page.until(&format!("{drawn}.selected !== '0'"));
    page.press("Home");
    page.until(&format!("{drawn}.selected === '0'"));
    // Steps are taken by hand, and taken back.
    let title = "document.querySelector('.beside section h2')?.textContent ?? ''";
    tab_to(&page, "take this step");
    page.press("Enter");
    assert_eq!(page.text(title), "Your walk: 1 step");
    tab_to(&page, "take back the last step");
    page.press("Enter");
    assert_eq!(page.text(title), "");
    // A run to a state that settles the property has as many steps as the shortest one.
    tab_to(&page, "a run to state");
    page.press("Enter");
    let found = page.text(title);
    assert!(found.starts_with("A run of 6 steps to state"), "{found}");
    // What one process does alone is less.
    page.value(
        "(() => { const s = document.querySelector('select'); s.value = '0'; \
         s.dispatchEvent(new Event('change')); })()",
    );
    page.until(&format!("Number({drawn}.drawn) < {states}"));
    let slowest = page.value(
        "(async () => {
            const s = document.querySelector('select');
            s.value = '';
            s.dispatchEvent(new Event('change'));
            const canvas = document.querySelector('canvas');
            let slowest = 0;
            for (const key of ['-', '-', '-', 'ArrowDown', 'ArrowDown', 'ArrowRight', '+', '+', 'Home']) {
                const began = performance.now();
                canvas.dispatchEvent(new KeyboardEvent('keydown', { key }));
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                slowest = Math.max(slowest, performance.now() - began);
            }
            return slowest;
        })()",
    );
    println!("a graph of {states} states: the slowest frame took {slowest} ms");
    assert_quiet(&page, "graph");
}

#[test]
fn a_program_is_edited_and_checked() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let served = Served::start(&["examples/peterson.weir"]);
    let page = browser.open(&served.address());
    let text = "document.querySelector('textarea').value";
    page.until(&format!("{text}.includes('Peterson')"));
    assert_quiet(&page, "serve");

    // The report beside the text is that of the command line.
    tab_to(&page, "answer every property under the memory model");
    page.press("Enter");
    page.until("document.querySelector('.count')");
    let data = data(&["check", "examples/peterson.weir"]);
    let scene = scene(&data["findings"][0]["evidence"]["scene"]);
    for state in scene.states() {
        assert_eq!(looked(&page), expected(&scene, &state));
        page.press("ArrowRight");
    }
    assert_quiet(&page, "serve, checked");

    // Errors as one types, and none any more.
    tab_to(&page, "the text of the program");
    page.write("var wrong: oops\n");
    page.until("document.querySelectorAll('.problems li').length > 0");
    page.value(
        "(() => { const t = document.querySelector('textarea'); \
         t.value = t.value.replace('var wrong: oops\\n', ''); \
         t.dispatchEvent(new Event('input')); })()",
    );
    page.until("document.querySelectorAll('.problems li').length === 0");

    // A repair, another program, and a file to give to others.
    tab_to(&page, "find the least fences");
    page.press("Enter");
    page.until("document.querySelector('.patch')");
    page.value(
        "(() => { const s = document.querySelector('select'); \
         s.value = [...s.options].find((o) => o.text === 'SB.litmus').value; \
         s.dispatchEvent(new Event('change')); })()",
    );
    page.until(&format!("{text}.startsWith('X86 SB')"));
    tab_to(&page, "list all final states");
    page.press("Enter");
    page.until("document.body.innerText.includes('can end in 4 states under TSO')");
    let saved = page.text("document.querySelector('a[download]').getAttribute('href')");
    // The link is relative to the address with the token.
    assert!(served.get(&format!("/{saved}")).body.contains("SB.litmus"));
    assert_quiet(&page, "serve, at the end");
}

#[test]
fn a_link_keeps_the_step() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let address = written(&browser, "peterson", &["check", "examples/peterson.weir"]);
    let page = browser.open(&format!("{address}#step=4"));
    assert_eq!(step_of(&page), "step 4 of 6");
    // Whoever edits the address gets there, too.
    page.value("location.hash = '#step=2'");
    page.until("document.querySelector('.count').textContent === 'step 2 of 6'");
    // With Tab alone one gets to the buttons.
    for _ in 0..40 {
        if page.text("document.activeElement.getAttribute('aria-label') ?? ''").contains("forward")
        {
            break;
        }
        page.press("Tab");
    }
    page.press("Enter");
    assert_eq!(step_of(&page), "step 3 of 6");
    assert_quiet(&page, "peterson");
}

#[test]
fn hostile_names_are_text() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let name = "<img src=x onerror=alert(1)>\"'&</script><script>window.broken = 1;\u{202e}.weir";
    let long = format!("v{}", "ery_long".repeat(60));
    let text = format!(
        "// <script>window.broken = 1</script> <!-- \u{202e}\"'&\nvar {long}, y\n\
         process p {{ reg r   {long} = 1   r = y }}\nprocess q {{ reg r   y = 1   r = {long} }}\n\
         both: final never p.r == 0 and q.r == 0\n"
    );
    let path = browser.folder().join(name.replace('/', "∕"));
    std::fs::write(&path, text).unwrap();
    let program = path.to_str().unwrap();
    let page = browser.open(&written(&browser, "hostile", &["check", program]));
    page.press("End");
    assert_quiet(&page, "hostile");
    assert_eq!(page.value("window.broken ?? null"), Value::Null);
    assert_eq!(page.value("document.querySelectorAll('img').length"), 0);
    assert_eq!(page.value("document.querySelectorAll('script').length"), 2);
    let shown = page.text("document.querySelector('.source').textContent");
    assert!(shown.contains("<script>window.broken = 1</script> <!-- \\u{202e}\"'&"), "{shown}");
    assert!(!page.text("document.body.innerText").contains('\u{202e}'));
    assert!(
        page.text("document.querySelector('.crumbs').textContent").contains("onerror=alert(1)")
    );
    // Nothing is wider than the window, on a phone too.
    page.narrow();
    assert_eq!(page.value("document.documentElement.scrollWidth <= innerWidth"), true);
}

#[test]
fn pages_are_small_and_quick() {
    if !are_installed(&[CHROMIUM]) {
        return;
    }
    let browser = Browser::start();
    let run = |count: usize, name: &str| {
        let path = browser.folder().join(format!("{name}.weir"));
        let text = format!(
            "var x: 0..1, y, z\nprocess p {{ reg i: 0..{count}   while i < {count} {{ x = 1 - x   i = i + 1 }}   y = 1 }}\n\
             process q {{ reg r   z = 1   r = y }}\nlate: final never q.r == 1\n"
        );
        std::fs::write(&path, text).unwrap();
        let page = written(&browser, name, &["check", path.to_str().unwrap(), "--model", "sc"]);
        (
            page.clone(),
            std::fs::metadata(Path::new(page.strip_prefix("file://").unwrap())).unwrap().len(),
        )
    };
    let (address, size) = run(49, "hundred");
    let page = browser.open(&address);
    let steps = page.value("document.querySelector('input[type=range]').max").to_string();
    println!("a run of {steps} steps: {size} bytes");
    assert!(size < 300_000, "a run of {steps} steps has {size} bytes");
    let (address, size) = run(2500, "long");
    let page = browser.open(&address);
    let steps = page.value("document.querySelector('input[type=range]').max").to_string();
    let slowest = page.value(
        "(async () => {
            let slowest = 0;
            const key = (k) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
            const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            for (const k of ['End', ...Array(20).fill('ArrowLeft'), 'Home', ...Array(20).fill('ArrowRight')]) {
                const began = performance.now();
                key(k);
                await frame();
                slowest = Math.max(slowest, performance.now() - began);
            }
            return slowest;
        })()",
    );
    println!("a run of {steps} steps: {size} bytes, the slowest frame took {slowest} ms");
    assert_quiet(&page, "long");
}
