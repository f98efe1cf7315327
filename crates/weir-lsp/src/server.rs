//! The state of the server, and what it does with each message.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::time::Duration;

use lsp_types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use weir::{Diagnostic as Wrong, Language};
use weir_model::program::Program;

use crate::capabilities::capabilities;
use crate::checks::{Check, Found, MAX_TIME, Settings, Trial};
use crate::document::{Document, Running};
use crate::runs::{Shown, table};
use crate::wire::{self, Message, code};
use crate::worker::Worker;
use crate::{completion, hover, outline, report, tokens};

/// What the server hears about.
#[derive(Debug)]
pub enum Event {
    /// From the editor.
    Message(Message),
    /// From the editor, but no message: what is wrong.
    Nonsense(String),
    /// There is no more input.
    End,
    /// A text was read.
    Read(String, i32, Box<Result<Program, Vec<Wrong>>>),
    /// Something was found by the check with this number.
    Found(String, u64, Found),
    /// The check with this number has ended.
    Answered(String, u64),
    /// A check of this document failed because of a fault of Weir.
    Failed(String),
}

/// How the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The editor said so.
    Properly,
    /// The input ended, or the output.
    Early,
}

/// A text to be read.
struct Reading {
    version: i32,
    name: String,
    text: String,
    language: &'static Language,
}

/// A request that cannot be answered.
struct Refused(i32, String);

type Answered = Result<Value, Refused>;

/// Why a request failed that was understood.
fn failed(message: impl Into<String>) -> Refused {
    Refused(code::FAILED, message.into())
}

fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|error| Refused(code::INVALID_PARAMS, error.to_string()))
}

fn value(result: impl Serialize) -> Answered {
    serde_json::to_value(result).map_err(|error| Refused(code::INTERNAL, error.to_string()))
}

/// The server.
pub struct Server<W> {
    output: W,
    settings: Settings,
    documents: BTreeMap<String, Document>,
    reader: Worker<Reading>,
    checker: Worker<(u64, Check)>,
    is_initialized: bool,
    is_shut_down: bool,
    /// Whether the output cannot be written any more.
    is_broken: bool,
    /// The kinds of requests that the editor repeats if it is told to.
    refreshes: Vec<&'static str>,
    requests: u64,
    /// How many checks there have been.
    checks: u64,
}

impl<W: Write> Server<W> {
    /// A server that has heard nothing yet. Its workers report to `events`.
    ///
    /// # Errors
    /// If there can be no threads.
    pub fn new(output: W, settings: Settings, events: &Sender<Event>) -> std::io::Result<Self> {
        let (read, lost) = (events.clone(), events.clone());
        let (trial, time, memory) = (settings.trial, settings.time, settings.memory);
        let reader = Worker::start(
            "reader",
            move |document, job: Reading| {
                let Reading { name, text, language, .. } = &job;
                let tried = Trial { name, text, language: language.name, time, memory };
                let program = match trial.map_or(Ok(()), |trial| trial(&tried)) {
                    Ok(()) => {
                        let settings = weir::Settings {
                            files: weir::included,
                            compile: Some(weir::compile),
                            ..weir::Settings::default()
                        };
                        weir_front::read_with(name, text, Some(language), &settings)
                    }
                    Err(why) => Err(vec![Wrong::new(why, 0..0)]),
                };
                let program = Box::new(program.map(|(program, _)| program));
                drop(read.send(Event::Read(document.to_owned(), job.version, program)));
            },
            move |document| drop(lost.send(Event::Failed(document.to_owned()))),
        )?;
        let (found, lost) = (events.clone(), events.clone());
        let checker = Worker::start(
            "checker",
            move |document, (number, check): (u64, Check)| {
                check.run(&mut |what| {
                    drop(found.send(Event::Found(document.to_owned(), number, what)));
                });
                drop(found.send(Event::Answered(document.to_owned(), number)));
            },
            move |document| drop(lost.send(Event::Failed(document.to_owned()))),
        )?;
        Ok(Self {
            output,
            settings,
            documents: BTreeMap::new(),
            reader,
            checker,
            is_initialized: false,
            is_shut_down: false,
            is_broken: false,
            refreshes: Vec::new(),
            requests: 0,
            checks: 0,
        })
    }

