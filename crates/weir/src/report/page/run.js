// A run that can be stepped through.

/// States are kept after every so many steps; the others are made from these.
const KEPT = 64;

/// So many of the others are kept, too: those that were asked for last.
const RECENT = 200;

/// A run from its scene: what the views need, computed in one pass. Steps count from 1;
/// `state(n)` is the state after `n` steps.
function runOf(scene, source) {
    const processes = scene.processes.map((p) => p.name);
    const index = new Map(processes.map((name, i) => [name, i]));
    const lines = source.text.split("\n");
    const entries = new Map();
    const left = new Map();
    const waits = [];
    const overtakes = [];
    const named = new Set();
    const steps = scene.steps.map((step, i) => {
        const process = index.get(step.process);
        for (const entry of step.enters ?? []) {
            entries.set(entry.id, { ...entry, process });
            if (entry.variable !== undefined)
                waits.push({ process, from: entry.id, to: null, title: entryText(entry) });
        }
        for (const id of step.leaves ?? []) left.set(id, i + 1);
        if (step.overtakes?.length) {
            overtakes.push({ process, at: i + 1, early: { step: i + 1 }, late: step.overtakes });
            [i + 1, ...step.overtakes.map((o) => o.step)].forEach((n) => named.add(n));
        }
        const isMemory = step.line === undefined;
        return { process, label: step.text, short: shortened(step.text), isMemory };
    });
    for (const wait of waits) wait.to = left.get(wait.from) ?? null;
    const states = [scene.start];
    const recent = new Map();
    // Nobody changes a state that was made.
    const state = (number) => {
        if (recent.has(number)) return recent.get(number);
        const made = make(number);
        recent.set(number, made);
        if (recent.size > RECENT) recent.delete(recent.keys().next().value);
        return made;
    };
    const make = (number) => {
        if (recent.has(number - 1)) {
            const made = structuredClone(recent.get(number - 1));
            applyStep(scene, index, made, scene.steps[number - 1]);
            return made;
        }
        const base = Math.min(Math.floor(number / KEPT), states.length - 1);
        if (number === base * KEPT) return states[base];
        const made = structuredClone(states[base]);
        for (let i = base * KEPT; i < number; i++) {
            if (i > base * KEPT && i % KEPT === 0 && states.length === i / KEPT)
                states.push(structuredClone(made));
            applyStep(scene, index, made, scene.steps[i]);
        }
        return made;
    };
    return {
        scene,
        processes,
        index,
        steps,
        entries,
        left,
        waits,
        overtakes,
        state,
        named: [...named].sort((a, b) => a - b),
        loop: scene.cycle ? scene.cycle - 1 : null,
        placeText: (place) => statement(lines, place),
    };
}

/// The text of the statement at a place.
function statement(lines, place) {
    const line = lines[(place.line ?? 0) - 1] ?? "";
    const [first, from, last, to] = place.span ?? [];
    const part =
        first === place.line && last === first && to > from
            ? [...line].slice(from - 1, to - 1).join("")
            : line.replace(/\s*\/\/.*$/, "");
    return part.trim();
}

/// What a step does, for a small box.
function shortened(text) {
    const shorter = text.replace(/ reaches memory$/, " → memory").replace(/ \(next in line\)$/, " moves on");
    return shorter
        .replace(/ = /g, "=")
        .replace(/ → /g, "→")
        .replace(/→memory$/, " → memory")
        .replace(/^read /, "r ")
        .replace(/ \(an older value\)$/, " (old)")
        .replace(/ \(own write\)$/, " (own)");
}

/// Makes a step: what the report says that it changes.
function applyStep(scene, index, state, step) {
    for (const [name, value] of Object.entries(step.memory ?? {})) {
        state.memory[name] = value;
        if (scene.buffers === "history") state.history?.[name]?.push(value);
    }
    if (step.message) state.history?.[step.variable]?.splice(step.message.position, 0, step.message.value);
    for (const process of state.processes) {
        for (const id of step.leaves ?? []) takeEntry(process, id);
    }
    const process = state.processes[index.get(step.process)];
    if (step.place) process.place = step.place;
    Object.assign(process.registers, step.registers);
    const twoLevels = scene.buffers === "two-level" || scene.buffers === "history";
    for (const entry of step.enters ?? []) {
        if (twoLevels && entry.variable !== undefined) {
            process.waiting ??= {};
            (process.waiting[entry.variable] ??= []).push(entry);
        } else process.buffer.push(entry);
    }
    for (const id of step.moves ?? []) {
        const moved = takeEntry(process, id);
        if (moved) process.buffer.push(moved);
    }
    for (const [name, positions] of Object.entries(step.positions ?? {})) {
        const other = state.processes[index.get(name)];
        other.positions = { ...other.positions, ...positions };
    }
}

