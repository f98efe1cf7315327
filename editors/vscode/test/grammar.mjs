// Colors every program of the repository with the grammar, and compares with what the server says
// that each word is. Arguments: the program `weir`, and the root of the repository.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const grammar = JSON.parse(readFileSync(join(here, "../syntaxes/weir.tmLanguage.json"), "utf8"));
const [weir = "weir", root = join(here, "../../..")] = process.argv.slice(2);

/** All regular expressions are compiled, so that none is invalid. */
const compiled = new Map();
function regex(source) {
    if (!compiled.has(source)) {
        compiled.set(source, new RegExp(source, "g"));
    }
    return compiled.get(source);
}

/** The rules that a list of patterns stands for. */
function rules(patterns) {
    return patterns.flatMap((pattern) => {
        if (pattern.include) {
            return rules([grammar.repository[pattern.include.slice(1)]]);
        }
        return pattern.match || pattern.begin ? [pattern] : rules(pattern.patterns);
    });
}
for (const rule of rules(grammar.patterns)) {
    [rule.match, rule.begin, rule.end].filter(Boolean).forEach(regex);
}

/** The scope of every character of a text, as an editor computes it: line by line. */
function colors(text) {
    const stack = [];
    return text.split("\n").map((line) => {
        const scopes = Array.from(line, () => null).concat(Array(line.length));
        const fill = (from, to, scope) => scopes.fill(scope, from, to);
        let at = 0;
        while (at <= line.length) {
            const open = stack.at(-1);
            const active = open ? [{ match: open.end, ends: true }, ...rules(open.patterns)]
                                : rules(grammar.patterns);
            let best = null;
            for (const rule of active) {
                const expression = regex(rule.match ?? rule.begin);
                expression.lastIndex = at;
                const found = expression.exec(line);
                if (found && (!best || found.index < best.found.index)) {
                    best = { rule, found };
                }
            }
            if (open) {
                fill(at, best ? best.found.index : line.length, open.name);
            }
            if (!best) {
                break;
            }
            const { rule, found } = best;
            const end = found.index + found[0].length;
            fill(found.index, end, rule.ends ? open.name : rule.name ?? null);
            for (const [number, { name }] of Object.entries(rule.captures ?? {})) {
                const start = found.index + found[0].lastIndexOf(found[number]);
                fill(start, start + found[number].length, name);
            }
            if (rule.ends) {
                stack.pop();
            } else if (rule.begin) {
                stack.push(rule);
            }
            at = end > at ? end : at + 1;
        }
        return scopes;
    });
}

/** What each kind of word must look like. */
const EXPECTED = {
    keyword: /^(keyword|storage|constant\.language|invalid)\./,
    number: /^constant\.numeric\./,
    string: /^string\./,
    comment: /^comment\./,
    operator: /^(keyword\.operator|punctuation)\.|^null$/,
    label: /^entity\.name\.label\.|^null$/,
};

/** A server that answers one request after the other. */
function server() {
    const child = spawn(weir, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    let buffer = Buffer.alloc(0);
    let number = 0;
    const waiting = new Map();
    child.stdout.on("data", (data) => {
        buffer = Buffer.concat([buffer, data]);
        for (;;) {
            const end = buffer.indexOf("\r\n\r\n");
            const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end))?.[1]);
            if (end < 0 || buffer.length < end + 4 + length) {
                return;
            }
            const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length));
            buffer = buffer.subarray(end + 4 + length);
            waiting.get(message.id)?.(message.result);
        }
    });
    const send = (message) => {
        const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
        child.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
        child.stdin.write(text);
    };
    const tell = (method, params) => send({ method, params });
    const ask = (method, params) =>
        new Promise((resolve) => {
            waiting.set(++number, resolve);
            send({ id: number, method, params });
        });
    return { tell, ask };
}

function programs(folder) {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? programs(path) : path.endsWith(".weir") ? [path] : [];
    });
}

const { tell, ask } = server();
const { capabilities } = await ask("initialize", {
    capabilities: {},
    initializationOptions: { models: [] },
});
const kinds = capabilities.semanticTokensProvider.legend.tokenTypes;
let [files, words, wrong] = [0, 0, 0];
for (const file of [...programs(join(root, "examples")), ...programs(join(root, "corpus"))]) {
    const text = readFileSync(file, "utf8");
    const uri = pathToFileURL(file).href;
    tell("textDocument/didOpen", { textDocument: { uri, languageId: "weir", version: 1, text } });
    const { data } = await ask("textDocument/semanticTokens/full", { textDocument: { uri } });
    tell("textDocument/didClose", { textDocument: { uri } });
    const scopes = colors(text);
    files += 1;
    for (let i = 0, line = 0, column = 0; i < data.length; i += 5) {
        column = data[i] === 0 ? column + data[i + 1] : data[i + 1];
        line += data[i];
        const kind = kinds[data[i + 3]];
        const shown = scopes[line].slice(column, column + data[i + 2]).map(String);
        words += 1;
        if (EXPECTED[kind] && !shown.every((scope) => EXPECTED[kind].test(scope))) {
            const word = text.split("\n")[line].slice(column, column + data[i + 2]);
            console.error(`${file}:${line + 1}: \`${word}\` is a ${kind}, but looks like ${shown[0]}`);
            wrong += 1;
        }
    }
}
await ask("shutdown");
tell("exit");
console.log(`${files} files, ${words} words, ${wrong} wrong`);
process.exitCode = wrong === 0 && files > 100 ? 0 : 1;