    /// Deals with an event. Says how it ended, if it did.
    pub fn hear(&mut self, event: Event) -> Option<Ended> {
        match event {
            Event::Message(message) => self.message(message),
            Event::Nonsense(why) => {
                self.send(&wire::error(&Value::Null, code::PARSE, &why));
                None
            }
            Event::End => return Some(self.ended()),
            Event::Read(document, version, program) => {
                self.read(&document, version, *program);
                None
            }
            Event::Found(document, number, found) => {
                self.found(&document, number, found);
                None
            }
            Event::Answered(document, number) => {
                if let Some(document) = self.checked(&document, number) {
                    document.check = None;
                    self.refresh("workspace/codeLens/refresh");
                }
                None
            }
            Event::Failed(document) => {
                if let Some(document) = self.documents.get_mut(&document) {
                    document.check = None;
                    let message = format!("`{}`: Weir failed; please report this", document.name);
                    self.say(MessageType::ERROR, &message);
                }
                None
            }
        }
        .or_else(|| self.is_broken.then_some(Ended::Early))
    }

    fn ended(&self) -> Ended {
        if self.is_shut_down { Ended::Properly } else { Ended::Early }
    }

    fn message(&mut self, message: Message) -> Option<Ended> {
        let Message { id, method, params } = message;
        match (id, method) {
            (None, Some(method)) if method == "exit" => return Some(self.ended()),
            (None, Some(method)) => {
                // A notification has no answer, also if it is wrong.
                let told = catch_unwind(AssertUnwindSafe(|| self.told(&method, params)));
                if told.is_err() {
                    self.say(MessageType::ERROR, &format!("`{method}` failed; please report this"));
                }
            }
            (Some(id), Some(method)) => {
                let asked = catch_unwind(AssertUnwindSafe(|| self.asked(&method, params)));
                let answer = match asked {
                    Ok(Ok(result)) => wire::result(&id, &result),
                    Ok(Err(Refused(code, why))) => wire::error(&id, code, &why),
                    Err(_) => {
                        let why = format!("`{method}` failed; please report this");
                        wire::error(&id, code::INTERNAL, &why)
                    }
                };
                self.send(&answer);
            }
            // The answer to a request of the server, which needs none.
            (Some(_), None) => {}
            (None, None) => {
                let why = "a message has a method or an id";
                self.send(&wire::error(&Value::Null, code::INVALID_REQUEST, why));
            }
        }
        None
    }

    fn send(&mut self, message: &Value) {
        self.is_broken |= wire::write(&mut self.output, message).is_err();
    }

    fn say(&mut self, kind: MessageType, message: &str) {
        let params = json!({"type": kind, "message": message});
        self.send(&wire::notification("window/showMessage", &params));
    }

    /// Asks the editor to ask again for something, if it can.
    fn refresh(&mut self, method: &'static str) {
        if self.refreshes.contains(&method) {
            self.requests += 1;
            self.send(&wire::request(self.requests, method, &Value::Null));
        }
    }

    /// A document, if this is the check that it waits for.
    fn checked(&mut self, document: &str, number: u64) -> Option<&mut Document> {
        let document = self.documents.get_mut(document)?;
        let is_awaited = document.check.as_ref().is_some_and(|check| check.number == number);
        is_awaited.then_some(document)
    }

    fn publish(&mut self, document: &str) {
        let Some(document) = self.documents.get(document) else { return };
        let params = PublishDiagnosticsParams {
            uri: document.uri.clone(),
            diagnostics: report::diagnostics(document),
            version: Some(document.version),
        };
        self.send(&wire::notification("textDocument/publishDiagnostics", &json!(params)));
    }

    /// Has a text read in the background.
    fn begin_reading(&mut self, document: &str) {
        self.checker.withdraw(document);
        let Some(found) = self.documents.get(document) else { return };
        let (name, text, language) = (found.name.clone(), found.unmarked(), found.language);
        self.reader.post(document, Reading { version: found.version, name, text, language });
    }

    fn read(&mut self, document: &str, version: i32, program: Result<Program, Vec<Wrong>>) {
        let found = self.documents.get_mut(document);
        let Some(found) = found.filter(|found| found.version == version) else { return };
        found.read = Some(program);
        self.begin_checking(document, None);
        self.publish(document);
    }

    /// Has a text checked in the background, if it is a program in Weir's language.
    fn begin_checking(&mut self, document: &str, time: Option<Duration>) {
        let settings =
            Settings { time: time.unwrap_or(self.settings.time), ..self.settings.clone() };
        let Some(found) = self.documents.get_mut(document) else { return };
        found.forget_answers();
        let Some(program) = found.program().filter(|_| found.is_weir()).cloned() else { return };
        let limits = settings.limits();
        self.checks += 1;
        let number = self.checks;
        let models = settings.models;
        let cancellation = limits.cancellation();
        found.check = Some(Running { number, models: models.clone(), cancellation });
        let (name, text) = (found.name.clone(), found.unmarked());
        let check = Check { name, text, program, models, limits };
        self.checker.post(document, (number, check));
        self.refresh("workspace/codeLens/refresh");
    }

