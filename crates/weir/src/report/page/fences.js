// `weir fences`: where fences or stronger orders are needed, the sets that repair a program, and
// what comes back without one of them; and which orders can be weaker.

const FENCES = {
    repaired: [
        "good",
        (r) =>
            `${counted(r.sets[0].fences.length, "fence")} ${r.sets[0].fences.length === 1 ? "repairs" : "repair"} this under ${r.model}`,
    ],
    "none needed": [
        "good",
        (r) =>
            /order/.test(r.headline) ? `Under ${r.model} ${r.headline}` : `No fence is needed under ${r.model}`,
    ],
    orders: ["good", (r) => `Under ${r.model} ${r.headline}`],
    weaker: ["good", (r) => `Under ${r.model} ${r.headline}`],
    "none weaker": ["good", (r) => `Under ${r.model} ${r.headline}`],
    impossible: [
        "bad",
        (r) =>
            /fences/.test(r.headline)
                ? `No fences can repair this under ${r.model}`
                : `Under ${r.model} ${r.headline}`,
    ],
    existing: ["good", (r) => `Under ${r.model} ${r.headline}`],
    "not enough": [
        "bad",
        (r) =>
            /orders/.test(r.headline)
                ? `Under ${r.model} ${r.headline}`
                : `All fences of this program together are not enough under ${r.model}`,
    ],
    unknown: [
        "open",
        (r) =>
            /order/.test(r.headline)
                ? `Under ${r.model} ${r.headline}`
                : `It is not known which fences repair this under ${r.model}`,
    ],
};

const KINDS = {
    fence: "orders everything before it with everything after it",
    wfence: "orders the writes before it with the writes after it",
    rfence: "orders the reads before it with the reads after it",
    relaxed: "orders nothing",
    acquire: "sees all that the store that it reads from has released",
    release: "shows whoever acquires it all that came before",
    acq_rel: "acquires and releases",
    seq_cst: "is in the one order of all seq_cst operations",
};

/** A fence, or what an order becomes. */
const changeOf = (fence) =>
    fence.now === undefined || fence.now === fence.word
        ? fence.word
        : `${fence.access} ${fence.now} → ${fence.word}`;

