// The reports of `check`, `compare`, `outcomes`, `live` and `robust`.

/// Shows a run in an element, below something that says what it is, or that alone.
function showRun(body, above, scene, source, last) {
    activeRun?.stop();
    activeRun = null;
    body.replaceChildren();
    append(body, above);
    if (!scene) {
        body.append(sourcePanel(source).element);
        return null;
    }
    const view = runView(scene, source, last);
    body.append(view.element);
    view.start();
    return view;
}

/// A table whose rows can be chosen. `rows` have `cells` and, where there is something to
/// show, `choose`.
function choices(heads, rows) {
    const lines = rows.map((row) => el("tr", {}, row.cells));
    const table = el(
        "div",
        { class: "wide" },
        el(
            "table",
            {},
            el(
                "thead",
                {},
                el(
                    "tr",
                    {},
                    heads.map((h) => el("th", { scope: "col" }, h)),
                ),
            ),
            el("tbody", {}, lines),
        ),
    );
    const mark = (number) => lines.forEach((line, i) => line.classList.toggle("chosen", i === number));
    return { element: table, mark };
}

/// A cell with a button that shows evidence; without evidence it has only its text.
function cell(children, title, choose) {
    return choose
        ? el("td", { class: "cell" }, button(children, title, choose))
        : el("td", { title }, children);
}

/// The number of something in the address, if there is one.
function chosenIn(name, count, fallback) {
    const number = Number(fromAddress(name) ?? NaN);
    return number >= 0 && number < count ? number : fallback;
}

/// `weir check`: the properties, and the run of the one that is chosen.
function checkView(report) {
    const source = sourceOf(report);
    const body = el("div", {});
    const rows = report.properties.map((property, i) => {
        const word = property.outcome ?? property.verdict;
        const notes = [property.vacuous ? `but ${property.vacuous}` : null, property.reason].filter((n) => n);
        return {
            cells: [
                cell([verdict(word)], `${property.name}: ${word}, show the evidence`, () => show(i)),
                el("th", { scope: "row" }, code(property.name)),
                el(
                    "td",
                    {},
                    code(property.says),
                    notes.map((n) => el("div", { class: "quiet" }, quoted(n))),
                ),
                el("td", { class: "quiet" }, evidenceOf(report, property)),
            ],
        };
    });
    const table = choices(["answer", "property", "what it says", "evidence"], rows);
    const show = (i) => {
        const property = report.properties[i];
        table.mark(i);
        toAddress({ property: i });
        showRun(body, propertyView(source, property, report.model), property.scene, source, ending(property));
    };
    const first = Math.max(
        0,
        report.properties.findIndex((p) => p.scene),
    );
    const parts =
        report.properties.length > 1
            ? [table.element, body]
            : [body, el("h2", {}, "Evidence"), table.element];
    const certificate = report.certificate ? el("p", { class: "quiet" }, proofOf(report.certificate)) : null;
    return {
        element: el("div", {}, parts, certificate),
        start: () => show(chosenIn("property", report.properties.length, first)),
    };
}

/// What a property is and what became of it.
function propertyView(source, property, model) {
    const word = property.outcome ?? property.verdict;
    const run = property.scene ? runOf(property.scene, source) : null;
    const end = run ? endOf(run) : [];
    const mood = property.outcome ? "" : (MOODS[property.verdict] ?? "");
    const count = run?.steps.length;
    const after = run
        ? count > 0
            ? ` This run shows it, in ${counted(count, "step")}`
            : " It is so at the beginning, before the first step"
        : "";
    return el(
        "div",
        { class: `banner ${mood}` },
        el(
            "h1",
            {},
            property.kind === "assertions" && word === "violated" ? "An assertion" : code(property.name),
            ` ${word === "holds" ? word : `is ${word}`} under ${model}`,
        ),
        property.says && property.kind !== "assertions"
            ? el("p", {}, property.outcome ? "It asks: " : "It says: ", code(property.says), ".")
            : null,
        el(
            "p",
            {},
            el("strong", {}, meaning(property, model)),
            after,
            run ? (end.length ? [count > 0 ? ": in the end " : ": ", listed(end), "."] : ".") : null,
        ),
        run
            ? reasons(run).map((reason, i) => el("p", {}, i === 0 ? el("strong", {}, "Why: ") : null, reason))
            : null,
        property.reason ? el("p", {}, "Why there is no answer: ", quoted(property.reason)) : null,
        property.vacuous ? el("p", {}, "But ", quoted(property.vacuous), ".") : null,
    );
}