/// Takes what has an identity out of the buffers of a process.
function takeEntry(process, id) {
    const at = process.buffer.findIndex((e) => e.id === id);
    if (at >= 0) return process.buffer.splice(at, 1)[0];
    for (const [variable, queue] of Object.entries(process.waiting ?? {})) {
        const found = queue.findIndex((e) => e.id === id);
        if (found < 0) continue;
        const [taken] = queue.splice(found, 1);
        if (!queue.length) delete process.waiting[variable];
        return taken;
    }
    return null;
}

/// The view of a run that the keyboard belongs to.
let activeRun = null;

/// What else wants to know where processes are, with the text that the lines are of.
let follower = null;

const PACE = 1700;

/// A run with its text, its machine, its steps and what was reordered. `ending` is said
/// after the last step.
function runView(scene, source, ending) {
    const run = runOf(scene, source);
    const count = run.steps.length;
    const text = sourcePanel(source);
    const machine = stage(run);
    const times = timeline(run, (step) => go(step));
    const said = announcer();
    const round = run.loop === null ? null : lasso(run, (step) => go(step));
    const list = stepList(run, (step) => go(step), ending);
    let current = 0;
    let playing = null;

    const range = el("input", {
        type: "range",
        min: 0,
        max: count,
        value: 0,
        "aria-label": "step",
        oninput: () => go(Number(range.value)),
    });
    const where = el("span", { class: "count", "aria-hidden": true });
    const play = button("▶ play", "play the run (space)", () => toggle());
    const stops = [
        button("|◀", "to the beginning (Home)", () => go(0)),
        button("◀ back", "one step back (←)", () => back()),
        button("next ▶", "one step forward (→)", () => forward(), { class: "main" }),
        button("▶|", "to the end (End)", () => go(count)),
    ];
    play.disabled = count === 0;
    const first = run.overtakes[0]?.at;
    const controls = el(
        "div",
        { class: "controls", role: "toolbar", "aria-label": "steps" },
        stops,
        play,
        range,
        where,
        first
            ? button("first reordering", `to the first reordering, step ${first} (r)`, () => go(first))
            : null,
    );

    const stop = () => {
        clearInterval(playing);
        playing = null;
        play.replaceChildren("▶ play");
    };
    const toggle = () => {
        if (playing !== null) return stop();
        if (count === 0) return;
        if (current === count && run.loop === null) go(0);
        play.replaceChildren("⏸ pause");
        playing = setInterval(() => {
            if (current === count && run.loop === null) stop();
            else forward(true);
        }, PACE);
    };
    const forward = (keep) =>
        current < count ? go(current + 1, keep) : run.loop === null ? null : go(run.loop + 1, keep);
    const back = () => (current > 0 ? go(current - 1) : null);

    const go = (wanted, keep) => {
        if (!keep && playing !== null) stop();
        const step = Math.max(0, Math.min(count, wanted));
        const from = current;
        current = step;
        range.value = step;
        range.setAttribute("aria-valuetext", `step ${step} of ${count}`);
        where.replaceChildren(`step ${step} of ${count}`);
        stops[0].disabled = stops[1].disabled = step === 0;
        stops[3].disabled = step === count;
        stops[2].disabled = step === count && run.loop === null;
        machine.show(step, from);
        times.mark(step);
        round?.mark(step);
        list.mark(step);
        const state = run.state(step);
        const places = state.processes.flatMap((p, process) =>
            p.place.ended ? [] : [{ line: p.place.line, process, name: run.processes[process] }],
        );
        text.mark(places, step > 0 ? (run.scene.steps[step - 1].line ?? 0) : 0);
        follower?.(source.text, places);
        speak(step);
        toAddress({ step });
    };
    const speak = (step) => {
        said.className = `sentence ${step > 0 ? hue(run.steps[step - 1].process) : ""}`;
        said.replaceChildren();
        if (step === 0) {
            append(said, [
                "The beginning. ",
                count > 0
                    ? el("span", { class: "why" }, "Press → for the first step, or “play”. ")
                    : el("span", { class: "why" }, "The run has no step. "),
                WAITING[run.scene.buffers] === "" ? "" : "Nothing waits in any buffer.",
                count === 0 && ending ? [" ", el("strong", {}, ending)] : "",
            ]);
            return;
        }
        const { main, why, alert } = sentence(run, step);
        append(said, [
            el("strong", {}, `Step ${step}. `),
            main,
            " ",
            el("span", { class: "why" }, why),
            " ",
            alert.length ? el("span", { class: "alert" }, alert) : null,
        ]);
        if (step === count && ending) append(said, [" ", el("strong", {}, ending)]);
        if (step === count && run.loop !== null)
            append(said, [" ", el("strong", {}, `The run goes on with step ${run.loop + 1}, for ever.`)]);
    };
    const key = (event) => {
        if (isTyping(event)) return;
        const inBox = event.target.closest?.(".timeline, .source");
        const act = {
            ArrowRight: forward,
            ArrowLeft: back,
            Home: () => go(0),
            End: () => go(count),
            r: () => first && go(first),
        }[event.key];
        if (act) {
            if (event.target !== range || event.key === "r") {
                act();
                event.preventDefault();
            } else if (event.key === "ArrowRight" && current === count) act();
        } else if (event.key === " " && event.target.tagName !== "BUTTON" && !inBox) {
            toggle();
            event.preventDefault();
        }
    };
    const right = el(
        "div",
        { class: "right" },
        el("p", { class: "legend" }, MACHINES[scene.buffers]),
        controls,
        said,
        machine.element,
        round?.element ?? null,
        times.element,
        el("p", { class: "legend" }, legendOf(run)),
    );
    const explained = run.overtakes.slice(0, 12).map((o) => overtakeItem(run, o, go));
    const element = el(
        "section",
        { class: "runview" },
        el("div", { class: "run" }, el("div", { class: "left" }, text.element), right),
        explained.length
            ? [
                  el("h2", {}, "What was reordered"),
                  el("ul", { class: "overtakes" }, explained),
                  run.overtakes.length > explained.length
                      ? el("p", { class: "quiet" }, `and ${run.overtakes.length - explained.length} more`)
                      : null,
              ]
            : null,
        count > 0 ? [el("h2", {}, "All steps"), list.element] : null,
    );
    return {
        element,
        go,
        run,
        current: () => current,
        start: () => {
            activeRun?.stop();
            activeRun = { key, go, stop, run, current: () => current };
            go(Number(fromAddress("step") ?? 0) || 0);
        },
    };
}

