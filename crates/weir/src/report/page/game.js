// `weir game`: who wins, and a board on which to play against the strategy.

const PLAYERS = {
    process: "the process player, who picks instructions",
    update: "the update player, who picks what happens to buffers",
};

function gameView(report) {
    const source = sourceOf(report);
    const body = el("div", {});
    const tabs = report.games.map((game, i) => button(game.name, `the game ${game.name}`, () => show(i)));
    const show = (i) => {
        const game = report.games[i];
        toAddress({ property: i });
        tabs.forEach((tab, j) => tab.setAttribute("aria-pressed", i === j));
        const mood = { process: "good", update: "bad" }[game.winner] ?? "open";
        const line = (source.text.split("\n")[game.line - 1] ?? "").trim();
        body.replaceChildren();
        append(body, [
            el(
                "div",
                { class: `banner ${mood}` },
                el(
                    "h1",
                    {},
                    code(game.name),
                    game.winner ? `: the ${game.winner} player wins` : ": the winner is unknown",
                ),
                el(
                    "p",
                    {},
                    "The game: ",
                    code(line),
                    game.objective === "reach"
                        ? ". The process player wants some process to get to a target; the update player wants to prevent it."
                        : ". The process player wants no process to get to a target; the update player wants one to get there.",
                ),
                el("p", {}, "Why: ", quoted(game.argument), "."),
            ),
            game.play ? boardView(game, source) : null,
        ]);
    };
    return {
        element: el(
            "div",
            {},
            el("nav", { class: "tabs", "aria-label": "games" }, tabs.length > 1 ? tabs : null),
            body,
        ),
        start: () => show(chosenIn("property", report.games.length, 0)),
    };
}

/// A board. The person plays the player who loses.
function boardView(game, source) {
    const { play } = game;
    const text = sourcePanel(source);
    const lanes = el("div", { class: "lanes" });
    const moves = el("div", { class: "moves", role: "group", "aria-label": "your moves" });
    const said = announcer();
    const log = el("ol", { class: "steps" });
    let past = [{ node: 0, said: null }];

    const draw = () => {
        const { node: number, said: last } = past.at(-1);
        const node = play.nodes[number];
        lanes.replaceChildren(
            ...play.processes.map((name, i) =>
                el(
                    "section",
                    { class: `lane ${hue(i)}`, "data-process": name },
                    el("h3", {}, el("bdi", {}, name)),
                    el("div", { class: "place" }, node.places[i]),
                    el(
                        "div",
                        { class: "queue" },
                        el("div", { class: "label" }, game.play.buffers),
                        el(
                            "div",
                            { class: "pipe" },
                            node.buffers[i].length
                                ? node.buffers[i].map((m) => el("span", { class: "write" }, m))
                                : el("span", { class: "none" }, "empty"),
                        ),
                    ),
                ),
            ),
            el(
                "section",
                { class: "memory" },
                el("h3", {}, "memory"),
                el(
                    "div",
                    { class: "cells" },
                    Object.entries(node.memory).map(([name, value]) =>
                        el(
                            "div",
                            { class: "variable" },
                            el("bdi", { class: "name" }, name),
                            el("span", { class: "value" }, value),
                        ),
                    ),
                ),
            ),
        );
        text.mark(
            node.lines.flatMap((line, process) =>
                line ? [{ line, process, name: play.processes[process] }] : [],
            ),
            node.lines.find((l) => l) ?? 0,
        );
        said.replaceChildren();
        append(said, [
            last ? `${last} ` : "",
            node.over
                ? el(
                      "strong",
                      {},
                      node.over.winner === play.person
                          ? `You win: ${node.over.why}.`
                          : `You lose: ${node.over.why}.`,
                  )
                : "Your turn.",
        ]);
        moves.replaceChildren(
            ...(node.moves ?? []).map((move, i) =>
                button(`${i + 1}. ${move.text}`, move.text, () => take(move), { class: "move" }),
            ),
        );
        if (!node.over && !(node.moves ?? []).length)
            append(moves, "The board ends here: it has only so many positions.");
        log.replaceChildren(
            ...past.slice(1).map((entry, i) =>
                el(
                    "li",
                    {},
                    button(
                        `${i + 1}`,
                        `back to move ${i + 1}`,
                        () => {
                            past = past.slice(0, i + 2);
                            draw();
                        },
                        { class: "go" },
                    ),
                    el("span", {}, entry.said),
                ),
            ),
        );
    };
    const take = (move) => {
        past.push({
            node: move.to,
            said: `You: ${move.text}. ${move.reply ? `${play.person === "process" ? "The update player" : "The process player"}: ${move.reply}.` : ""}`,
        });
        draw();
        (moves.querySelector("button") ?? controls.querySelector("button")).focus();
    };
    const controls = el(
        "div",
        { class: "controls" },
        button("◀ undo", "take back your last move", () => {
            if (past.length > 1) past.pop();
            draw();
        }),
        button("begin again", "begin the game again", () => {
            past = past.slice(0, 1);
            draw();
        }),
    );
    const element = el(
        "section",
        { class: "board" },
        el("h2", {}, "Play"),
        el(
            "p",
            {},
            `You are ${PLAYERS[play.person]}. The other player follows the winning strategy, so you will lose; see how.`,
        ),
        el(
            "div",
            { class: "run" },
            el("div", { class: "left" }, text.element),
            el("div", { class: "right" }, lanes, said, moves, controls, log),
        ),
    );
    past[0].said = play.first ? `The process player: ${play.first}.` : null;
    draw();
    return element;
}
