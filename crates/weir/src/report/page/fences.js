// `weir fences`: where fences are needed, the sets that repair a program, and what comes
// back without a fence.

const FENCES = {
    repaired: [
        "good",
        (r) =>
            `${counted(r.sets[0].fences.length, "fence")} ${r.sets[0].fences.length === 1 ? "repairs" : "repair"} this under ${r.model}`,
    ],
    "none needed": ["good", (r) => `No fence is needed under ${r.model}`],
    impossible: ["bad", (r) => `No fences can repair this under ${r.model}`],
    "not enough": ["bad", (r) => `All fences of this program together are not enough under ${r.model}`],
    unknown: ["open", (r) => `It is not known which fences repair this under ${r.model}`],
};

const KINDS = {
    fence: "orders everything before it with everything after it",
    wfence: "orders the writes before it with the writes after it",
    rfence: "orders the reads before it with the reads after it",
};

function fencesView(report) {
    const source = sourceOf(report);
    const [mood, says] = FENCES[report.verdict] ?? ["open", () => report.verdict];
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
                        title: `region ${i + 1}: a ${place.kind} may stand before this line`,
                    },
                    "▸",
                ),
            );
        }
    });
    const sets = report.sets.filter((set) => set.fences.length);
    const buttons = sets.map((set, i) =>
        button(`set ${i + 1}, cost ${set.cost}`, `show set ${i + 1}`, () => show(i)),
    );
    const show = (i) => {
        toAddress({ set: i });
        buttons.forEach((b, j) => b.setAttribute("aria-pressed", i === j));
        inserted.forEach((row) => row.remove());
        inserted = sets[i].fences.map((fence) => {
            const row = text.row(fence.line);
            const indent = (lines[fence.line - 1] ?? "").match(/^\s*/)[0];
            const line = el(
                "li",
                { class: "inserted" },
                el("span", { class: "number" }, "+"),
                el("span", { class: "text" }, `${indent}${fence.kind}`),
                fence.column > indent.length + 1
                    ? el("span", { class: "at" }, `in the next line, at column ${fence.column}`)
                    : null,
            );
            row?.before(line);
            return line;
        });
        if (inserted[0]) reveal(text.element, inserted[0]);
        below.replaceChildren();
        activeRun?.stop();
        activeRun = null;
        const items = sets[i].fences.map((fence, j) =>
            el(
                "li",
                {},
                code(fence.kind),
                ` before line ${fence.line}: `,
                code(cut((lines[fence.line - 1] ?? "").trim(), 60)),
                ". ",
                el("span", { class: "quiet" }, `It ${KINDS[fence.kind] ?? "orders memory accesses"}. `),
                fence.without
                    ? [
                          " Without it, ",
                          fence.without.property
                              ? [code(fence.without.property), " is violated"]
                              : "there is a run that SC does not have",
                          `, in ${counted(fence.without.steps, "step")}. `,
                          fence.without.scene
                              ? button(
                                    "show that run",
                                    `the run without the ${fence.kind} before line ${fence.line}`,
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
        const fence = sets[i].fences[j];
        const other = { file: report.file, text: fence.without.text };
        const title = el(
            "div",
            { class: "banner bad" },
            el("h2", {}, `Without the ${fence.kind} before line ${fence.line}`),
            reasons(runOf(fence.without.scene, other)).map((r) => el("p", {}, r)),
        );
        showRun(
            below,
            title,
            fence.without.scene,
            other,
            fence.without.property ? `So ${fence.without.property} is violated.` : "",
        );
        below.scrollIntoView({ block: "start" });
    };
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
                    report.complete && sets.length
                        ? sets.length === 1
                            ? "There is one minimal set."
                            : `There are ${sets.length} minimal sets.`
                        : sets.length
                          ? "There may be other sets."
                          : "",
                ),
                report.reason ? el("p", {}, report.reason) : null,
            ),
            el("nav", { class: "tabs", "aria-label": "sets of fences" }, buttons.length > 1 ? buttons : null),
            regions,
            el("div", { class: "run" }, el("div", { class: "left" }, text.element), side),
            below,
        ),
        start: () => {
            if (sets.length) show(chosenIn("set", sets.length, 0));
        },
    };
}
