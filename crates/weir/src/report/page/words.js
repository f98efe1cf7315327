// Runs in words: what a machine is made of, what a step does, and what overtook what.

/// What stands between a process and memory, for somebody who has never heard of it.
const MACHINES = {
    none: "Under sequential consistency (SC) every write goes to memory at once, and every process sees it in its next step. One step happens after another.",
    store: "A process does not write to memory directly. Its writes wait in a queue, its store buffer, and reach memory later, the oldest first. The process itself sees its own waiting writes at once. The others read memory, so they do not see them yet.",
    "two-level":
        "A process does not write to memory directly. Each write first waits in a queue of its variable, then in a queue for memory. Writes to different variables can so reach memory in another order than they were made. The process itself sees its own waiting writes; the others read memory.",
    history:
        "Writes wait in queues before they reach memory, one for each variable. Memory keeps the values that each variable has had, and each process has a position in that history: it may still read an old value after a newer one has arrived.",
    load: "Values travel from memory to a process through a queue, its load buffer. A process may therefore read a value that is no longer the newest.",
    pool: "Operations of a process wait until they take effect. The memory model says which of them may take effect before earlier ones.",
    messages:
        "The writes of each variable have an order, and memory shows the newest. A process may read any of them that is not older than what it has seen. It has seen more after it has read from a release store with an acquire load.",
};

/// What the place is called in which writes wait.
const WAITING = {
    none: "",
    store: "store buffer",
    "two-level": "store buffer",
    history: "store buffer",
    load: "load buffer",
    pool: "list of waiting operations",
    messages: "",
};

/// What a relaxation means.
const RELAXATIONS = {
    "w->r": "a read takes effect before an earlier write",
    "w->w": "a write takes effect before an earlier write",
    "r->r": "a read takes effect before an earlier read",
    "r->w": "a write takes effect before an earlier read",
};

/// The relaxation with its name.
function relaxed(name) {
    return el("abbr", { class: "relax", title: RELAXATIONS[name] ?? name }, `[${name}]`);
}

/// What a process has under way, oldest first, with where it is.
function pendingOf(process) {
    const waiting = Object.values(process.waiting ?? {}).flat();
    return [...process.buffer, ...waiting];
}

/// A write or read that waits, as `x = 1`.
function entryText(entry) {
    if (entry.variable === undefined) return entry.kind;
    return entry.kind === "read"
        ? `${entry.variable} is ${entry.value}?`
        : `${entry.variable} = ${entry.value}`;
}

/// What a step does: `{ main, why, alert }`, lists of texts and elements.
function sentence(run, number) {
    const step = run.scene.steps[number - 1];
    const index = run.steps[number - 1].process;
    const [before, after] = [run.state(number - 1), run.state(number)];
    const name = code(step.process);
    const x = step.variable === undefined ? null : code(step.variable);
    const kind = run.scene.buffers;
    const place = WAITING[kind];
    const entry = run.entries.get(step.entry);
    const why = [];
    const others = run.processes.filter((_, i) => i !== index);
    let main;
    const memory = x && code(before.memory[step.variable]);
    switch (step.rule) {
        case "write memory":
            main = [
                name,
                " writes ",
                code(after.memory[step.variable]),
                " to ",
                x,
                ". The value is in memory at once.",
            ];
            break;
        case "write":
            main = [name, " writes ", code(entry.value), " to ", x, ". "];
            if (kind === "pool") main.push("The write waits, and takes effect later.");
            else main.push("The write waits in its ", place, unseenBy(run, before, step, index), ".");
            break;
        case "update":
            if (kind === "pool")
                main = [
                    "The write ",
                    code(entryText(entry)),
                    " of ",
                    name,
                    " takes effect: memory has it now.",
                ];
            else
                main = [
                    "The write ",
                    code(entryText(entry)),
                    " of ",
                    name,
                    " leaves the ",
                    place,
                    " and reaches memory. ",
                ];
            if (kind === "history") main.push("The others see it when they catch up.");
            else if (kind !== "pool" && others.length) main.push("Now the others can see it.");
            break;
        case "transfer write":
            main = [
                "The write ",
                code(entryText(entry)),
                " of ",
                name,
                " moves on into the queue for memory. From there writes reach memory in order.",
            ];
            break;
        case "read memory":
            main = [name, " reads ", x, " from memory: ", memory, "."];
            why.push(unseen(run, before, step, index));
            break;
        case "read own write":
            main = [
                name,
                " reads ",
                x,
                ": ",
                code(entry?.value ?? ""),
                ", from its own write, which still waits in its ",
                place,
                ". Memory still has ",
                memory,
                ".",
            ];
            break;
        case "read remote write":
            main = [
                name,
                " reads ",
                x,
                ": ",
                code(entry?.value ?? ""),
                ", from a write of ",
                code(step.source),
                " that has not reached memory.",
            ];
            break;
        case "read history":
        case "read buffer":
            main = [
                name,
                " reads an older value of ",
                x,
                ": ",
                code(step.text.match(/ → (.*?)( \(an older value\))?$/)?.[1] ?? step.text),
                ".",
            ];
            why.push(oldValue(before, step));
            break;
        case "read older write":
            main = [
                name,
                " reads an older value of ",
                x,
                ": ",
                code(step.text.match(/ → (.*?)( \w+)?( \(old\))?$/)?.[1] ?? step.text),
                ". The newest is ",
                memory,
                ", but nothing that this process has read makes it visible here.",
            ];
            break;
        case "write before newer ones":
            main = [name, ": ", code(step.text), ". It comes before newer writes of ", x, " in their order."];
            break;
        case "guess":
            main = [
                name,
                " goes on before the value of ",
                x,
                " has arrived: it guesses ",
                code(entry?.value ?? ""),
                ". The guess has to come true later.",
            ];
            break;
        case "validate":
            main = [
                "The guess of ",
                name,
                " comes true: memory has ",
                code(`${entry.variable} = ${entry.value}`),
                ".",
            ];
            break;
        case "fence":
            main = [
                name,
                kind === "none" || kind === "messages"
                    ? " passes a fence."
                    : " passes a fence: all its earlier operations have taken effect.",
            ];
            break;
        case "write fence":
            main =
                kind === "messages"
                    ? [name, " passes a release fence."]
                    : [name, " passes a write fence: its earlier writes reach memory before its later ones."];
            break;
        case "read fence":
            main =
                kind === "messages"
                    ? [name, " passes an acquire fence."]
                    : [name, " passes a read fence: its earlier reads take effect before its later ones."];
            break;
        case "atomic read-write":
            main = step.text.startsWith("atomic ")
                ? [
                      name,
                      " reads and writes ",
                      x,
                      " in one step: ",
                      code(step.text.slice(`atomic ${step.variable}: `.length)),
                      ".",
                  ]
                : [name, ": ", code(step.text), "."];
            break;
        default:
            main = step.text === "step" ? [name, " goes on."] : [name, ": ", code(step.text), "."];
    }
    for (const earlier of step.synchronizes ?? []) {
        const other = code(run.processes[run.steps[earlier - 1].process]);
        why.push([`It synchronizes with step ${earlier}: `, name, " has now seen all that ", other, " had seen then."]);
    }
    const landed = landing(step, before, after, index);
    if (landed) main.push(" ", landed);
    const alert = run.overtakes.filter((o) => o.at === number).map((o) => [overtaking(run, o), " "]);
    return { main, why: why.filter((w) => w), alert };
}