function fencesView(report) {
    const source = sourceOf(report);
    const existing = report.existing ?? [];
    const isExisting = report.verdict === "repaired" && existing.length > 0;
    const isOrders = report.verdict === "repaired" && report.sets.some((s) => s.fences.some((f) => f.now));
    const result = isExisting ? "existing" : isOrders ? "orders" : report.verdict;
    const [mood, says] = FENCES[result] ?? ["open", () => report.verdict];
    const text = sourcePanel(source);
    const side = el("div", { class: "right" });
    const below = el("div", {});
    const lines = source.text.split("\n");
    let inserted = [];

    // Each region has a color; its places have a mark in the margin.
    report.regions.forEach((region, i) => {
        for (const place of region) {
            const row = text.row(place.line);
            row?.prepend(
                el(
                    "span",
                    {
                        class: `margin ${hue(i)}`,
                        title: `region ${i + 1}: a ${place.word} ${place.place}`,
                    },
                    "▸",
                ),
            );
        }
    });
    // Of weaker orders, those that stay are shown too.
    const listed = (set) => [
        ...(set.kept ?? []),
        ...set.fences.filter((f) => !(set.kept ?? []).some((k) => k.line === f.line && k.column === f.column)),
    ];
    const sets = report.sets.filter((set) => listed(set).length);
    const buttons = sets.map((set, i) =>
        button(`set ${i + 1}, cost ${set.cost}`, `show set ${i + 1}`, () => show(i)),
    );
    const show = (i) => {
        toAddress({ set: i });
        buttons.forEach((b, j) => b.setAttribute("aria-pressed", i === j));
        inserted.forEach((row) => row.remove());
        // A set without a patch is one of fences that the text has.
        const added = sets[i].patch ? sets[i].fences : [];
        inserted = added.map((fence) => {
            const row = text.row(fence.line);
            const indent = (lines[fence.line - 1] ?? "").match(/^\s*/)[0];
            const line = el(
                "li",
                { class: "inserted" },
                el("span", { class: "number" }, "+"),
                el("span", { class: "text" }, `${indent}${changeOf(fence)}`),
                fence.column > indent.length + 1
                    ? el("span", { class: "at" }, fence.place)
                    : null,
            );
            if (fence.place.startsWith("behind ")) row?.after(line);
            else row?.before(line);
            return line;
        });
        if (inserted[0]) reveal(text.element, inserted[0]);
        below.replaceChildren();
        activeRun?.stop();
        activeRun = null;
        const items = listed(sets[i]).map((fence, j) =>
            el(
                "li",
                {},
                code(changeOf(fence)),
                " ",
                quoted(fence.place),
                ": ",
                code(cut((lines[fence.line - 1] ?? "").trim(), 60)),
                ". ",
                el("span", { class: "quiet" }, `It ${KINDS[fence.kind] ?? "orders memory accesses"}. `),
                fence.without
                    ? [
                          fence.instead ? ` With ${fence.instead}, ` : " Without it, ",
                          quoted(fence.without.shows),
                          `, in ${counted(fence.without.steps, "step")}. `,
                          fence.without.scene
                              ? button(
                                    "show that run",
                                    `the run without the ${fence.word} ${fence.place}`,
                                    () => without(i, j),
                                )
                              : null,
                      ]
                    : null,
            ),
        );
        side.replaceChildren();
        append(side, [
            el("h2", {}, `Set ${i + 1}`),
            el("ul", {}, items),
            sets[i].patch
                ? [
                      el("h3", {}, "The patch"),
                      el(
                          "pre",
                          { class: "patch", tabindex: 0 },
                          sets[i].patch.split("\n").map((l) =>
                              el(
                                  "span",
                                  {
                                      class:
                                          l.startsWith("+") && !l.startsWith("+++")
                                              ? "plus"
                                              : l.startsWith("-") && !l.startsWith("---")
                                                ? "minus"
                                                : "",
                                  },
                                  `${l}\n`,
                              ),
                          ),
                      ),
                  ]
                : null,
        ]);
    };
    const without = (i, j) => {
        const fence = listed(sets[i])[j];
        const less = fence.instead ? `With ${fence.instead}` : `Without the ${fence.word}`;
        showBroken(`${less} ${fence.place}, ${fence.without.shows}.`, fence.without);
        below.scrollIntoView({ block: "start" });
    };
    const showBroken = (title, found) => {
        const other = { file: report.file, text: found.text };
        const above = el(
            "div",
            { class: "banner bad" },
            el("h2", {}, quoted(title)),
            reasons(runOf(found.scene, other)).map((r) => el("p", {}, r)),
        );
        showRun(below, above, found.scene, other, `So ${found.shows.replaceAll("`", "")}.`);
    };
    // Runs that no fences prevent stand in the place of sets.
    const beyond = report.beyond ?? [];
    const beyondButtons = beyond.map((found, i) =>
        button(`run ${i + 1}`, `${found.whose} ${found.shows}`, () => showBeyond(i)),
    );
    const showBeyond = (i) => {
        toAddress({ run: i });
        beyondButtons.forEach((b, j) => b.setAttribute("aria-pressed", i === j));
        showBroken(`${beyond[i].whose} ${beyond[i].shows}.`, beyond[i]);
    };
    const fences = existing.length
        ? [
              el("h2", {}, "The fences of the program"),
              el(
                  "ul",
                  {},
                  existing.map(({ line, verdict }) =>
                      el("li", {}, `line ${line}: `, code((lines[line - 1] ?? "").trim()), `, ${verdict}`),
                  ),
              ),
          ]
        : null;
    const regions = report.regions.length
        ? el(
              "p",
              { class: "legend" },
              "Marks in the margin are regions: ",
              report.regions.map((region, i) => [
                  i > 0 ? ", " : "",
                  el("span", { class: `margin ${hue(i)}` }, "▸"),
                  ` region ${i + 1}, ${counted(region.length, "place")}`,
              ]),
              ". Every set that repairs the program has a fence of each region.",
          )
        : null;
    return {
        element: el(
            "div",
            {},
            el(
                "div",
                { class: `banner ${mood}` },
                el("h1", {}, says(report)),
                el(
                    "p",
                    {},
                    report.complete && sets.length && !isExisting
                        ? sets.length === 1
                            ? "There is one minimal set."
                            : `There are ${sets.length} minimal sets.`
                        : sets.length && !isExisting
                          ? "There may be other sets."
                          : "",
                ),
                report.reason ? el("p", {}, quoted(report.reason)) : null,
            ),
            buttons.length > 1 ? el("nav", { class: "tabs", "aria-label": "sets of fences" }, buttons) : null,
            beyond.length > 1 ? el("nav", { class: "tabs", "aria-label": "runs" }, beyondButtons) : null,
            fences,
            regions,
            sets.length
                ? el("div", { class: "run" }, el("div", { class: "left" }, text.element), side)
                : beyond.length
                  ? null
                  : text.element,
            below,
        ),
        start: () => {
            if (sets.length) show(chosenIn("set", sets.length, 0));
            else if (beyond.length) showBeyond(chosenIn("run", beyond.length, 0));
        },
    };
}
