// The machine at one moment: a lane for each process with its registers and its store
// buffer, memory in the middle. Writes keep their identity, so they can be seen to travel.

/// Longer queues are shortened to this many entries.
const MOST_ENTRIES = 8;

const TRAVEL = 650;

/// Machines in which older values can be read.
const HISTORIES = ["history", "messages"];

/// The stage of a run. `show(step, from)` draws the state after a step; writes travel if
/// `from` is the step beside it.
function stage(run) {
    const { scene } = run;
    const half = Math.ceil(scene.processes.length / 2);
    const sides = [el("div", { class: "side toright" }), el("div", { class: "side toleft" })];
    const cells = el("div", { class: "cells" });
    const memory = el("section", { class: "memory", "aria-label": "memory" }, el("h3", {}, "memory"), cells);
    const element = el("div", { class: "stage" }, sides[0], memory, sides[1]);
    const lanes = scene.processes.map((actor, i) => {
        const place = el("div", { class: "place" });
        const registers = el("div", { class: "registers" });
        const queues = el("div", {});
        const lane = el(
            "section",
            { class: `lane ${hue(i)}`, "data-process": actor.name, "aria-label": `process ${actor.name}` },
            el("h3", {}, el("bdi", { title: actor.name }, actor.name)),
            place,
            registers,
            queues,
        );
        sides[i < half ? 0 : 1].append(lane);
        return { lane, place, registers, queues };
    });
    const values = new Map();
    const histories = new Map();
    for (const name of scene.variables) {
        const value = el("span", { class: "value", "data-variable": name });
        values.set(name, value);
        cells.append(
            el("div", { class: "variable" }, el("bdi", { class: "name", title: name }, name), value),
        );
        if (HISTORIES.includes(scene.buffers)) {
            const past = el("div", { class: "past" });
            histories.set(name, past);
            cells.append(past);
        }
    }

    const show = (number, from) => {
        const state = run.state(number);
        const step = number > 0 ? scene.steps[number - 1] : null;
        const moving = mayMove() && Math.abs(number - from) === 1;
        element.querySelectorAll(".flying").forEach((copy) => copy.remove());
        const places = moving ? rectangles(element) : new Map();
        const acting = step ? run.steps[number - 1].process : -1;
        lanes.forEach((parts, i) => drawLane(run, parts, state.processes[i], i, step, acting));
        for (const name of scene.variables) {
            const value = values.get(name);
            const text = state.memory[name];
            const changed = step !== null && step.memory?.[name] !== undefined;
            const isSource = step !== null && step.rule === "read memory" && step.variable === name;
            value.className = `value${changed ? ` changed ${hue(acting)}` : ""}${isSource ? " source" : ""}`;
            value.replaceChildren(shown(text));
            value.title = `${shown(name)} = ${shown(text)}`;
            if (histories.has(name)) drawHistory(run, histories.get(name), state, name, step);
        }
        if (moving) travel(element, places, run, number, from, values);
    };
    return { element, show };
}

function drawLane(run, parts, process, index, step, acting) {
    const { scene } = run;
    parts.lane.classList.toggle("acting", index === acting);
    const at = process.place;
    const text = run.placeText(at);
    const where = at.failure
        ? ["fails: ", code(at.failure)]
        : at.ended
          ? ["has ended"]
          : at.labels?.length
            ? ["at ", listed(at.labels.map(code)), at.line ? `, line ${at.line}` : ""]
            : at.line
              ? [`next is line ${at.line}: `, code(cut(text, 44))]
              : [];
    parts.lane.dataset.line = at.line ?? "";
    parts.place.replaceChildren();
    append(parts.place, where);
    const known = scene.processes[index].registers.filter((r) => process.registers[r] !== null);
    parts.registers.replaceChildren(
        ...known.map((r) =>
            el(
                "bdi",
                { class: "register", "data-register": r, title: "a register: only this process has it" },
                `${r} = ${process.registers[r]}`,
            ),
        ),
    );
    if (WAITING[scene.buffers] === "") {
        parts.queues.replaceChildren();
        return;
    }
    const source =
        step && index === run.index.get(step.source ?? step.process) && /own write|remote/.test(step.rule)
            ? step.entry
            : null;
    const queues = [];
    for (const variable of scene.variables) {
        const entries = process.waiting?.[variable];
        if (entries) queues.push(queue(run, ["writes to ", code(variable)], entries, index, source, "first"));
    }
    const label =
        {
            "two-level": "next for memory",
            history: "next for memory",
            load: "values from memory",
            pool: "waiting operations",
        }[scene.buffers] ?? "store buffer";
    queues.push(queue(run, [label], process.buffer, index, source, "last"));
    parts.queues.replaceChildren(...queues);
}

/// A queue. Its oldest entry is nearest to memory.
function queue(run, label, entries, index, source, level) {
    const item = (entry) =>
        el(
            "span",
            {
                class: `write${entry.variable === undefined ? " mark" : ""}${entry.id === source ? " source" : ""}`,
                "data-id": entry.id,
                title: `${entryText(entry)}, from step ${entry.id}`,
            },
            cut(entryText(entry), 22),
        );
    let items;
    if (entries.length > MOST_ENTRIES) {
        const half = MOST_ENTRIES / 2;
        const rest = el("span", { class: "none" }, `… ${entries.length - MOST_ENTRIES} more …`);
        items = [...entries.slice(0, half).map(item), rest, ...entries.slice(-half).map(item)];
    } else items = entries.map(item);
    const isLeft = index < Math.ceil(run.processes.length / 2);
    const pipe = el("div", { class: "pipe", role: "list" });
    items.forEach((i) => i.setAttribute("role", "listitem"));
    if (!items.length) pipe.append(el("span", { class: "none" }, "empty"));
    const arrow = el(
        "span",
        { class: "arrow", "aria-hidden": true },
        level === "first" ? "↓" : isLeft ? "→" : "←",
    );
    pipe.append(...(isLeft ? [...items.reverse(), arrow] : [arrow, ...items]));
    const ends =
        entries.length > 1
            ? el("span", { class: "quiet" }, isLeft ? "newest … oldest" : "oldest … newest")
            : null;
    return el(
        "div",
        { class: `queue ${level}` },
        el("div", { class: "label" }, el("span", {}, label), ends),
        pipe,
    );
}