/// That the others do not see a write that waits, and what they read meanwhile: memory, unless
/// one has a write of its own to the variable, or may read something older.
function unseenBy(run, before, step, index) {
    const others = run.processes.filter((_, i) => i !== index);
    if (!others.length) return "";
    const hasOwn = before.processes.some(
        (p, i) => i !== index && pendingOf(p).some((e) => e.variable === step.variable),
    );
    const names = others.length <= 2 ? listed(others.map(code)) : "the others";
    const [see, read] =
        others.length === 1 ? ["does not see it yet", "still reads "] : ["do not see it yet", "still read "];
    const meanwhile =
        hasOwn || run.scene.buffers === "history" ? [] : [", and ", read, code(before.memory[step.variable])];
    return ["; ", names, ` ${see}`, meanwhile];
}

/// The reads that returned an old value because the write of another process still waited:
/// `{ step, entry }`.
function missed(run) {
    const found = [];
    const pending = new Map();
    run.scene.steps.forEach((step, i) => {
        const index = run.steps[i].process;
        if (step.rule === "read memory" && found.length < 12) {
            for (const entry of pending.values()) {
                const isOther =
                    entry.process !== index && entry.kind === "write" && entry.variable === step.variable;
                if (isOther && !found.some((f) => f.step === i + 1)) found.push({ step: i + 1, entry });
            }
        }
        for (const entry of step.enters ?? []) pending.set(entry.id, { ...entry, process: index });
        for (const id of step.leaves ?? []) pending.delete(id);
    });
    return found.filter(({ step, entry }) => !run.scene.steps[step - 1].text.endsWith(` → ${entry.value}`));
}