/// What is said after the last step of a run.
function ending(property) {
    if (property.outcome === "allowed") return "This is the state that was asked for.";
    return property.verdict === "violated"
        ? `So ${property.kind === "assertions" ? "an assertion" : property.name} is violated.`
        : "";
}

/// What an answer rests on.
function evidenceOf(report, property) {
    if (property.scene)
        return `a run of ${counted(property.scene.steps.length, "step")}, which the checker accepts`;
    if (property.verdict === "unknown") return "";
    return property.evidence ?? "";
}

/// A proof that was checked.
function proofOf(certificate) {
    return `The proof is ${certificate.what}, ${counted(certificate.bytes, "byte")} as a file. The checker accepts it.`;
}

/// `weir compare`: all programs in one table, a column for each model.
function compareView(reports) {
    const body = el("div", {});
    const models = reports[0].models;
    const many = reports.length > 1;
    const shownRuns = [];
    const rows = reports.flatMap((report) =>
        report.properties.map((property) => {
            const cells = models.map((model) => {
                const word = property.verdicts[model];
                const scene = property.scenes?.[model];
                const note = property.reasons?.[model] ?? property.vacuous?.[model];
                const number = shownRuns.length;
                if (scene) shownRuns.push({ report, property, model, scene });
                const title = scene
                    ? `${property.name} under ${model}: ${word}, by a run of ${counted(scene.steps.length, "step")}`
                    : `${property.name} under ${model}: ${word}${note ? `, ${note}` : ""}`;
                return cell(
                    [
                        verdict(word),
                        scene ? el("span", { class: "quiet", "aria-hidden": true }, " ▸") : null,
                        note ? el("span", { class: "quiet" }, " (note)") : null,
                    ],
                    title,
                    scene ? () => show(number) : null,
                );
            });
            return {
                cells: [
                    many ? el("th", { scope: "row" }, code(report.program)) : null,
                    el("th", { scope: "row" }, code(property.name)),
                    cells,
                ],
            };
        }),
    );
    const table = choices(
        [many ? "program" : null, "property", models].flat().filter((h) => h !== null),
        rows,
    );
    const notes = [
        ...new Set(
            reports.flatMap((r) =>
                r.properties.flatMap((p) => [
                    ...Object.values(p.reasons ?? {}),
                    ...Object.values(p.vacuous ?? {}),
                ]),
            ),
        ),
    ];
    const show = (i) => {
        const { report, property, model, scene } = shownRuns[i];
        const source = sourceOf(report);
        toAddress({ run: i });
        const row =
            reports.slice(0, reports.indexOf(report)).reduce((sum, r) => sum + r.properties.length, 0) +
            report.properties.indexOf(property);
        table.mark(row);
        const told = property.cells[model];
        showRun(body, propertyView(source, told, model), scene, source, ending(told));
    };
    return {
        title: many
            ? "Answers under several memory models"
            : [code(reports[0].program), " under several memory models"],
        element: el(
            "div",
            {},
            el("p", {}, "A column is a memory model. Answers with a run are buttons: they show it."),
            table.element,
            notes.map((n) => el("p", { class: "quiet" }, quoted(n))),
            body,
        ),
        start: () => {
            const run = chosenIn("run", shownRuns.length, shownRuns.length ? 0 : null);
            if (run !== null) show(run);
        },
    };
}

