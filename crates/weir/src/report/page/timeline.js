// All steps of a run from left to right, a band for each process. A write that waits is a
// bar from the step that issues it to the step in which it reaches memory. An arc leads
// from an operation back over what it overtook, and an arrow from a step to one that synchronizes
// with it.

const ROW = 9;

/// The width of a letter of a label, and how many of them a label may have.
const LETTER = 7.3;
const MOST_LETTERS = 26;

/// The narrowest column in which something can be read.
const NARROWEST = 86;

/// Runs of up to this many steps are shown whole.
const SHORT = 60;

/// Of longer ones, so many steps at both ends, and so many around the current one.
const EDGE = 12;
const AROUND = 3;

/// So many steps appear when a fold is opened.
const OPENED = 100;

/// The steps of a run that are shown, the others as folds `{ from, to }`. Steps count
/// from 1.
function folded(run, current, opened) {
    const count = run.steps.length;
    const shownSteps = new Set();
    const add = (from, to) => {
        for (let i = Math.max(1, from); i <= Math.min(count, to); i++) shownSteps.add(i);
    };
    if (count <= SHORT) add(1, count);
    else {
        add(1, EDGE);
        add(count - EDGE + 1, count);
        add(current - AROUND, current + AROUND);
        run.named.slice(0, 4 * EDGE).forEach((step) => add(step, step));
        if (run.loop !== null) add(run.loop, run.loop + 2);
        opened.forEach(([from, to]) => add(from, to));
    }
    const items = [];
    for (let i = 1; i <= count; i++) {
        const last = items.at(-1);
        if (shownSteps.has(i)) items.push({ step: i });
        else if (last && last.to === i - 1) last.to = i;
        else items.push({ from: i, to: i });
    }
    // A fold of one step hides nothing.
    return items.map((item) => (item.from && item.from === item.to ? { step: item.from } : item));
}

