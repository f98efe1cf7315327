// Runs the extension with stand-ins for the editor and the client: what it starts, and what it
// does with a run.
"use strict";
const assert = require("node:assert");
const Module = require("node:module");

const started = [];
const shown = [];
const commands = new Map();
const providers = new Map();
const sent = [];
const settings = { path: "/opt/weir", models: ["pso"], timeout: 7, languages: ["weir", "c"] };

class LanguageClient {
    constructor(id, name, server, options) {
        Object.assign(this, { id, name, server, options });
    }
    start() {
        started.push(this);
        return Promise.resolve();
    }
    stop() {
        this.isStopped = true;
        return Promise.resolve();
    }
    isRunning() {
        return !this.isStopped;
    }
    sendRequest(method, params) {
        sent.push([method, params]);
        return Promise.resolve(null);
    }
}

const disposable = { dispose() {} };
const vscode = {
    EventEmitter: class {
        event = () => disposable;
        fire() {}
    },
    Uri: { from: ({ scheme, path }) => ({ toString: () => `${scheme}:${path}` }) },
    ViewColumn: { Beside: -2 },
    workspace: {
        getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
        registerTextDocumentContentProvider: (scheme, provider) => {
            providers.set(scheme, provider);
            return disposable;
        },
    },
    commands: {
        registerCommand: (name, run) => {
            commands.set(name, run);
            return disposable;
        },
    },
    window: {
        activeTextEditor: { document: { uri: "file:///a.weir" } },
        showErrorMessage: (message) => assert.fail(message),
        showTextDocument: (address) => {
            shown.push(address);
            return Promise.resolve();
        },
    },
};

const load = Module._load;
Module._load = (name, ...rest) => {
    if (name === "vscode") return vscode;
    if (name === "vscode-languageclient/node") return { LanguageClient };
    return load(name, ...rest);
};

async function main() {
    const extension = require("../extension.js");
    const context = { subscriptions: [] };
    extension.activate(context);
    assert.equal(started.length, 1);
    const { server, options } = started[0];
    assert.deepEqual(server, { command: "/opt/weir", args: ["lsp"] });
    assert.deepEqual(options.initializationOptions, { models: ["pso"], timeout: 7 });
    const languages = new Set(options.documentSelector.map(({ language }) => language));
    assert.deepEqual([...languages], ["weir", "c"]);

    // A run is shown beside the text.
    const run = { property: "both", model: "TSO", lines: ["one", "two"] };
    const next = () => Promise.resolve(run);
    const words = ["file:///a.weir", "TSO", "both"];
    assert.equal(await options.middleware.executeCommand("weir.showRun", words, next), run);
    assert.equal(shown.length, 1);
    const text = providers.get("weir-run").provideTextDocumentContent(shown[0]);
    assert.equal(text, "one\ntwo\n");
    await options.middleware.executeCommand("weir.check", [], () => Promise.resolve(null));
    assert.equal(shown.length, 1);

    await commands.get("weir.hideRuns")();
    assert.deepEqual(sent[0][1], { command: "weir.hideRun", arguments: ["file:///a.weir"] });
    await commands.get("weir.restart")();
    assert.equal(started.length, 2);
    assert.ok(started[0].isStopped);

    // What the package declares is what the extension has.
    const { contributes } = require("../package.json");
    const declared = contributes.commands.map(({ command }) => command);
    assert.deepEqual(declared.sort(), [...commands.keys()].sort());
    await extension.deactivate();
    assert.ok(started[1].isStopped);
    console.log("the extension works with stand-ins");
}
main();