    fn found(&mut self, document: &str, number: u64, found: Found) {
        let Some(current) = self.checked(document, number) else { return };
        match found {
            Found::Answers(answers) => {
                current.answers.push(answers);
                self.publish(document);
                self.refresh("workspace/codeLens/refresh");
            }
            Found::Repair(repair) => current.repairs.push(repair),
        }
    }

    /// What the editor tells.
    fn told(&mut self, method: &str, params: Value) {
        if !self.is_initialized {
            return;
        }
        match method {
            "textDocument/didOpen" => {
                let Ok(params) = parsed::<DidOpenTextDocumentParams>(params) else { return };
                let TextDocumentItem { uri, language_id, version, text } = params.text_document;
                let document = uri.as_str().to_owned();
                let opened = Document::new(uri, &language_id, version, text);
                if let Some(mut before) = self.documents.insert(document.clone(), opened) {
                    before.forget_answers();
                }
                self.begin_reading(&document);
            }
            "textDocument/didChange" => {
                let Ok(params) = parsed::<DidChangeTextDocumentParams>(params) else { return };
                let document = params.text_document.uri.as_str().to_owned();
                let Some(found) = self.documents.get_mut(&document) else { return };
                let had_run = found.shown.is_some();
                found.change(params.text_document.version, params.content_changes);
                self.begin_reading(&document);
                if had_run {
                    self.refresh("workspace/inlayHint/refresh");
                }
            }
            "textDocument/didClose" => {
                let Ok(params) = parsed::<DidCloseTextDocumentParams>(params) else { return };
                let uri = params.text_document.uri;
                self.reader.withdraw(uri.as_str());
                self.checker.withdraw(uri.as_str());
                if let Some(mut document) = self.documents.remove(uri.as_str()) {
                    document.forget_answers();
                }
                let params = PublishDiagnosticsParams { uri, diagnostics: vec![], version: None };
                self.send(&wire::notification("textDocument/publishDiagnostics", &json!(params)));
            }
            "workspace/didChangeConfiguration" => {
                let is_new = self.configure(params.get("settings").unwrap_or(&Value::Null));
                let all: Vec<String> = self.documents.keys().cloned().collect();
                for document in all.into_iter().filter(|_| is_new) {
                    self.begin_checking(&document, None);
                    self.publish(&document);
                }
            }
            _ => {}
        }
    }

    /// Takes over settings. Says whether they changed.
    fn configure(&mut self, settings: &Value) -> bool {
        let before = (self.settings.models.clone(), self.settings.time);
        for wrong in self.settings.configure(settings) {
            self.say(MessageType::WARNING, &wrong);
        }
        before != (self.settings.models.clone(), self.settings.time)
    }

