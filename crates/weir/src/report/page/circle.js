// Pictures with a circle: the cycle of an infinite run, and that of a trace.

/// The most steps before the cycle that are drawn.
const MOST_STEM = 8;

/// An infinite run: its stem, and its cycle as a circle. `mark(step)` shows a step.
function lasso(run, go) {
    const count = run.steps.length;
    const cycle = count - run.loop;
    const stem = Math.min(run.loop, MOST_STEM);
    const radius = Math.max(46, Math.min(130, cycle * 7));
    const gap = 34;
    const left = 20 + (run.loop > stem ? 90 : 0) + stem * gap;
    const [cx, cy] = [left + radius, radius + 22];
    const picture = svg("svg", {
        width: cx + radius + 30,
        height: 2 * radius + 44,
        role: "img",
        "aria-label": `${counted(run.loop, "step")}, then a cycle of ${counted(cycle, "step")}`,
    });
    const dots = new Map();
    // The cycle begins at the left, where the stem ends.
    const place = (step) => {
        if (step <= run.loop) return [left - (run.loop - step + 1) * gap, cy];
        const angle = Math.PI + ((step - run.loop - 1) / cycle) * 2 * Math.PI;
        return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    };
    picture.append(svg("defs", {}, arrowhead("roundhead")));
    picture.append(svg("line", { class: "thread", x1: 8, y1: cy, x2: left - 12, y2: cy }));
    picture.append(svg("circle", { class: "thread", cx, cy, r: radius }));
    // The direction, halfway from the first step to the second.
    const turn = Math.PI + Math.PI / cycle;
    const [tx, ty] = [cx + radius * Math.cos(turn), cy + radius * Math.sin(turn)];
    picture.append(
        svg("path", { class: "thread turn", d: `M ${tx} ${ty} l ${-Math.sin(turn)} ${Math.cos(turn)}` }),
    );
    if (run.loop > stem)
        picture.append(
            svg("text", { class: "quiet", x: 8, y: cy - 8 }, `… ${counted(run.loop - stem, "step")}`),
        );
    picture.append(svg("text", { class: "quiet", x: cx, y: cy + 4, "text-anchor": "middle" }, "for ever"));
    for (let step = run.loop - stem + 1; step <= count; step++) {
        const [x, y] = place(step);
        const small = cycle > 60 && step > run.loop;
        const words = `step ${step}, ${run.processes[run.steps[step - 1].process]}: ${run.steps[step - 1].label}`;
        const dot = svg(
            "g",
            {
                class: `dot ${hue(run.steps[step - 1].process)}`,
                onclick: () => go(step),
                role: "button",
                "aria-label": words,
            },
            svg("title", {}, words),
            svg("circle", { cx: x, cy: y, r: small ? 4 : 12 }),
            small ? null : svg("text", { x, y: y + 4, "text-anchor": "middle" }, `${step}`),
        );
        dots.set(step, dot);
        picture.append(dot);
    }
    let current = null;
    const mark = (step) => {
        current?.classList.remove("now");
        current = dots.get(step) ?? null;
        current?.classList.add("now");
    };
    return { element: el("div", { class: "lasso wide" }, picture), mark };
}

/// What the relations of a trace say.
const RELATIONS = {
    po: "comes before, in the code of its process,",
    rf: "writes the value that is read by",
    fr: "reads a value that is older than",
    co: "reaches memory before",
};

/// The cycle of a trace as sentences and as a circle.
function traceCycle(run, edges, go) {
    const nodes = edges.map((edge) => edge.from);
    const radius = Math.max(70, nodes.length * 20);
    const [cx, cy] = [radius + 290, radius + 40];
    const picture = svg("svg", {
        class: "trace",
        width: 2 * cx,
        height: 2 * cy,
        role: "img",
        "aria-label": "the cycle of the trace",
    });
    picture.append(svg("defs", {}, arrowhead("tracehead")));
    const at = (i) => {
        const angle = -Math.PI / 2 + (i / nodes.length) * 2 * Math.PI;
        return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    };
    edges.forEach((edge, i) => {
        const [[x1, y1], [x2, y2]] = [at(i), at((i + 1) % nodes.length)];
        const length = Math.hypot(x2 - x1, y2 - y1) || 1;
        const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
        picture.append(
            svg("path", {
                class: `edge ${edge.relation}`,
                d: `M ${x1 + 16 * ux} ${y1 + 16 * uy} L ${x2 - 20 * ux} ${y2 - 20 * uy}`,
            }),
        );
        picture.append(
            svg(
                "text",
                { class: "relation", x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4, "text-anchor": "middle" },
                edge.relation,
            ),
        );
    });
    nodes.forEach((step, i) => {
        const [x, y] = at(i);
        const { process, label } = run.steps[step - 1];
        const words = `${cut(run.processes[process], 12)}: ${cut(label, 24)}`;
        const side = x < cx - 5 ? "end" : x > cx + 5 ? "start" : "middle";
        const shift = side === "end" ? -18 : side === "start" ? 18 : 0;
        picture.append(
            svg(
                "g",
                {
                    class: `dot ${hue(process)}`,
                    onclick: () => go(step),
                    role: "button",
                    "aria-label": `step ${step}, ${words}`,
                },
                svg("circle", { cx: x, cy: y, r: 13 }),
                svg("text", { x, y: y + 4, "text-anchor": "middle" }, `${step}`),
            ),
        );
        picture.append(
            svg(
                "text",
                {
                    class: "access",
                    x: x + shift,
                    y: side === "middle" ? (y < cy ? y - 18 : y + 28) : y + 4,
                    "text-anchor": side,
                },
                words,
            ),
        );
    });
    const operation = (step) => [
        el(
            "bdi",
            { class: `badge ${hue(run.steps[step - 1].process)}` },
            cut(run.processes[run.steps[step - 1].process], 20),
        ),
        " ",
        code(run.steps[step - 1].label),
        ` (step ${step})`,
    ];
    const sentences = edges.map((edge) =>
        el(
            "li",
            {},
            operation(edge.from),
            ` ${RELATIONS[edge.relation] ?? edge.relation} `,
            operation(edge.to),
            " ",
            el("span", { class: "quiet" }, `[${edge.relation}]`),
        ),
    );
    return el(
        "section",
        {},
        el("h2", {}, "The cycle"),
        el(
            "p",
            {},
            "Read one after another, these facts lead back to where they began. In a run of sequential consistency each would come after the one before it, so there is no such run.",
        ),
        el("div", { class: "wide" }, picture),
        el("ol", {}, sentences),
    );
}