/// The values that a variable has had, and where each process stands in them. What the step reads or writes is marked.
function drawHistory(run, past, state, name, step) {
    const all = state.history[name] ?? [];
    const positions = state.processes.map((p) => p.positions?.[name]);
    const mine = step !== null && step.variable === name;
    const written = mine ? step.message?.position : undefined;
    const read = mine ? step.reads : undefined;
    const first = Math.max(0, Math.min(all.length - 1, ...[...positions, read, written].filter((p) => p !== undefined)));
    const begin = Math.max(first, all.length - MOST_ENTRIES);
    past.replaceChildren();
    if (all.length < 2) return;
    if (begin > 0) past.append("… ");
    all.slice(begin).forEach((value, i) => {
        const here = positions.flatMap((p, process) => {
            const stands = p === begin + i || (p < begin && i === 0);
            return stands && !state.processes[process].place.ended ? [process] : [];
        });
        const at = begin + i;
        const mark = at === written ? " written" : at === read ? " read" : "";
        past.append(
            el(
                "span",
                { class: `moment${mark}` },
                el("bdi", {}, value),
                here.map((p) =>
                    el(
                        "bdi",
                        {
                            class: `badge ${hue(p)}`,
                            title: `${run.processes[p]} may still read this`,
                        },
                        cut(run.processes[p], 8),
                    ),
                ),
            ),
        );
    });
}

/// Where everything is that has an identity.
function rectangles(element) {
    const found = new Map();
    for (const item of element.querySelectorAll("[data-id]"))
        found.set(item.dataset.id, { rect: item.getBoundingClientRect(), item, looks: looksOf(item) });
    return found;
}

/// How an element looks, for a copy of it elsewhere.
function looksOf(item) {
    const style = getComputedStyle(item);
    return ["background-color", "color", "font", "padding", "border-radius"].map((name) => [
        name,
        style.getPropertyValue(name),
    ]);
}

/// Lets what moved travel from where it was.
function travel(element, before, run, number, from, values) {
    const after = rectangles(element);
    const ease = { duration: TRAVEL, easing: "cubic-bezier(.3, .1, .2, 1)" };
    for (const [id, { rect, item }] of after) {
        const old = before.get(id);
        if (old) {
            const [dx, dy] = [old.rect.left - rect.left, old.rect.top - rect.top];
            if (dx || dy)
                item.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], ease);
        } else if (number > from) {
            const start = item.closest(".lane").querySelector(".place").getBoundingClientRect();
            item.animate(
                [
                    {
                        transform: `translate(${start.left - rect.left}px, ${start.top - rect.top}px)`,
                        opacity: 0,
                    },
                    { transform: "none", opacity: 1 },
                ],
                ease,
            );
        } else {
            const cell = values.get(run.entries.get(Number(id))?.variable)?.getBoundingClientRect();
            if (cell)
                item.animate(
                    [
                        { transform: `translate(${cell.left - rect.left}px, ${cell.top - rect.top}px)` },
                        { transform: "none" },
                    ],
                    ease,
                );
        }
    }
    if (number < from) return;
    const step = run.scene.steps[number - 1];
    // What left a buffer for memory.
    for (const [id, { rect, item, looks }] of before) {
        const cell = after.has(id) ? null : values.get(run.entries.get(Number(id))?.variable);
        if (cell && step.rule === "update")
            fly(element, [item, looks], rect, cell.getBoundingClientRect(), ease);
    }
    // A value that is read comes to the process.
    if (step.rule.startsWith("read") && step.variable !== undefined) {
        const value =
            step.entry === undefined ? values.get(step.variable) : after.get(String(step.entry))?.item;
        const lane = element.querySelector(".lane.acting");
        if (value && lane)
            fly(
                element,
                [value, looksOf(value)],
                value.getBoundingClientRect(),
                lane.querySelector(".place").getBoundingClientRect(),
                ease,
            );
    }
}

/// A copy of an element on its way from one place to another.
function fly(element, [item, looks], from, to, ease) {
    const outer = element.getBoundingClientRect();
    const copy = item.cloneNode(true);
    copy.removeAttribute("data-id");
    copy.setAttribute("aria-hidden", "true");
    copy.classList.add("flying");
    for (const [name, value] of looks) copy.style.setProperty(name, value);
    copy.style.setProperty("left", `${from.left - outer.left}px`);
    copy.style.setProperty("top", `${from.top - outer.top}px`);
    element.append(copy);
    const [dx, dy] = [to.left - from.left, to.top - from.top];
    const animation = copy.animate(
        [
            { transform: "none", opacity: 1 },
            { transform: `translate(${dx}px, ${dy}px)`, opacity: 0.85 },
        ],
        ease,
    );
    animation.onfinish = () => copy.remove();
    animation.oncancel = () => copy.remove();
}