/// `weir outcomes`: the final states, and how each is reached.
function outcomesView(report) {
    const source = sourceOf(report);
    const body = el("div", {});
    const names = [...new Set(report.states.flatMap((state) => Object.keys(state)))];
    const picked = new Set(report.picked ?? []);
    const rows = report.states.map((state, i) => ({
        cells: [
            el("th", { scope: "row" }, `${i + 1}`),
            names.map((name) => el("td", {}, code(state[name] ?? ""))),
            report.picked ? el("td", {}, picked.has(i) ? "★" : "") : null,
            cell(
                [report.runs?.[i] ? `${counted(report.runs[i].steps.length, "step")} ▸` : "not looked for"],
                `how state ${i + 1} is reached`,
                report.runs?.[i] ? () => show(i) : null,
            ),
        ],
    }));
    const heads = [
        "",
        ...names.map((name) => code(name)),
        ...(report.picked ? ["condition"] : []),
        "how to reach it",
    ];
    const table = choices(heads, rows);
    const show = (i) => {
        toAddress({ state: i });
        table.mark(i);
        const state = Object.entries(report.states[i]).map(([name, value]) => [
            code(name),
            " = ",
            code(value),
        ]);
        const run = runOf(report.runs[i], source);
        const above = el(
            "div",
            { class: "banner" },
            el("h2", {}, `State ${i + 1}`, state.length ? [": ", listed(state)] : null),
            reasons(run).map((reason) => el("p", {}, reason)),
        );
        showRun(
            body,
            above,
            report.runs[i],
            source,
            "All processes have ended, and all writes have reached memory.",
        );
    };
    const count = report.states.length;
    const all = report.exact ? "These are all." : "There may be more.";
    const none = report.exact ? "No run ends." : "No final state was found, but there may be some.";
    return {
        title: [
            code(report.program),
            count
                ? ` can end in ${counted(count, "state")} under ${report.model}`
                : ` under ${report.model}: no final state${report.exact ? "" : " was found"}`,
        ],
        element: el(
            "div",
            {},
            el(
                "p",
                {},
                report.vacuous ? `${report.vacuous}. ` : "",
                count ? all : none,
                count && report.picked ? " A star marks the states that satisfy the condition of the program." : "",
            ),
            count ? table.element : sourcePanel(source).element,
            body,
        ),
        start: () => {
            const first =
                report.picked?.find((i) => report.runs?.[i]) ?? report.runs?.findIndex((r) => r) ?? -1;
            const state = chosenIn("state", report.states.length, first);
            if (report.runs?.[state]) show(state);
        },
    };
}

/// `weir live`: questions about infinite runs.
function liveView(report) {
    const source = sourceOf(report);
    const body = el("div", {});
    const rows = report.properties.map((property, i) => ({
        cells: [
            cell([verdict(property.verdict)], `${property.name}: ${property.verdict}`, () => show(i)),
            el("th", { scope: "row" }, code(property.name)),
            el("td", { class: "quiet" }, [
                property.evidence ?? "",
                property.evidence && property.reason ? ", " : "",
                quoted(property.reason ?? ""),
            ]),
        ],
    }));
    const table = choices(["answer", "property", "evidence"], rows);
    const show = (i) => {
        const property = report.properties[i];
        table.mark(i);
        toAddress({ property: i });
        const scene = property.scene;
        const stem = scene ? (scene.cycle ?? 1) - 1 : 0;
        const above = el(
            "div",
            { class: `banner ${MOODS[property.verdict] ?? ""}` },
            el(
                "h1",
                {},
                code(property.name),
                ` ${property.verdict === "holds" ? "holds" : `is ${property.verdict}`} under ${report.model}`,
            ),
            scene
                ? el(
                      "p",
                      {},
                      `This run never ends: after ${counted(stem, "step")} it repeats a cycle of ${counted(scene.steps.length - stem, "step")} for ever.`,
                  )
                : null,
            property.reason ? el("p", {}, quoted(property.reason)) : null,
        );
        showRun(body, above, scene, source, "");
    };
    const first = Math.max(
        0,
        report.properties.findIndex((p) => p.scene),
    );
    return {
        element: el(
            "div",
            {},
            report.clients
                ? el("p", { class: "quiet" }, `The object has ${counted(report.clients, "client")}.`)
                : null,
            table.element,
            body,
        ),
        start: () => show(chosenIn("property", report.properties.length, first)),
    };
}

const ROBUST = {
    shape: [
        "good",
        "is robust by its shape",
        "No operation can overtake another one, so the memory model adds nothing to sequential consistency.",
    ],
    traces: ["good", "is robust", "Every run has the trace of a run of sequential consistency."],
    states: [
        "good",
        "has the same states as under SC",
        "Some runs are not possible under sequential consistency, but they lead to no new state.",
    ],
    "not robust": [
        "bad",
        "is not robust",
        "It has runs that are not possible under sequential consistency (SC).",
    ],
    unknown: ["open", "is unknown", "Neither was proved."],
};

/// `weir robust`: whether the model adds anything to SC.
function robustView(report) {
    const source = sourceOf(report);
    const body = el("div", {});
    const [mood, says, means] = ROBUST[report.verdict] ?? ["open", report.verdict, ""];
    const above = el(
        "div",
        { class: `banner ${mood}` },
        el("h1", {}, code(report.program), ` ${says} under ${report.model}`),
        el("p", {}, means),
        report.states === "different" ? el("p", {}, `Some state under ${report.model} is not reachable under SC.`) : null,
        report.reason ? el("p", {}, quoted(report.reason)) : null,
    );
    return {
        element: body,
        start: () => {
            const view = showRun(body, above, report.scene, source, "");
            if (view && report.cycle)
                view.element.querySelector(".run").after(traceCycle(view.run, report.cycle.cycle, view.go));
        },
    };
}
