// What each view takes from the findings of a report.

/// A finding as a row of a table shows it.
function rowOf(finding) {
    const { claim, kind, line, says, verdict, outcome, vacuity, reason, evidence, details } = finding;
    return {
        ...(details ?? {}),
        name: claim.question,
        model: claim.model,
        kind,
        line,
        says: says ?? "",
        verdict,
        outcome,
        vacuous: vacuity,
        reason,
        evidence: evidence?.what,
        scene: evidence?.scene,
    };
}

/// The findings of several models in one row for each question.
function rowsByModel(findings) {
    const models = [...new Set(findings.map((finding) => finding.claim.model))];
    const count = findings.length / models.length;
    const properties = findings.slice(0, count).map((first, i) => {
        const cells = models.map((model, m) => [model, rowOf(findings[m * count + i])]);
        const taken = (pick) =>
            Object.fromEntries(cells.map(([model, row]) => [model, pick(row)]).filter(([, value]) => value));
        const isQuestion = first.kind === "final exists";
        const word = (row) =>
            isQuestion ? ({ holds: "yes", violated: "no" }[row.verdict] ?? row.verdict) : row.verdict;
        return {
            ...rowOf(first),
            cells: Object.fromEntries(cells),
            verdicts: taken(word),
            reasons: taken((row) => row.reason),
            vacuous: taken((row) => row.vacuous),
            scenes: taken((row) => row.scene),
        };
    });
    return { models, properties };
}

/// What the view of a command shows of a report.
function shownOf(command, report) {
    if (!report.findings) return report;
    const { schema, findings, notes, caveats, proof, ...about } = report;
    const rows = findings.map(rowOf);
    const shown = { ...about, certificate: proof, model: rows[0]?.model, clients: findings[0]?.claim.clients };
    switch (command) {
        case "compare":
            return { ...shown, model: undefined, ...rowsByModel(findings) };
        case "outcomes":
            return { ...shown, states: [], ...rows[0] };
        case "robust":
            return { ...shown, ...rows[0], verdict: rows[0].shows ?? "unknown" };
        case "fences":
            return {
                ...shown,
                sets: [],
                regions: [],
                ...rows[0],
                verdict: rows[0].result ?? "unknown",
                headline: rows[0].outcome,
            };
        case "game":
            return { ...shown, games: rows.map((row) => ({ argument: row.reason ?? "", ...row })) };
        default:
            return { ...shown, properties: rows };
    }
}

/// The reports that views are made for: one about several models may have a view for each.
function shownReports(command, reports) {
    const apart = (report) =>
        command === "robust" && report.findings
            ? report.findings.map((finding) => ({ ...report, findings: [finding] }))
            : [report];
    return reports.flatMap(apart).map((report) => shownOf(command, report));
}