/// The timeline of a run. `choose(step)` is called when a step is pointed at.
function timeline(run, choose) {
    const letters = Math.max(
        6,
        ...run.steps.slice(0, 500).map((step) => Math.min(MOST_LETTERS, [...step.short].length)),
    );
    const natural = letters * LETTER + 20;
    let pitch = natural;
    // As wide as the longest name, within limits.
    const longest = Math.max(...run.processes.map((name) => [...cut(name, 14)].length));
    const names = el("div", {
        class: "names",
        style: { "--letters": longest },
        "aria-hidden": true,
    });
    const box = el("div", {
        class: "scroll",
        tabindex: -1,
        role: "group",
        "aria-label": "all steps of the run",
    });
    const element = el("div", { class: "timeline" }, names, box);
    const opened = [];
    let drawn = null;
    let current = -1;

    const draw = (step) => {
        const items = folded(run, step, opened);
        // A run that fits if its boxes are a little smaller is better than one to scroll.
        const narrow = (box.clientWidth - 24) / items.length;
        pitch = narrow >= NARROWEST ? Math.min(natural, narrow) : natural;
        const most = Math.floor((pitch - 16) / LETTER);
        const column = new Map();
        items.forEach((item, i) => {
            if (item.step) column.set(item.step, i);
        });
        const left = 8;
        const columnOf = (number) => {
            if (column.has(number)) return column.get(number);
            return items.findIndex((item) => item.from && item.from <= number && number <= item.to);
        };
        const x = (number) => left + columnOf(number) * pitch + pitch / 2;
        const width = left + items.length * pitch + 12;
        const top = 22;
        const bands = [];
        let y = top;
        run.processes.forEach((name, process) => {
            const waits = rows(
                run.waits.filter((w) => w.process === process),
                (n) => columnOf(n),
                items.length,
            );
            const arcs = arcsOf(run, process, column);
            const above = arcs.length ? 22 + 8 * Math.min(4, Math.max(...arcs.map((a) => a.height))) : 8;
            const below = 10 + ROW * Math.min(6, waits.count);
            const axis = y + above + 13;
            bands.push({ name, process, y, axis, height: above + 26 + below, waits, arcs });
            y += above + 26 + below + 6;
        });
        const looped = run.loop !== null;
        const height = y + (looped ? 26 : 0) + 4;
        const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
        picture.append(svg("defs", {}, arrowhead("head"), arrowhead("loophead"), arrowhead("synchead")));
        const cursor = svg("rect", { class: "cursor", y: 0, width: pitch, height, x: -pitch });
        picture.append(cursor);
        const chips = new Map();
        for (const item of items) {
            const at = item.step ?? item.from;
            const label = item.step ? `${item.step}` : "";
            picture.append(svg("text", { class: "tick", x: x(at), y: 14, "text-anchor": "middle" }, label));
        }
        names.replaceChildren();
        for (const band of bands) {
            const group = svg("g", { class: hue(band.process) });
            group.append(svg("rect", { class: "band", x: 0, y: band.y, width, height: band.height }));
            group.append(
                svg("line", { class: "axis", x1: left, x2: width - 8, y1: band.axis, y2: band.axis }),
            );
            names.append(
                el(
                    "bdi",
                    {
                        class: `name ${hue(band.process)}`,
                        title: band.name,
                        style: {
                            top: `${band.y}px`,
                            height: `${band.height}px`,
                            "--axis": `${band.axis - band.y}px`,
                        },
                    },
                    cut(band.name, 14),
                ),
            );
            for (const wait of band.waits.list) {
                const level = band.axis + 17 + ROW * Math.min(5, wait.row);
                const from = x(wait.from);
                const to = wait.to === null ? width - 10 : x(wait.to);
                group.append(
                    svg(
                        "path",
                        {
                            class: wait.to === null ? "wait never" : "wait",
                            d: `M ${from} ${band.axis + 12} V ${level} H ${to} ${wait.to === null ? "" : `V ${band.axis + 12}`}`,
                        },
                        svg("title", {}, wait.title),
                    ),
                );
            }
            for (const item of items) {
                if (!item.step || run.steps[item.step - 1].process !== band.process) continue;
                const chip = chipOf(run, item.step, [x(item.step), pitch - 8, most], band.axis, choose);
                chips.set(item.step, chip);
                group.append(chip);
            }
            for (const arc of band.arcs) {
                const [from, to] = [x(arc.early), x(arc.late)];
                const peak = band.axis - 16 - 8 * Math.min(4, arc.height);
                group.append(
                    svg("path", {
                        class: "overtake",
                        d: `M ${from} ${band.axis - 13} C ${from} ${peak - 8} ${to} ${peak - 8} ${to} ${band.axis - 15}`,
                    }),
                );
                if (arc.label) {
                    group.append(
                        svg(
                            "text",
                            {
                                class: "relaxation",
                                x: (from + to) / 2,
                                y: peak,
                                "text-anchor": "middle",
                            },
                            arc.label,
                        ),
                    );
                }
            }
            picture.append(group);
        }
        const axisOf = (number) => bands[run.steps[number - 1].process].axis;
        run.scene.steps.forEach((step, i) => {
            for (const first of step.synchronizes ?? []) {
                if (!column.has(first) || !column.has(i + 1)) continue;
                const [from, to] = [x(first), x(i + 1)];
                const down = axisOf(i + 1) > axisOf(first) ? 1 : -1;
                const [start, end] = [axisOf(first) + 13 * down, axisOf(i + 1) - 15 * down];
                const middle = (start + end) / 2;
                picture.append(
                    svg(
                        "path",
                        {
                            class: "synchronizes",
                            d: `M ${from} ${start} C ${from} ${middle} ${to} ${middle} ${to} ${end}`,
                        },
                        svg("title", {}, `step ${i + 1} synchronizes with step ${first}`),
                    ),
                );
            }
        });
        items.forEach((item, i) => {
            if (item.step) return;
            const open = () => {
                opened.push([item.from, Math.min(item.to, item.from + OPENED - 1)]);
                draw(current);
                mark(current);
            };
            const text = counted(item.to - item.from + 1, "step");
            const fold = svg("g", {
                class: "fold",
                role: "button",
                tabindex: 0,
                "aria-label": `show ${text}`,
                onclick: open,
            });
            fold.addEventListener("keydown", (e) => {
                if (e.key === "Enter") open();
            });
            const at = left + i * pitch + 6;
            fold.append(
                svg("rect", { x: at, y: 4, width: pitch - 12, height: height - 8, rx: 6 }),
                svg("text", { x: at + pitch / 2 - 6, y: height / 2, "text-anchor": "middle" }, `… ${text}`),
            );
            picture.append(fold);
        });
        if (looped) {
            const [from, to] = [x(run.steps.length), x(run.loop + 1)];
            const level = height - 10;
            picture.append(
                svg("path", { class: "loop", d: `M ${from} ${y - 4} V ${level} H ${to} V ${y - 2}` }),
            );
            picture.append(
                svg(
                    "text",
                    { class: "looplabel", x: (from + to) / 2, y: level - 5, "text-anchor": "middle" },
                    "and again, for ever",
                ),
            );
        }
        box.replaceChildren(picture);
        drawn = { items, column, chips, cursor, x };
    };

    const mark = (step) => {
        current = step;
        if (!drawn || (step > 0 && !drawn.column.has(step))) draw(step);
        const { chips, cursor, x } = drawn;
        cursor.setAttribute("x", step === 0 ? -pitch : x(step) - pitch / 2);
        for (const [number, chip] of chips) {
            chip.classList.toggle("now", number === step);
            chip.classList.toggle("ahead", number > step);
        }
        if (chips.has(step)) reveal(box, chips.get(step));
        else if (step === 0) box.scrollLeft = 0;
    };
    return { element, mark };
}

