// Starts `weir lsp` and shows runs beside the text. Everything else is the server's.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The address under which a run is shown, and the runs that were shown. */
const SCHEME = "weir-run";
const runs = new Map();
const changed = new vscode.EventEmitter();

let client;

function start() {
    const settings = vscode.workspace.getConfiguration("weir");
    const command = settings.get("path", "weir");
    const documentSelector = settings
        .get("languages", ["weir"])
        .flatMap((language) => [
            { scheme: "file", language },
            { scheme: "untitled", language },
        ]);
    const options = {
        documentSelector,
        initializationOptions: {
            models: settings.get("models"),
            timeout: settings.get("timeout"),
        },
        synchronize: { configurationSection: "weir" },
        middleware: { executeCommand },
    };
    client = new LanguageClient("weir", "Weir", { command, args: ["lsp"] }, options);
    client.start().catch((error) => {
        vscode.window.showErrorMessage(
            `Weir: \`${command} lsp\` cannot be started (${error.message}). ` +
                "Install `weir`, or set `weir.path`."
        );
    });
}

/** A command of the server. What `weir.showRun` returns is shown beside the text. */
async function executeCommand(command, args, next) {
    const result = await next(command, args);
    if (command === "weir.showRun" && result && Array.isArray(result.lines)) {
        const title = `${result.property} under ${result.model}`.replace(/[^\w.+> -]/g, "_");
        const address = vscode.Uri.from({ scheme: SCHEME, path: `/${title}.txt` });
        runs.set(address.toString(), result.lines.join("\n") + "\n");
        changed.fire(address);
        const column = vscode.ViewColumn.Beside;
        const show = { viewColumn: column, preserveFocus: true, preview: true };
        await vscode.window.showTextDocument(address, show);
    }
    return result;
}

function activate(context) {
    const provider = {
        onDidChange: changed.event,
        provideTextDocumentContent: (address) => runs.get(address.toString()) || "",
    };
    const hide = async () => {
        const editor = vscode.window.activeTextEditor;
        if (client && editor) {
            await client.sendRequest("workspace/executeCommand", {
                command: "weir.hideRun",
                arguments: [editor.document.uri.toString()],
            });
        }
    };
    const restart = async () => {
        await deactivate();
        start();
    };
    context.subscriptions.push(
        vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
        vscode.commands.registerCommand("weir.hideRuns", hide),
        vscode.commands.registerCommand("weir.restart", restart)
    );
    start();
}

async function deactivate() {
    if (client && client.isRunning()) {
        await client.stop();
    }
}

module.exports = { activate, deactivate };