/// Why a run of a weak memory model gets where it gets, in sentences.
function reasons(run) {
    const place = WAITING[run.scene.buffers];
    const old = run.scene.steps.flatMap((step, i) =>
        /^read (history|buffer)$/.test(step.rule) && step.overtakes?.length ? [i + 1] : [],
    );
    const readings = old.slice(0, 2).map((number) => {
        const step = run.scene.steps[number - 1];
        const now = run.state(number).memory[step.variable];
        const since =
            run.scene.steps.findLastIndex((s, i) => i < number && s.memory?.[step.variable] !== undefined) +
            1;
        return [
            `In step ${number} `,
            code(step.process),
            " reads an old value of ",
            code(step.variable),
            ": memory has had ",
            code(now),
            since > 0 ? ` since step ${since}` : "",
            ", but ",
            code(step.process),
            " has not caught up with that.",
        ];
    });
    const groups = [];
    for (const { step, entry } of missed(run)) {
        const reader = run.steps[step - 1].process;
        const same = groups.find((g) => g.entry.id === entry.id && g.reader === reader);
        if (same) same.steps.push(step);
        else groups.push({ steps: [step], entry, reader });
    }
    const found = readings.concat(
        groups.slice(0, 3).map(({ steps, entry }) => {
            const shownStep = run.scene.steps[steps[0] - 1];
            const owner = () => code(run.processes[entry.process]);
            return [
                steps.length === 1 ? "In step " : "In steps ",
                listed(steps.map(String)),
                " ",
                code(shownStep.process),
                " reads an old value of ",
                code(shownStep.variable),
                ": ",
                owner(),
                " has written ",
                code(entry.value),
                ` in step ${entry.id}, but that write still waits in the ${place} of `,
                owner(),
                ".",
            ];
        }),
    );
    return found.length
        ? found
        : run.overtakes
              .slice(0, 2)
              .map((overtake) => [code(run.processes[overtake.process]), ": ", overtakeWords(run, overtake)]);
}

/// The writes of others that a read does not see.
function unseen(run, before, step, index) {
    const place = WAITING[run.scene.buffers];
    const found = [];
    before.processes.forEach((process, i) => {
        if (i === index) return;
        const last = pendingOf(process)
            .filter((e) => e.kind === "write" && e.variable === step.variable)
            .at(-1);
        if (last) found.push([last, i]);
    });
    if (!found.length) return null;
    return found
        .slice(0, 3)
        .map(([entry, i]) => [
            "It does not see the write ",
            code(entryText(entry)),
            ` (step ${entry.id}) of `,
            code(run.processes[i]),
            `, which is still in the ${place} there. `,
        ]);
}

/// Why an old value can be read.
function oldValue(before, step) {
    return [
        "Memory already has ",
        code(step.variable),
        " = ",
        code(before.memory[step.variable]),
        ", but this process may still read an older value.",
    ];
}

/// Where the process gets to, if that has a name.
function landing(step, before, after, index) {
    const process = after.processes[index];
    const labels = step.place?.labels ?? [];
    if (process.place.failure && !before.processes[index].place.failure)
        return [code(step.process), " fails: ", code(process.place.failure), "."];
    if (process.place.ended && !before.processes[index].place.ended) return [code(step.process), " has ended."];
    if (!step.place || !labels.length) return null;
    return ["Now ", code(step.process), " is at ", listed(labels.map((label) => code(label))), "."];
}

/// The operation of a step, as a sentence names it.
function operation(run, number) {
    const entry = run.entries.get(number);
    if (entry?.kind === "read") return ["read of ", code(entry.variable), " as ", code(entry.value)];
    return entry ? ["write ", code(entryText(entry))] : [code(run.scene.steps[number - 1].text)];
}

/// What overtook what, as a sentence.
function overtaking(run, overtake) {
    const late = overtake.late.slice(0, 4);
    const more = overtake.late.length - late.length;
    const names = [...new Set(overtake.late.map((l) => l.relaxation))];
    const what = late.map((l) => [operation(run, l.step), ` (step ${l.step})`]);
    if (more > 0) what.push([counted(more, "other operation")]);
    const isRead = names.every((n) => n.endsWith("->r"));
    return [
        isRead ? "This read does not wait for" : "This write gets to memory before",
        " the earlier ",
        listed(what),
        " of the same process: it overtakes ",
        overtake.late.length === 1 ? "it " : "them ",
        listed(names.map(relaxed)),
        ".",
    ];
}

/// What overtook what, as an item of a list that can be read by itself.
function overtakeItem(run, overtake, go) {
    return el(
        "li",
        { class: hue(overtake.process) },
        el("bdi", { class: "badge" }, cut(run.processes[overtake.process], 24)),
        " ",
        overtakeWords(run, overtake),
        " ",
        button(`go to step ${overtake.at}`, `go to step ${overtake.at}`, () => go(overtake.at), {
            class: "again",
        }),
    );
}

/// What overtook what, without the name of the process.
function overtakeWords(run, overtake) {
    const step = run.scene.steps[overtake.at - 1];
    const lates = overtake.late.slice(0, 4).map((l) => {
        const entry = run.entries.get(l.step);
        const left = run.left.get(l.step);
        const when = left ? `reached memory in step ${left}` : "never reached memory in this run";
        const is = entry && entry.kind !== "read";
        return ["the ", operation(run, l.step), ` (step ${l.step}${is ? `, ${when}` : ""})`];
    });
    const more = overtake.late.length - lates.length;
    if (more > 0) lates.push([counted(more, "other operation")]);
    const names = [...new Set(overtake.late.map((l) => l.relaxation))];
    return [
        code(step.text),
        ` (step ${overtake.at}) took effect before `,
        listed(lates),
        `, although ${lates.length === 1 && more <= 0 ? "that comes" : "those come"} earlier in its code `,
        listed(names.map(relaxed)),
        ".",
    ];
}