function arrowhead(id) {
    return svg(
        "marker",
        { id, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
        svg("path", { d: "M0 0 L8 4 L0 8 z" }),
    );
}

function chipOf(run, number, [x, width, most], axis, choose) {
    const step = run.steps[number - 1];
    const words = `step ${number}, ${run.processes[step.process]}: ${step.label}`;
    const chip = svg("g", {
        class: `step ${step.isMemory ? "memory" : ""}`,
        "data-step": number,
        onclick: () => choose(number),
        role: "button",
        "aria-label": words,
    });
    chip.append(
        svg("title", {}, words),
        svg("rect", { x: x - width / 2, y: axis - 13, width, height: 26, rx: step.isMemory ? 13 : 5 }),
        svg("text", { x, y: axis + 4, "text-anchor": "middle" }, cut(step.short, most)),
    );
    return chip;
}

/// Bars that do not cover one another: the first free row for each.
function rows(waits, columnOf, columns) {
    const ends = [];
    const list = waits.map((wait) => {
        const [from, to] = [columnOf(wait.from), wait.to === null ? columns : columnOf(wait.to)];
        let row = ends.findIndex((end) => end < from);
        if (row < 0) row = ends.length;
        ends[row] = to;
        return { ...wait, row };
    });
    return { list: list.slice(0, 400), count: ends.length };
}

/// The arcs of a process: one for each operation that is overtaken, if both ends are shown.
function arcsOf(run, process, column) {
    const arcs = [];
    for (const overtake of run.overtakes) {
        if (overtake.process !== process) continue;
        const late = overtake.late.filter((l) => column.has(l.step)).slice(0, 6);
        late.forEach((l, i) => {
            if (!column.has(overtake.early.step)) return;
            const height = Math.abs(column.get(overtake.early.step) - column.get(l.step));
            const label = i === 0 ? l.relaxation : null;
            arcs.push({ early: overtake.early.step, late: l.step, height, label });
        });
    }
    return arcs.slice(0, 120);
}
