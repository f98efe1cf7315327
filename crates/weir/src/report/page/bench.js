// `weir-bench`: results as a plot of points that can be pointed at, and as a table.

const MEASURES = {
    seconds: "seconds",
    configurations: "configurations",
    peak_mib: "MiB",
    instructions: "instructions",
    spin_seconds: "seconds of Spin",
};

function benchView(report) {
    const known = Object.keys(MEASURES).filter((m) => report.rows.some((row) => row[m] > 0));
    const pickers = ["configurations", "seconds"].map((first, i) =>
        el(
            "select",
            { "aria-label": i === 0 ? "to the right" : "upwards", onchange: () => draw() },
            known.map((m) => el("option", { value: m, selected: m === first }, MEASURES[m])),
        ),
    );
    const search = el("input", {
        type: "search",
        placeholder: "search programs",
        "aria-label": "search programs",
        oninput: () => draw(),
    });
    const plot = el("div", { class: "wide" });
    const said = announcer();
    const table = el("div", { class: "wide" });
    const groups = [...new Set(report.rows.map((row) => row.model))];
    let order = ["seconds", -1];

    const words = (row) =>
        `${row.program} under ${row.model}, ${row.engine}: ${row.verdicts}; ${known
            .filter((m) => row[m] !== null)
            .map((m) => `${measured(row[m])} ${MEASURES[m]}`)
            .join(", ")}`;
    const draw = () => {
        const wanted = search.value.trim().toLowerCase();
        const rows = report.rows.filter((row) =>
            `${row.program} ${row.model} ${row.engine} ${row.verdicts}`.toLowerCase().includes(wanted),
        );
        const [across, up] = pickers.map((p) => p.value);
        const points = rows.filter((row) => row[across] > 0 && row[up] > 0);
        plot.replaceChildren(
            points.length ? scatter(points, across, up, groups, words, said) : "nothing to plot",
        );
        const heads = ["program", "model", "engine", "verdicts", ...known];
        rows.sort(
            (a, b) =>
                order[1] *
                (typeof (a[order[0]] ?? 0) === "number"
                    ? (a[order[0]] ?? 0) - (b[order[0]] ?? 0)
                    : String(a[order[0]]).localeCompare(String(b[order[0]]))),
        );
        table.replaceChildren(
            el(
                "table",
                {},
                el(
                    "thead",
                    {},
                    el(
                        "tr",
                        {},
                        heads.map((h) =>
                            el(
                                "th",
                                {
                                    scope: "col",
                                    "aria-sort":
                                        order[0] === h ? (order[1] > 0 ? "ascending" : "descending") : "none",
                                },
                                button(
                                    `${MEASURES[h] ?? h}${order[0] === h ? (order[1] > 0 ? " ▲" : " ▼") : ""}`,
                                    `sort by ${h}`,
                                    () => {
                                        order = [h, order[0] === h ? -order[1] : 1];
                                        draw();
                                    },
                                ),
                            ),
                        ),
                    ),
                ),
                el(
                    "tbody",
                    {},
                    rows.slice(0, 500).map((row) =>
                        el(
                            "tr",
                            {},
                            heads.map((h) =>
                                el(
                                    "td",
                                    {},
                                    row[h] === null
                                        ? ""
                                        : typeof row[h] === "number"
                                          ? measured(row[h])
                                          : code(row[h]),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        );
    };
    return {
        title: `${counted(report.rows.length, "measured run")}`,
        element: el(
            "div",
            {},
            el(
                "div",
                { class: "controls" },
                search,
                el("label", {}, "to the right ", pickers[0]),
                el("label", {}, "upwards ", pickers[1]),
                groups.map((g, i) => el("span", { class: hue(i) }, el("span", { class: "badge" }, g))),
            ),
            plot,
            said,
            table,
        ),
        start: draw,
    };
}

/// A number to be read.
function measured(number) {
    return number.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/// Points on two logarithmic axes.
function scatter(points, across, up, groups, words, said) {
    const [width, height, left, bottom] = [900, 420, 90, 50];
    const scale = (name, from, to) => {
        const logs = points.map((p) => Math.log10(p[name]));
        const [low, high] = [
            Math.floor(Math.min(...logs)),
            Math.ceil(Math.max(...logs, Math.min(...logs) + 0.1)),
        ];
        const place = (value) => from + ((Math.log10(value) - low) / Math.max(1, high - low)) * (to - from);
        return { place, ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) };
    };
    const [x, y] = [scale(across, left, width - 20), scale(up, height - bottom, 20)];
    const picture = svg("svg", {
        class: "scatter",
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `${MEASURES[up]} by ${MEASURES[across]}`,
    });
    const label = (value) => (value >= 1e4 || value < 1e-3 ? value.toExponential(0) : String(value));
    for (const tick of x.ticks)
        picture.append(
            svg("line", { class: "grid", x1: x.place(tick), x2: x.place(tick), y1: 20, y2: height - bottom }),
            svg("text", { x: x.place(tick), y: height - bottom + 18, "text-anchor": "middle" }, label(tick)),
        );
    for (const tick of y.ticks)
        picture.append(
            svg("line", { class: "grid", x1: left, x2: width - 20, y1: y.place(tick), y2: y.place(tick) }),
            svg("text", { x: left - 8, y: y.place(tick) + 4, "text-anchor": "end" }, label(tick)),
        );
    picture.append(
        svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, MEASURES[across]),
        svg("text", { x: 14, y: 14 }, MEASURES[up]),
    );
    for (const row of points) {
        const tell = () => said.replaceChildren(shown(words(row)));
        picture.append(
            svg(
                "circle",
                {
                    class: `point ${hue(groups.indexOf(row.model))}`,
                    cx: x.place(row[across]),
                    cy: y.place(row[up]),
                    r: 5,
                    tabindex: 0,
                    "aria-label": words(row),
                    onpointerenter: tell,
                    onfocus: tell,
                },
                svg("title", {}, words(row)),
            ),
        );
    }
    return picture;
}