function legendOf(run) {
    const parts = ["Time goes from left to right. "];
    if (run.scene.steps.some((step) => step.synchronizes?.length))
        parts.push("An arrow leads from a step to one that synchronizes with it. ");
    if (run.scene.buffers === "messages")
        parts.push("Below each variable are its writes, oldest first, and who may still read from which on. ");
    if (run.waits.length)
        parts.push(
            "A bar below a write lasts as long as the write waits; dashed, it never reaches memory in this run. Filled boxes are steps of memory. ",
        );
    if (run.overtakes.length) parts.push("A red arc leads from an operation back over what it overtook.");
    return parts;
}

/// All steps in words. Long runs are folded.
function stepList(run, go, ending) {
    const element = el("ol", { class: "steps" });
    const opened = [];
    let rows = new Map();
    let current = 0;
    const draw = () => {
        rows = new Map();
        const items = folded(run, current, opened).map((item) => {
            if (!item.step) {
                const text = counted(item.to - item.from + 1, "step");
                return el(
                    "li",
                    {},
                    button(
                        `… show ${text}`,
                        `show ${text}`,
                        () => {
                            opened.push([item.from, Math.min(item.to, item.from + OPENED - 1)]);
                            draw();
                            mark(current);
                        },
                        { class: "fold" },
                    ),
                );
            }
            const { main, why, alert } = sentence(run, item.step);
            const step = run.steps[item.step - 1];
            const row = el(
                "li",
                { "data-step": item.step, class: hue(step.process) },
                button(`${item.step}`, `go to step ${item.step}`, () => go(item.step), { class: "go" }),
                el(
                    "span",
                    {},
                    main,
                    " ",
                    el("span", { class: "why" }, why),
                    alert.length
                        ? [" ", el("span", { class: "relax" }, "⚠ "), el("span", { class: "why" }, alert)]
                        : null,
                    item.step === run.steps.length && ending ? [" ", el("strong", {}, ending)] : null,
                ),
            );
            rows.set(item.step, row);
            return row;
        });
        element.replaceChildren(...items);
    };
    const mark = (step) => {
        const isHidden = step > 0 && !rows.has(step);
        rows.get(current)?.removeAttribute("aria-current");
        current = step;
        if (isHidden || !element.firstChild) draw();
        rows.get(step)?.setAttribute("aria-current", "step");
    };
    return { element, mark };
}

addEventListener("keydown", (event) => activeRun?.key(event));
addEventListener("hashchange", () => {
    const step = Number(fromAddress("step") ?? 0);
    if (activeRun && step !== activeRun.current()) activeRun.go(step);
});