    /// What the editor asks.
    fn asked(&mut self, method: &str, params: Value) -> Answered {
        if !self.is_initialized && method != "initialize" {
            let why = "`initialize` has to come first";
            return Err(Refused(code::NOT_INITIALIZED, why.to_owned()));
        }
        if self.is_shut_down {
            return Err(Refused(code::INVALID_REQUEST, "the server is shut down".to_owned()));
        }
        match method {
            "initialize" => self.initialize(params),
            "shutdown" => {
                self.is_shut_down = true;
                self.documents.values_mut().for_each(Document::forget_answers);
                Ok(Value::Null)
            }
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = parsed(params)?;
                let (document, offset) = self.at(&at)?;
                value(hover::hover(document, offset, &self.settings.models))
            }
            "textDocument/definition" => {
                let params: GotoDefinitionParams = parsed(params)?;
                let (document, offset) = self.at(&params.text_document_position_params)?;
                value(outline::definition(document, offset))
            }
            "textDocument/references" => {
                let params: ReferenceParams = parsed(params)?;
                let (document, offset) = self.at(&params.text_document_position)?;
                let with_declaration = params.context.include_declaration;
                value(outline::references(document, offset, with_declaration))
            }
            "textDocument/documentHighlight" => {
                let params: DocumentHighlightParams = parsed(params)?;
                let (document, offset) = self.at(&params.text_document_position_params)?;
                value(outline::highlights(document, offset))
            }
            "textDocument/prepareRename" => {
                let (document, offset) = self.at(&parsed(params)?)?;
                value(outline::renamed(document, offset))
            }
            "textDocument/rename" => {
                let params: RenameParams = parsed(params)?;
                let (document, offset) = self.at(&params.text_document_position)?;
                let edits = outline::rename(document, offset, &params.new_name).map_err(failed)?;
                Ok(json!({"changes": {document.uri.as_str(): edits}}))
            }
            "textDocument/completion" => {
                let params: CompletionParams = parsed(params)?;
                let (document, offset) = self.at(&params.text_document_position)?;
                value(completion::completion(document, offset))
            }
            "textDocument/documentSymbol" => {
                let params: DocumentSymbolParams = parsed(params)?;
                value(outline::outline(self.document(params.text_document.uri.as_str())?))
            }
            "textDocument/formatting" => {
                let params: DocumentFormattingParams = parsed(params)?;
                value(outline::formatting(self.document(params.text_document.uri.as_str())?))
            }
            "textDocument/semanticTokens/full" => {
                let params: SemanticTokensParams = parsed(params)?;
                value(tokens::tokens(self.document(params.text_document.uri.as_str())?))
            }
            "textDocument/codeLens" => {
                let params: CodeLensParams = parsed(params)?;
                value(report::lenses(self.document(params.text_document.uri.as_str())?))
            }
            "textDocument/codeAction" => {
                let params: CodeActionParams = parsed(params)?;
                let document = self.document(params.text_document.uri.as_str())?;
                let range = document.lines.offsets(&document.text, params.range);
                // The empty kind is every kind.
                let is_fix = |k: &CodeActionKind| {
                    [&CodeActionKind::QUICKFIX, &CodeActionKind::EMPTY].contains(&k)
                };
                let is_wanted = params.context.only.is_none_or(|only| only.iter().any(is_fix));
                value(if is_wanted { report::fixes(document, &range) } else { vec![] })
            }
            "textDocument/inlayHint" => {
                let params: InlayHintParams = parsed(params)?;
                let document = self.document(params.text_document.uri.as_str())?;
                let shown = document.shown.as_ref();
                value(shown.map(|shown| shown.hints(document, params.range)))
            }
            "workspace/executeCommand" => self.command(parsed(params)?),
            _ => Err(Refused(code::UNKNOWN_METHOD, format!("there is no method `{method}`"))),
        }
    }

    fn document(&self, uri: &str) -> Result<&Document, Refused> {
        self.documents.get(uri).ok_or_else(|| failed(format!("`{uri}` is not open")))
    }

    fn at(&self, at: &TextDocumentPositionParams) -> Result<(&Document, usize), Refused> {
        let document = self.document(at.text_document.uri.as_str())?;
        Ok((document, document.offset(at.position)))
    }

    fn initialize(&mut self, params: Value) -> Answered {
        if self.is_initialized {
            let why = "`initialize` comes once";
            return Err(Refused(code::INVALID_REQUEST, why.to_owned()));
        }
        let can = |path: &str| params.pointer(path).and_then(Value::as_bool) == Some(true);
        for (path, method) in [
            ("/capabilities/workspace/codeLens/refreshSupport", "workspace/codeLens/refresh"),
            ("/capabilities/workspace/inlayHint/refreshSupport", "workspace/inlayHint/refresh"),
        ] {
            self.refreshes.extend(can(path).then_some(method));
        }
        self.is_initialized = true;
        let options = params.get("initializationOptions").unwrap_or(&Value::Null).clone();
        self.configure(&options);
        Ok(json!({
            "capabilities": capabilities(),
            "serverInfo": {"name": "weir", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    fn command(&mut self, params: ExecuteCommandParams) -> Answered {
        let word = |i: usize| params.arguments.get(i).and_then(Value::as_str).unwrap_or_default();
        let document = word(0).to_owned();
        match params.command.as_str() {
            report::SHOW_RUN => {
                let (model, property) = (word(1), word(2));
                let found = self.document(&document)?;
                let answers = found.answers.iter().find(|a| a.model.to_string() == model);
                let answer = answers.and_then(|a| a.list.iter().find(|a| a.name == property));
                let (Some(answers), Some(answer)) = (answers, answer) else {
                    return Err(failed(format!("`{property}` has no answer under {model}")));
                };
                let Some(run) = &answer.run else {
                    return Err(failed(format!("`{property}` has no run under {model}")));
                };
                let lines = table(&answer.name, answers.model, &answer.says, run);
                let shown = Shown::new(found, run);
                if let Some(found) = self.documents.get_mut(&document) {
                    found.shown = Some(shown);
                }
                self.refresh("workspace/inlayHint/refresh");
                Ok(json!({"property": property, "model": model, "lines": lines}))
            }
            report::HIDE_RUN => {
                if let Some(found) = self.documents.get_mut(&document) {
                    found.shown = None;
                }
                self.refresh("workspace/inlayHint/refresh");
                Ok(Value::Null)
            }
            report::CHECK => {
                let seconds = params.arguments.get(1).and_then(Value::as_f64);
                let time = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
                self.begin_checking(&document, time.map(|time| time.min(MAX_TIME)));
                Ok(Value::Null)
            }
            other => Err(failed(format!("there is no command `{other}`"))),
        }
    }
}
