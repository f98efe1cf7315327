// One view for each kind of report.

/// `weir check`: the properties, and the run of the one that is chosen.
function checkView(data, report) {
    const source = sourceOf(data, report.file);
    const body = el("div", {});
    const rows = report.properties.map((property, i) => {
        const choose = () => show(i);
        const word = property.outcome ?? property.verdict;
        const notes = [property.vacuous ? `but ${property.vacuous}` : null, property.reason].filter((n) => n);
        return el("tr", {},
            el("td", { class: "cell" }, button([verdict(word)], `${property.name}: ${word}, show the evidence`, choose, { "aria-expanded": false })),
            el("th", { scope: "row" }, code(property.name)),
            el("td", {}, code(asked(source, property)), notes.map((n) => el("div", { class: "quiet" }, n))),
            el("td", { class: "quiet" }, evidenceOf(report, property)));
    });
    const table = el("div", { class: "wide" }, el("table", {},
        el("thead", {}, el("tr", {}, ["answer", "property", "what it says", "evidence"].map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, rows)));
    const show = (i) => {
        rows.forEach((row, j) => {
            row.classList.toggle("chosen", i === j);
            row.querySelector("button").setAttribute("aria-expanded", i === j);
        });
        const property = report.properties[i];
        toAddress({ property: i });
        body.replaceChildren();
        append(body, propertyView(source, property, report.model));
        if (property.scene) {
            const view = runView(property.scene, source, ending(property));
            body.append(view.element);
            view.start();
        } else activeRun = null;
    };
    const asks = Number(fromAddress("property"));
    const first = report.properties.findIndex((p) => p.scene);
    const chosen = fromAddress("property") !== null && report.properties[asks] ? asks : Math.max(0, first);
    const many = report.properties.length > 1;
    return {
        element: el("div", {}, many ? table : null, body, many ? null : el("details", {}, el("summary", {}, "The answer and its evidence"), table)),
        start: () => show(chosen),
    };
}

/// What a property is and what became of it.
function propertyView(source, property, model) {
    const word = property.outcome ?? property.verdict;
    const run = property.scene ? runOf(property.scene, source) : null;
    const end = run ? endOf(run) : [];
    const steps = property.scene ? property.scene.steps.length : 0;
    const mood = property.outcome ? "" : MOODS[property.verdict] ?? "";
    const after = property.scene ? ` This run shows it, in ${counted(steps, "step")}` : "";
    return el("div", { class: `banner ${mood}` },
        el("h1", {}, code(property.name), ` is ${word} under ${model}`),
        el("p", {}, "It says: ", code(asked(source, property)), "."),
        el("p", {}, el("strong", {}, meaning(property, model)), after, property.scene ? (end.length ? [": in the end ", listed(end), "."] : ".") : null),
        run ? reasons(run).map((reason, i) => el("p", {}, i === 0 ? el("strong", {}, "Why: ") : null, reason)) : null,
        property.reason ? el("p", {}, "Why there is no answer: ", property.reason) : null,
        property.vacuous ? el("p", {}, `But ${property.vacuous}.`) : null);
}

/// What is said after the last step of a run.
function ending(property) {
    if (property.outcome === "allowed") return "This is the state that was asked for.";
    return property.verdict === "violated" ? `So ${property.name} is violated.` : "";
}

/// What an answer rests on.
function evidenceOf(report, property) {
    if (property.scene) return `a run of ${counted(property.scene.steps.length, "step")}, replayed by the checker`;
    if (property.verdict === "unknown") return "";
    const stats = report.stats;
    return stats ? `${report.engine}: ${counted(stats.configurations, "configuration")}` : "";
}
