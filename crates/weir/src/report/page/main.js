// Puts the page together.

const VIEWS = {
    check: checkView,
    outcomes: outcomesView,
    live: liveView,
    robust: robustView,
    fences: fencesView,
    game: gameView,
    graph: graphView,
    bench: benchView,
};

/// Shows reports in an element: one after another's tab, if there are several.
function present(data, root) {
    // One table compares all programs; the other commands have a view for each report.
    const isOne = data.command === "compare";
    const reports = shownReports(data.command, data.reports);
    const views = isOne
        ? [[reports[0], () => compareView(reports)]]
        : reports.map((report) => [report, VIEWS[data.command]]);
    const body = el("main", { id: "report" });
    const tabs = el("nav", { class: "tabs", "aria-label": "reports" });
    const show = (number) => {
        const [report, make] = views[number];
        activeRun?.stop();
        activeRun = null;
        const view = make(report);
        [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-pressed", i === number));
        if (views.length > 1) toAddress({ report: number });
        body.replaceChildren(
            crumbs(
                [
                    data.command === "bench" ? "weir-bench" : `weir ${data.command}`,
                    isOne && reports.length > 1
                        ? counted(reports.length, "program")
                        : report.file
                          ? code(report.file)
                          : null,
                    report.model ?? report.semantics ?? null,
                ].filter((p) => p),
            ),
            view.title ? el("h1", {}, view.title) : "",
            view.element,
        );
        view.start?.();
    };
    views.forEach(([report], i) => {
        const label = [report.program ?? report.file, report.model].filter((p) => p).join(" · ");
        tabs.append(
            button(cut(label, 40), `the report of ${label}`, () => {
                toAddress({ step: null, property: null, run: null, state: null, set: null });
                show(i);
            }),
        );
    });
    const origin =
        data.command === "bench"
            ? ["weir-bench --csv", " writes. "]
            : [`weir ${data.command} --format json`, " prints. "];
    const about = el(
        "footer",
        {},
        `Made by Weir ${data.weir}. The data of this page is what `,
        code(origin[0]),
        origin[1],
        el(
            "span",
            { class: "keys" },
            "Keys of a run: ← and → step, Home and End jump, space plays, r goes to the first reordering.",
        ),
    );
    root.replaceChildren(views.length > 1 ? tabs : "", body, about);
    const asks = Number(fromAddress("report") ?? 0);
    show(views[asks] ? asks : 0);
}

const embedded = document.getElementById("data");
if (embedded) {
    const data = JSON.parse(embedded.textContent);
    present(data, document.getElementById("page"));
}
