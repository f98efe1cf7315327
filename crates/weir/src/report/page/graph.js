// `weir graph`: the states that an engine explored, in layers by their distance from the
// initial ones. Drawn on a canvas, because there may be thousands.

const LINE_HEIGHT = 15;
const CHARACTER = 6.7;

/// Below this zoom nothing can be read.
const READABLE = 0.7;

function graphView(report) {
    const source = sourceOf(report);
    const canvas = el("canvas", {
        class: "graph",
        tabindex: 0,
        role: "application",
        "aria-label": "the graph of states; arrow keys go along steps, plus and minus zoom",
    });
    const detail = el("div", { class: "detail", "aria-live": "polite" });
    const found = el("span", { class: "quiet", role: "status" });
    const search = el("input", {
        type: "search",
        placeholder: "search states",
        "aria-label": "search states",
        oninput: () => find(false),
    });
    const projection = el(
        "select",
        { "aria-label": "collapse by process", onchange: () => build() },
        el("option", { value: "" }, "all states"),
        report.processes.map((name, i) => el("option", { value: `${i}` }, `only what ${cut(name, 20)} does`)),
    );
    const context = canvas.getContext("2d");
    let graph;
    let view = { x: 0, y: 0, zoom: 1 };
    let selected = null;
    let matches = [];
    let path = new Set();
    let walk = [];
    let drawing = false;

    /// The states, or classes of states that look the same to one process.
    const build = () => {
        const only = projection.value === "" ? null : Number(projection.value);
        const nodes = [];
        const of = report.states.map((state, i) => {
            if (only === null) {
                nodes.push({ states: [i], lines: linesOf(report, state, i) });
                return i;
            }
            const key = `${state.places[only]}  ${state.buffers[only]}`;
            let at = nodes.findIndex((n) => n.key === key);
            if (at < 0)
                at = nodes.push({ key, states: [], lines: [state.places[only], state.buffers[only]] }) - 1;
            nodes[at].states.push(i);
            return at;
        });
        if (only !== null) nodes.forEach((n) => n.lines.push(counted(n.states.length, "state")));
        const seen = new Set();
        const edges = [];
        for (const step of report.steps) {
            const edge = {
                from: of[step.from],
                to: of[step.to],
                step,
                process: report.processes.indexOf(step.process),
            };
            const key = `${edge.from} ${edge.to} ${step.process} ${step.step}`;
            if (
                only !== null &&
                (seen.has(key) || (edge.from === edge.to && step.process !== report.processes[only]))
            )
                continue;
            seen.add(key);
            edges.push(edge);
        }
        const letters = Math.min(
            40,
            nodes.reduce((most, n) => Math.max(most, ...n.lines.map((l) => [...l].length)), 4),
        );
        const size = [
            letters * CHARACTER + 16,
            nodes.reduce((most, n) => Math.max(most, n.lines.length), 1) * LINE_HEIGHT + 12,
        ];
        const initial = nodes.flatMap((n, i) => (n.states.some((s) => report.states[s].initial) ? [i] : []));
        graph = { nodes, edges, size, initial, of, ...layered(nodes.length, edges, initial, size) };
        graph.out = nodes.map(() => []);
        graph.in = nodes.map(() => []);
        for (const edge of edges) {
            graph.out[edge.from].push(edge);
            graph.in[edge.to].push(edge);
        }
        selected = null;
        path = new Set();
        walk = [];
        fit();
        select(initial[0] ?? 0, false);
        // The whole of a large graph is a picture, but nobody can read it.
        if (view.zoom < READABLE) begin();
        find(false);
    };

    const fit = () => {
        const [w, h] = graph.size;
        const [xs, ys] = [graph.places.map((p) => p[0]), graph.places.map((p) => p[1])];
        const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
        const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
        const [left, right, top, bottom] = [least(xs) - w, most(xs) + w, least(ys) - h, most(ys) + h];
        const box = canvas.getBoundingClientRect();
        const zoom = Math.min(1.2, box.width / (right - left), box.height / (bottom - top));
        view = { zoom, x: (left + right) / 2, y: (top + bottom) / 2 };
        draw();
    };
    /// Shows the first initial state at the top, large enough to be read.
    const begin = () => {
        const box = canvas.getBoundingClientRect();
        const [x, y] = graph.places[graph.initial[0] ?? 0];
        view = { zoom: READABLE, x, y: y + (box.height / 2 - graph.size[1]) / READABLE };
        draw();
    };
    const draw = () => {
        if (drawing) return;
        drawing = true;
        requestAnimationFrame(paint);
    };
    const toScreen = ([x, y], box) => [
        (x - view.x) * view.zoom + box.width / 2,
        (y - view.y) * view.zoom + box.height / 2,
    ];

    const paint = () => {
        drawing = false;
        const box = canvas.getBoundingClientRect();
        const ratio = devicePixelRatio || 1;
        if (canvas.width !== Math.round(box.width * ratio)) canvas.width = Math.round(box.width * ratio);
        if (canvas.height !== Math.round(box.height * ratio)) canvas.height = Math.round(box.height * ratio);
        const colors = colorsOf(report.processes.length);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, box.width, box.height);
        const [w, h] = graph.size.map((s) => s * view.zoom);
        const matched = new Set(matches);
        const isSeen = ([x, y]) => x > -w && y > -h && x < box.width + w && y < box.height + h;
        const places = graph.places.map((p) => toScreen(p, box));
        context.font = `${11 * view.zoom}px ${colors.mono}`;
        const named = view.zoom > 0.55;
        for (const edge of graph.edges) {
            const [from, to] = [places[edge.from], places[edge.to]];
            if (!isSeen(from) && !isSeen(to)) continue;
            const onPath = path.has(`${edge.from} ${edge.to}`);
            context.strokeStyle = onPath
                ? colors.bad
                : colors.hues[Math.max(0, edge.process) % colors.hues.length];
            context.globalAlpha = onPath ? 1 : 0.55;
            context.lineWidth =
                (onPath ? 3.5 : edge.step.folded ? 2.5 : 1.2) * Math.max(0.4, Math.min(1, view.zoom));
            context.beginPath();
            const isDown = graph.layer[edge.to] > graph.layer[edge.from];
            const [x1, y1] = [from[0], from[1] + (isDown ? h / 2 : -h / 2)];
            const [x2, y2] = [to[0], to[1] + (isDown ? -h / 2 : h / 2)];
            const bend = isDown ? 0 : w * 0.75;
            context.moveTo(x1, y1);
            context.bezierCurveTo(
                x1 + bend,
                y1 + (isDown ? 18 : -18) * view.zoom,
                x2 + bend,
                y2 + (isDown ? -18 : 18) * view.zoom,
                x2,
                y2,
            );
            context.stroke();
            if (view.zoom > 0.3) {
                context.fillStyle = context.strokeStyle;
                context.beginPath();
                const tip = (isDown ? -6 : 6) * view.zoom;
                context.moveTo(x2, y2);
                context.lineTo(x2 - 4 * view.zoom, y2 + tip);
                context.lineTo(x2 + 4 * view.zoom, y2 + tip);
                context.fill();
            }
            context.globalAlpha = 1;
            if (named && graph.edges.length < 400) {
                context.fillStyle = colors.quiet;
                context.textAlign = "center";
                context.fillText(cut(edge.step.step, 24), (x1 + x2) / 2 + bend * 0.75, (y1 + y2) / 2);
            }
        }
        places.forEach((place, i) => {
            if (!isSeen(place)) return;
            const node = graph.nodes[i];
            const settles = node.states.some((s) => report.states[s].settles.length);
            context.fillStyle = matched.has(i) ? colors.now : colors.paper;
            context.strokeStyle = i === selected ? colors.accent : settles ? colors.bad : colors.ink;
            context.lineWidth = Math.max(
                0.6,
                (i === selected ? 4 : graph.initial.includes(i) || settles ? 2.5 : 1) *
                    Math.min(1, view.zoom * 1.5),
            );
            context.beginPath();
            context.roundRect(place[0] - w / 2, place[1] - h / 2, w, h, 6 * view.zoom);
            context.fill();
            context.stroke();
            if (!named) return;
            context.fillStyle = settles ? colors.bad : colors.ink;
            context.textAlign = "left";
            node.lines.forEach((line, j) =>
                context.fillText(
                    cut(line, 40),
                    place[0] - w / 2 + 7 * view.zoom,
                    place[1] - h / 2 + (j + 1) * LINE_HEIGHT * view.zoom,
                ),
            );
        });
        canvas.dataset.drawn = graph.nodes.length;
    };

    const select = (i, follow = true) => {
        selected = i;
        const node = graph.nodes[i];
        if (follow) {
            const box = canvas.getBoundingClientRect();
            const [x, y] = toScreen(graph.places[i], box);
            if (x < 40 || y < 30 || x > box.width - 40 || y > box.height - 30)
                [view.x, view.y] = graph.places[i];
        }
        canvas.dataset.selected = i;
        toAddress({ state: i });
        const state = report.states[node.states[0]];
        const around = (edges, title, end) =>
            edges.length
                ? [
                      el("h3", {}, title),
                      el(
                          "ul",
                          {},
                          edges.slice(0, 20).map((edge) =>
                              el(
                                  "li",
                                  {},
                                  button(
                                      `${edge[end] + 1}`,
                                      `${end === "to" ? "take this step" : "go"} to state ${edge[end] + 1}`,
                                      () =>
                                          end === "to" ? walkTo([...walkUpTo(i), edge]) : select(edge[end]),
                                  ),
                                  stepOf(edge),
                              ),
                          ),
                          edges.length > 20 ? el("li", {}, `and ${edges.length - 20} more`) : null,
                      ),
                  ]
                : null;
        detail.replaceChildren();
        append(detail, [
            el(
                "h2",
                {},
                node.states.length === 1
                    ? `State ${node.states[0] + 1}`
                    : `${counted(node.states.length, "state")} that look the same`,
            ),
            el(
                "ul",
                {},
                report.processes.map((name, p) =>
                    projection.value === "" || Number(projection.value) === p
                        ? el(
                              "li",
                              {},
                              el("bdi", { class: `badge ${hue(p)}` }, cut(name, 16)),
                              " ",
                              state.places[p],
                              " ",
                              code(state.buffers[p]),
                          )
                        : null,
                ),
                projection.value === "" ? el("li", {}, "memory ", code(state.memory)) : null,
                state.settles.map((name) => el("li", { class: "verdict bad" }, `settles ${name}`)),
            ),
            around(graph.out[i], "Steps from here", "to"),
            around(graph.in[i], "Steps that lead here", "from"),
            graph.initial.includes(i)
                ? null
                : button("show a shortest run to this state", "show a shortest run to this state", () =>
                      showPath(i),
                  ),
        ]);
        draw();
    };
    /// The steps that were taken by hand, as far as they lead to a state.
    const walkUpTo = (state) => (walk.length && walk.at(-1).to === state ? walk : []);
    /// Shows steps that were taken by hand.
    const walkTo = (edges) => {
        const start = walk.length ? walk[0].from : edges[0]?.from;
        walk = edges;
        path = new Set(edges.map((e) => `${e.from} ${e.to}`));
        select(edges.at(-1)?.to ?? start);
        run.replaceChildren();
        if (edges.length)
            append(run, [
                el("h2", {}, `Your walk: ${counted(edges.length, "step")}`),
                button("◀ undo", "take back the last step", () => walkTo(walk.slice(0, -1))),
                steps(edges),
            ]);
    };
    /// Steps as a list.
    const steps = (edges) =>
        el(
            "ol",
            {},
            edges.map((edge) =>
                el(
                    "li",
                    {},
                    button(`${edge.to + 1}`, `go to state ${edge.to + 1}`, () => select(edge.to)),
                    stepOf(edge),
                ),
            ),
        );
    /// A shortest path from an initial state.
    const showPath = (goal) => {
        const via = new Map(graph.initial.map((s) => [s, null]));
        const work = [...graph.initial];
        for (let at = 0; at < work.length && !via.has(goal); at++) {
            for (const edge of graph.out[work[at]]) {
                if (via.has(edge.to)) continue;
                via.set(edge.to, edge);
                work.push(edge.to);
            }
        }
        const edges = [];
        for (let edge = via.get(goal); edge; edge = via.get(edge.from)) edges.unshift(edge);
        path = new Set(edges.map((e) => `${e.from} ${e.to}`));
        run.replaceChildren();
        walk = [];
        append(run, [
            el("h2", {}, `A run of ${counted(edges.length, "step")} to state ${goal + 1}`),
            steps(edges),
        ]);
        draw();
    };
    const find = (go) => {
        const wanted = search.value.trim().toLowerCase();
        matches = wanted
            ? graph.nodes.flatMap((n, i) => (n.lines.join("\n").toLowerCase().includes(wanted) ? [i] : []))
            : [];
        found.replaceChildren(wanted ? `${counted(matches.length, "state")} found` : "");
        if (go && matches.length) {
            const after = matches.find((i) => i > (selected ?? -1)) ?? matches[0];
            select(after);
        }
        draw();
    };
    const zoom = (factor, [x, y]) => {
        const box = canvas.getBoundingClientRect();
        const [dx, dy] = [(x - box.width / 2) / view.zoom, (y - box.height / 2) / view.zoom];
        const wanted = Math.max(0.01, Math.min(4, view.zoom * factor));
        const kept = view.zoom / wanted;
        view = { zoom: wanted, x: view.x + dx * (1 - kept), y: view.y + dy * (1 - kept) };
        draw();
    };
    const center = () => {
        const box = canvas.getBoundingClientRect();
        return [box.width / 2, box.height / 2];
    };
    const pointers = new Map();
    let moved = false;
    canvas.addEventListener(
        "wheel",
        (event) => {
            event.preventDefault();
            zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
        },
        { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
        pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
        canvas.setPointerCapture(event.pointerId);
        moved = false;
    });
    canvas.addEventListener("pointermove", (event) => {
        const old = pointers.get(event.pointerId);
        if (!old) return;
        const here = [event.offsetX, event.offsetY];
        const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)?.[1];
        if (other) {
            const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
            zoom(distance(here) / distance(old), [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2]);
        } else {
            view.x -= (here[0] - old[0]) / view.zoom;
            view.y -= (here[1] - old[1]) / view.zoom;
            draw();
        }
        if (Math.hypot(here[0] - old[0], here[1] - old[1]) > 2) moved = true;
        pointers.set(event.pointerId, here);
    });
    canvas.addEventListener("pointerup", (event) => {
        pointers.delete(event.pointerId);
        if (moved) return;
        const box = canvas.getBoundingClientRect();
        const [w, h] = graph.size.map((s) => (s * view.zoom) / 2);
        const hit = graph.places.findIndex((p) => {
            const [x, y] = toScreen(p, box);
            return Math.abs(x - event.offsetX) <= w && Math.abs(y - event.offsetY) <= h;
        });
        if (hit >= 0) select(hit);
    });
    canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
    canvas.addEventListener("keydown", (event) => {
        const beside = (by) => {
            const states = graph.layers[graph.layer[selected]];
            return states[states.indexOf(selected) + by];
        };
        const goal = {
            ArrowDown: graph.out[selected]?.[0]?.to,
            ArrowUp: graph.in[selected]?.[0]?.from,
            ArrowLeft: beside(-1),
            ArrowRight: beside(1),
            Home: graph.initial[0],
        }[event.key];
        if (goal !== undefined) select(goal);
        else if (event.key === "+") zoom(1.25, center());
        else if (event.key === "-") zoom(0.8, center());
        else return;
        event.preventDefault();
    });
    search.addEventListener("keydown", (event) => {
        if (event.key === "Enter") find(true);
    });
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

    const settled = report.states.flatMap((state, i) => (state.settles.length ? [i] : []));
    const run = el("section", {});
    const jumps = settled.slice(0, 12).map((i) =>
        button(`state ${i + 1}: ${report.states[i].settles.join(", ")}`, `a run to state ${i + 1}`, () => {
            select(graph.of[i]);
            showPath(graph.of[i]);
        }),
    );
    const element = el(
        "div",
        {},
        el(
            "p",
            {},
            `${counted(report.states.length, "state")}, ${counted(report.steps.length, "step")}. `,
            report.cut ? "Steps that need longer buffers were left out. " : "",
            "The layer of a state is its distance from the initial states. Red states settle a property.",
        ),
        el(
            "div",
            { class: "controls" },
            search,
            found,
            projection,
            button("+", "zoom in", () => zoom(1.25, center())),
            button("−", "zoom out", () => zoom(0.8, center())),
            button("whole graph", "show the whole graph", () => fit()),
            button("beginning", "show the initial state", () => begin()),
        ),
        jumps.length
            ? el(
                  "div",
                  { class: "controls" },
                  el("span", { class: "quiet" }, "a run to "),
                  jumps,
                  settled.length > jumps.length
                      ? el("span", { class: "quiet" }, `and ${settled.length - jumps.length} more`)
                      : null,
              )
            : null,
        el("div", { class: "graphs" }, canvas, el("div", { class: "beside" }, detail, run)),
        source.text ? el("details", {}, el("summary", {}, "The program"), sourcePanel(source).element) : null,
    );
    return {
        title: [code(report.program), ` under ${report.model}: the states`],
        element,
        start: () => build(),
    };
}

/// Whose step an edge is, and what the step does.
function stepOf(edge) {
    return [
        " ",
        el("bdi", { class: `badge ${hue(Math.max(0, edge.process))}` }, cut(edge.step.process, 16)),
        " ",
        code(edge.step.step),
    ];
}

/// What a state is, line by line.
function linesOf(report, state, number) {
    const places = report.processes.map((name, p) => `${name}: ${state.places[p]}  ${state.buffers[p]}`);
    return [`${number + 1}`, ...places, state.memory, ...state.settles.map((s) => `! ${s}`)];
}

/// The colors of the style, for the canvas.
function colorsOf(count) {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const probe = el("span", {});
    document.body.append(probe);
    const hues = Array.from({ length: Math.max(1, Math.min(count, PROCESS_COLORS)) }, (_, i) => {
        probe.className = hue(i);
        return getComputedStyle(probe).getPropertyValue("--hue").trim();
    });
    probe.remove();
    return {
        paper: of("--paper"),
        ink: of("--ink"),
        quiet: of("--quiet"),
        bad: of("--bad"),
        accent: of("--accent"),
        now: of("--now"),
        mono: of("--mono"),
        hues,
    };
}
