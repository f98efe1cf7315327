// Elements, texts and the address. Everything that comes from a program passes through
// `shown` and becomes a text node: no part of the page is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

// What a text of a program could use to look like something else: control characters and
// those that turn the direction of writing.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/// A text with every control character spelled out.
function shown(text) {
    return String(text).replace(HIDDEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/// Adds children: elements, texts, lists of them; nothing for null.
function append(parent, children) {
    for (const child of [children].flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        parent.append(child instanceof Node ? child : shown(child));
    }
    return parent;
}

function dressed(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "style") Object.entries(value).forEach(([k, v]) => element.style.setProperty(k, v));
        else element.setAttribute(name, value === true ? "" : shown(value));
    }
    return append(element, children);
}

/// An HTML element.
function el(tag, attributes, ...children) {
    return dressed(document.createElement(tag), attributes, children);
}

/// An SVG element.
function svg(tag, attributes, ...children) {
    return dressed(document.createElementNS(SVG, tag), attributes, children);
}

/// A name of the program inside of a sentence. Its own direction of writing does not
/// reach the words around it.
function code(text) {
    return el("bdi", { class: "code" }, text);
}

/// A sentence in which names stand between backquotes.
function quoted(text) {
    return text.split("`").map((part, i) => (i % 2 ? code(part) : part));
}

/// A button.
function button(label, title, onclick, attributes) {
    return el("button", { type: "button", title, "aria-label": title, onclick, ...attributes }, label);
}

/// A text of at most so many characters.
function cut(text, most) {
    const letters = [...shown(text)];
    return letters.length <= most ? letters.join("") : `${letters.slice(0, most - 1).join("")}…`;
}

/// `1 step`, `2 steps`.
function counted(number, noun) {
    return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/// Names in a row: `a`, `b` and `c`.
function listed(parts, last = "and") {
    return parts.flatMap((part, i) => {
        if (i === 0) return [part];
        return [i === parts.length - 1 ? ` ${last} ` : ", ", part];
    });
}

/// What the address says, such as `#run=1&step=7`.
function fromAddress(name) {
    return new URLSearchParams(location.hash.slice(1)).get(name);
}

/// Puts something into the address, without a new entry in the history.
function toAddress(values) {
    const hash = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(values)) {
        if (value === null) hash.delete(name);
        else hash.set(name, value);
    }
    const text = hash.toString();
    if (`#${text}` !== location.hash) history.replaceState(null, "", `#${text}`);
}

/// Whether things should move.
function mayMove() {
    return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/// Whether a key belongs to the element that has it, and not to the page.
function isTyping(event) {
    const tag = event.target.tagName;
    const types =
        tag === "TEXTAREA" || tag === "SELECT" || (tag === "INPUT" && event.target.type !== "range");
    return types || event.ctrlKey || event.metaKey || event.altKey;
}

/// A place that speaks to screen readers.
function announcer() {
    return el("p", { class: "sentence", "aria-live": "polite", role: "status" });
}

const PROCESS_COLORS = 8;

/// The class that gives a process its color.
function hue(process) {
    return `hue${process % PROCESS_COLORS}`;
}
