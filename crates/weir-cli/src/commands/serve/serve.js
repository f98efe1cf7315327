// `weir serve`: an editor beside the report.

const PAUSE = 300;
const ASK_EVERY = 150;

const BUTTONS = {
    check: "Check",
    compare: "Compare",
    fences: "Fences",
    outcomes: "Outcomes",
    robust: "Robust",
    live: "Live",
    game: "Game",
    graph: "Graph",
};

const HINTS = {
    check: "answer every property under the memory model (Ctrl+Enter)",
    compare: "answer every property under all named memory models",
    fences: "find the least fences that repair the program",
    outcomes: "list all final states, and a run to each",
    robust: "say whether the memory model adds anything to sequential consistency",
    live: "ask about infinite runs",
    game: "say who wins the games of the program",
    graph: "draw the states of the program",
};

const FIRST =
    "var x, y\n\nprocess p { reg r   x = 1   r = y }\nprocess q { reg r   y = 1   r = x }\n\none_sees: final never p.r == 0 and q.r == 0\n";

/// Asks the server; what it says is JSON.
async function ask(path, body) {
    const options =
        body === undefined
            ? {}
            : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    const answer = await fetch(path, options);
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error ?? `status ${answer.status}`);
    return value;
}

function application(data, root) {
    const text = el("textarea", {
        spellcheck: "false",
        autocapitalize: "off",
        autocomplete: "off",
        wrap: "off",
        "aria-label": "the text of the program",
        oninput: () => edited(),
    });
    const gutter = el("pre", { class: "gutter", "aria-hidden": true });
    const problems = el("ul", { class: "problems", "aria-live": "polite", "aria-label": "errors" });
    const report = el("div", { "aria-label": "the report" });
    const working = el("p", { class: "working", role: "status" });
    const groups = [...new Set(data.gallery.map((e) => e.group))];
    const gallery = el(
        "select",
        { "aria-label": "programs", onchange: () => pick(Number(gallery.value)) },
        el("option", { value: "" }, "choose a program …"),
        groups.map((group) =>
            el(
                "optgroup",
                { label: group },
                data.gallery.flatMap((e, i) =>
                    e.group === group ? [el("option", { value: `${i}` }, e.name)] : [],
                ),
            ),
        ),
    );
    const model = el(
        "select",
        { "aria-label": "memory model" },
        data.models.map((name) => el("option", { value: name, selected: name === "TSO" }, name)),
    );
    const engine = el(
        "select",
        { "aria-label": "engine" },
        data.engines.map((e) => el("option", { value: e.name, title: e.about }, e.name)),
    );
    const buttons = data.commands.map((command) =>
        button(BUTTONS[command], HINTS[command], () => run(command), {
            class: command === "check" ? "main" : "",
            "data-command": command,
        }),
    );
    let name = "program.weir";
    let errors = [];
    let job = null;
    let typed = 0;
    let places = [];

    const lines = () => {
        const bad = new Set(errors.map((e) => e.error.line));
        const here = new Map(places.map(({ line, process }) => [line, process]));
        gutter.replaceChildren(
            ...text.value.split("\n").flatMap((_, i) => {
                const process = here.get(i + 1);
                const kind = bad.has(i + 1) ? "bad" : process === undefined ? "" : `badge ${hue(process)}`;
                return [el("span", { class: kind }, `${i + 1}`), "\n"];
            }),
        );
        gutter.scrollTop = text.scrollTop;
    };
    text.addEventListener("scroll", () => (gutter.scrollTop = text.scrollTop));
    text.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run("check");
    });
    // While the text is that of the report, its lines show where the processes are.
    follower = (of, found) => {
        places = of === text.value ? found : [];
        root.classList.toggle("same", places.length > 0);
        lines();
    };
    const edited = () => {
        places = [];
        root.classList.remove("same");
        lines();
        const number = ++typed;
        setTimeout(() => number === typed && look(number), PAUSE);
    };
    /// Looks for errors, and shows them unless the text has changed since.
    const look = async (number) => {
        let found;
        try {
            found = await ask("errors", { text: text.value, name });
        } catch (error) {
            found = [{ error: { message: String(error.message ?? error) } }];
        }
        if (number !== typed) return;
        errors = found;
        problems.replaceChildren(
            ...errors
                .slice(0, 10)
                .map(({ error }) =>
                    el(
                        "li",
                        {},
                        error.line
                            ? button(`line ${error.line}`, `go to line ${error.line}`, () =>
                                  goTo(error.line, error.column),
                              )
                            : null,
                        " ",
                        error.message,
                        error.help ? el("div", { class: "quiet" }, error.help) : null,
                    ),
                ),
        );
        problems.dataset.checked = text.value.length;
        lines();
    };
    const goTo = (line, column) => {
        const before = text.value
            .split("\n")
            .slice(0, line - 1)
            .join("\n");
        const at = before.length + (line > 1 ? 1 : 0) + (column ?? 1) - 1;
        text.focus();
        text.setSelectionRange(at, at);
    };
    const pick = async (number) => {
        if (!data.gallery[number]) return;
        try {
            const found = await ask(`text/${number}`);
            name = data.gallery[number].name;
            // The model that the command line has by default.
            model.value = /\.(c|rs)$/.test(name) ? "C11" : "TSO";
            text.value = found.text;
            text.scrollTop = 0;
            edited();
        } catch (error) {
            complain([{ error: { message: String(error.message ?? error) } }]);
        }
    };
    const complain = (found) => {
        activeRun?.stop();
        activeRun = null;
        report.replaceChildren(
            el(
                "div",
                { class: "banner open" },
                found.map(({ error }) =>
                    el(
                        "p",
                        {},
                        error.line ? `line ${error.line}: ` : "",
                        error.message,
                        error.help ? ` (${error.help})` : "",
                    ),
                ),
            ),
        );
    };
    const cancel = () => {
        if (job !== null) navigator.sendBeacon(`job/${job}/cancel`);
        job = null;
        working.replaceChildren();
    };
    const run = async (command) => {
        cancel();
        toAddress({ step: null, property: null, run: null, state: null, set: null, report: null });
        let mine;
        try {
            mine = (
                await ask("run", {
                    command,
                    text: text.value,
                    name,
                    model: model.value,
                    engine: engine.value,
                })
            ).job;
        } catch (error) {
            complain([{ error: { message: String(error.message ?? error) } }]);
            return;
        }
        job = mine;
        working.replaceChildren("…", button("stop", "stop this request", cancel));
        while (job === mine) {
            let found;
            try {
                found = await ask(`job/${mine}`);
            } catch (error) {
                found = { state: "ended", status: null, out: "", err: String(error.message ?? error) };
            }
            if (job !== mine) return;
            if (found.state === "ended") {
                job = null;
                show(command, mine, found);
                return;
            }
            working.firstChild.textContent =
                found.state === "waiting" ? "waiting for other requests" : `working, ${found.seconds} s`;
            await new Promise((done) => setTimeout(done, ASK_EVERY));
        }
    };
    const show = (command, number, found) => {
        working.replaceChildren();
        const all = found.out
            .split("\n")
            .filter((l) => l.trim())
            .map((l) => JSON.parse(l));
        const wrong = all.filter((r) => r.error);
        if (wrong.length || !all.length) {
            complain(
                wrong.length ? wrong : [{ error: { message: found.err.trim() || "there is no answer" } }],
            );
        } else {
            working.append(
                el("a", { href: `job/${number}/page`, download: "" }, "save this report as one HTML file"),
            );
            present({ weir: data.weir, command, reports: all }, report);
        }
        report.dataset.job = number;
    };
    addEventListener("pagehide", cancel);
    root.replaceChildren(
        el(
            "div",
            { class: "bar" },
            el("h1", {}, "Weir"),
            gallery,
            el("label", {}, "model ", model),
            el("label", {}, "engine ", engine),
            buttons,
        ),
        el(
            "div",
            { class: "app" },
            el("div", { class: "desk" }, el("div", { class: "editor" }, gutter, text), problems, working),
            report,
        ),
    );
    const opened = data.gallery.findIndex((e) => e.group === "this file");
    if (opened >= 0) {
        gallery.value = `${opened}`;
        pick(opened);
    } else {
        text.value = FIRST;
        edited();
    }
}

application(JSON.parse(document.getElementById("application").textContent), document.getElementById("page"));
