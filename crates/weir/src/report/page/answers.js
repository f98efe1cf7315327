// Verdicts, and the table of properties.

const MARKS = { holds: "✓", violated: "✗", unknown: "?", yes: "✓", no: "✗", allowed: "•", forbidden: "•" };
const MOODS = { holds: "good", violated: "bad", unknown: "open" };

/// A verdict with its mark and its color.
function verdict(word) {
    return el("span", { class: `verdict ${MOODS[word] ?? ""}` }, `${MARKS[word] ?? "•"} ${word}`);
}

/// The first line of a page: the file and the model.
function crumbs(parts) {
    return el(
        "p",
        { class: "crumbs" },
        parts.map((part, i) => [i > 0 ? " · " : null, part]),
    );
}

/// The text of a report's program.
function sourceOf(report) {
    return { file: report.file, text: report.text };
}

/// What an answer says, in a sentence.
function meaning(property, model) {
    const isAllowed = property.outcome === "allowed" || property.verdict === "yes";
    switch (property.kind) {
        case "never":
            return property.verdict === "violated"
                ? `What must never happen does happen under ${model}.`
                : `It never happens under ${model}.`;
        case "assertions":
            return property.verdict === "violated"
                ? `An assertion fails under ${model}.`
                : `No assertion fails under ${model}.`;
        case "no deadlock":
            return property.verdict === "violated"
                ? `Under ${model} the program gets stuck.`
                : `Under ${model} the program never gets stuck.`;
        case "final exists":
            return isAllowed
                ? `Under ${model} the program can end in this state.`
                : `Under ${model} the program cannot end in this state.`;
        case "final never":
            return property.verdict === "violated"
                ? `Under ${model} the program can end in a state in which it must not.`
                : `Under ${model} the program never ends in such a state.`;
        case "final always":
            return property.verdict === "violated"
                ? `Under ${model} the program can end in a state that is not one of these.`
                : `Under ${model} the program ends only in such states.`;
        default:
            return "";
    }
}

/// Where a run ends, in words: who is at which label, who fails.
function endOf(run) {
    const end = run.state(run.steps.length);
    const parts = [];
    end.processes.forEach((process, i) => {
        const name = code(run.processes[i]);
        if (process.place.failure) parts.push([name, " fails: ", code(process.place.failure)]);
        else if (process.place.labels?.length)
            parts.push([name, " is at ", listed(process.place.labels.map(code))]);
    });
    return parts;
}
