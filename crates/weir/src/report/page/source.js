// The text of a program, with the line at which every process is.

/// A panel with numbered lines. `mark(places)` shows processes at lines: a list of
/// `{ line, process, name }`.
function sourcePanel(source) {
    const lines = source.text.split("\n");
    if (lines.length > 1 && lines.at(-1) === "") lines.pop();
    const rows = lines.map((text, i) => {
        const at = el("span", { class: "at" });
        const number = el("span", { class: "number" }, `${i + 1}`);
        const row = el("li", { "data-line": i + 1 }, number, el("span", { class: "text" }, text || " "), at);
        return { row, at };
    });
    const element = el(
        "section",
        { class: "source", tabindex: 0, "aria-label": `the text of ${source.file}` },
        el(
            "ol",
            {},
            rows.map(({ row }) => row),
        ),
    );
    let marked = [];
    const mark = (places, follow) => {
        for (const { row, at } of marked) {
            row.classList.remove("here");
            at.replaceChildren();
        }
        marked = [];
        for (const { line, process, name } of places) {
            const found = rows[line - 1];
            if (!found) continue;
            found.row.classList.add("here");
            found.at.append(
                el("bdi", { class: `badge ${hue(process)}`, title: `${name} is here` }, `◂ ${cut(name, 14)}`),
            );
            marked.push(found);
        }
        const seen = rows[follow - 1];
        if (seen) reveal(element, seen.row);
    };
    const row = (line) => rows[line - 1]?.row;
    return { element, mark, row };
}

/// Scrolls a box, and only this box, until an element in it can be seen.
function reveal(box, element) {
    const outer = box.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    if (inner.top < outer.top + 30) box.scrollTop += inner.top - outer.top - outer.height / 3;
    else if (inner.bottom > outer.bottom - 30)
        box.scrollTop += inner.bottom - outer.bottom + outer.height / 3;
    if (inner.left < outer.left + 20) box.scrollLeft += inner.left - outer.left - outer.width / 3;
    else if (inner.right > outer.right - 20 && box.classList.contains("scroll")) {
        box.scrollLeft += inner.right - outer.right + outer.width / 3;
    }
}
