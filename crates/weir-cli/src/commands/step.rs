//! `weir step`

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

use weir::certify::accepted;
use weir::report::run::{self as run_report, Layout, state};
use weir::report::statistics::form_words;
use weir::report::table::Table;
use weir::report::{counted, reason};
use weir::walk::{Choice, Walk};
use weir::{ENGINES, Loaded, MemoryModel, Verdict};
use weir_check::Witness;
use weir_engine::SearchOptions;
use weir_front::suggest::closest;
use weir_model::answer::{Answer, Evidence};

use super::{Status, complain, fail, print, stopped, write_json};
use crate::cli::step::Step;
use crate::limits;
use crate::output::{HINTS, advise, check_targets, paint};
use crate::terminal::{self, QUIET, STRONG, style};
use weir_model::ids::QuestionId;

/// Initial memories are counted up to this.
const MOST_BEGINNINGS: usize = 1000;

const HELP: &str = "\
N          take the step with the number N
u [N]      undo the last step, or the last N
b N        back to the state after step N; 0 is the beginning
r N [SEED] take N random steps
go [NAME]  walk to a state that settles a property, found by a search from the beginning
start N    begin again with the initial memory number N
save FILE  write the run as a witness, for `weir certify`
show       show the state again
run        show the run so far
help       show this
quit       end; the end of the input does so too
";

pub fn run(args: &Step) -> Status {
    if args.file == "-" {
        return fail("`weir step` reads commands from standard input, and the program from a file");
    }
    let model = args.language.model_of(&args.file, args.model.model);
    let loaded = match args.language.load(&args.file, &[model]) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    if loaded.system.processes.is_empty() {
        return fail(&format!("`{}` has no processes", args.file));
    }
    let form = match args.form.of(model) {
        Ok(form) => form,
        Err(message) => return fail(&message),
    };
    let options = SearchOptions { form, ..limits::search() };
    let walk = Walk::new(&loaded, model, args.bound.into(), &options);
    let walk = match walk {
        Ok(walk) => walk,
        Err(stop) => return stopped(&stop.to_string()),
    };
    let is_terminal = std::io::stdin().is_terminal();
    let random = Random(args.seed);
    let mut session = Session { args, model, loaded: &loaded, walk, random, status: Status::Fine };
    session.introduce();
    session.show();
    prompt(is_terminal);
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else {
            session.refuse("a command is text in UTF-8");
            break;
        };
        if !is_terminal {
            print(&format!("> {line}\n"));
        }
        if !session.obey(line.trim()) {
            break;
        }
        prompt(is_terminal);
    }
    // A person has seen what was wrong.
    if is_terminal { Status::Fine } else { session.status }
}

/// Asks a person for a command.
fn prompt(is_terminal: bool) {
    if is_terminal {
        print("> ");
    }
}

struct Session<'l> {
    args: &'l Step,
    model: MemoryModel,
    loaded: &'l Loaded,
    walk: Walk<'l>,
    random: Random,
    status: Status,
}

/// Random numbers that are the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    /// A number below another one.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

impl Session<'_> {
    fn introduce(&self) {
        let name = paint(STRONG, &self.loaded.source.name);
        let model = self.model;
        let form = form_words(self.walk.form(), model);
        let mut out = format!("{name} under {model}{form}; `help` lists the commands\n");
        match self.walk.beginnings(MOST_BEGINNINGS) {
            1 => {}
            MOST_BEGINNINGS => {
                let _ = writeln!(
                    out,
                    "{MOST_BEGINNINGS} initial memories or more; `start N` picks one"
                );
            }
            count => {
                let _ = writeln!(out, "{count} initial memories; `start N` picks one");
            }
        }
        print(&out);
    }

    /// Carries out a command. `false` if it is the last one.
    fn obey(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "" => {}
            "q" | "quit" => return false,
            "?" | "help" => print(HELP),
            "show" => self.show(),
            "run" => self.show_run(),
            "u" | "undo" => match number(rest).or((rest.is_empty()).then_some(1)) {
                Some(count) if count <= self.walk.len() => self.back(self.walk.len() - count),
                Some(_) => self.refuse(&self.too_few()),
                None => self.refuse("`u` takes a number of steps"),
            },
            "b" | "back" => match number(rest) {
                Some(step) if step <= self.walk.len() => self.back(step),
                Some(_) => self.refuse(&self.too_few()),
                None => self.refuse("`b` takes the number of a step"),
            },
            "r" | "random" => self.wander(rest),
            "go" => self.go(rest),
            "start" => match number(rest).and_then(|n| n.checked_sub(1)) {
                Some(number) if self.walk.begin(number) => self.show(),
                _ => self.refuse("`start` takes the number of an initial memory, from 1"),
            },
            "save" => self.save(rest),
            _ => match number(word) {
                Some(picked) if rest.is_empty() => self.pick(picked),
                Some(_) => self.refuse("a command takes one step; `r` takes several"),
                _ => self.refuse(&format!("there is no command `{word}`; `help` lists them")),
            },
        }
        true
    }

    /// Says that a command is wrong or cannot be carried out.
    fn refuse(&mut self, message: &str) {
        self.status = self.status.and(Status::Wrong);
        print(&format!("{}\n", paint(QUIET, message)));
    }

    /// That there are not as many steps as a command names.
    fn too_few(&self) -> String {
        match self.walk.len() {
            0 => "no step was taken yet".to_owned(),
            1 => "only 1 step was taken".to_owned(),
            count => format!("only {count} steps were taken"),
        }
    }

    fn steps(&self) -> String {
        counted(self.walk.len(), "step")
    }

    fn layout(&self) -> Layout {
        Layout {
            width: terminal::width(),
            full: false,
            hints: weir::Hints::default(),
            ..Layout::default()
        }
    }

    /// Shows the state, what it settles, and the steps from it.
    fn show(&self) {
        let mut out = String::from("\n");
        for line in state::lines(self.loaded, &self.walk.run(), self.layout()) {
            let _ = writeln!(out, "{line}");
        }
        for number in self.walk.settled() {
            let question = &self.loaded.system.questions[number];
            let verdict = question.verdict(true);
            let word = question.outcome(verdict).unwrap_or(verdict.name());
            let text = format!("{} is {word} here", question.name);
            let _ = writeln!(out, "{}", paint(style(verdict), &text));
        }
        let (choices, is_full) = self.walk.choices();
        let mut table = Table::default();
        for (number, Choice { process, line, text, .. }) in (1..).zip(&choices) {
            let line = line.map_or(String::new(), |line| format!("line {line}"));
            table.row([format!("{number:>4}"), process.clone(), line, text.clone()]);
        }
        for line in table.lines("  ") {
            let _ = writeln!(out, "{line}");
        }
        if choices.is_empty() {
            let _ = writeln!(out, "no step is possible");
        }
        if is_full {
            let full = format!(
                "some steps are not listed: a buffer is full, by the bound {}",
                self.walk.bound()
            );
            let _ = writeln!(out, "{}", paint(QUIET, &full));
        }
        print(&out);
    }

    fn show_run(&self) {
        let lines = run_report::lines(self.loaded, &self.walk.run(), None, self.layout());
        let mut out = String::from("\n");
        for line in lines {
            let _ = writeln!(out, "{}", line.trim_end());
        }
        print(&out);
    }

    fn pick(&mut self, number: usize) {
        let (mut choices, _) = self.walk.choices();
        match number {
            _ if choices.is_empty() => self.refuse("no step is possible"),
            n if (1..=choices.len()).contains(&n) => {
                self.walk.take(choices.swap_remove(n - 1));
                self.show();
            }
            _ => self.refuse(&format!("a step has a number from 1 to {}", choices.len())),
        }
    }

    fn back(&mut self, steps: usize) {
        self.walk.back(steps);
        self.show();
    }

    /// Takes random steps, as many as there are.
    fn wander(&mut self, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (count, seed) = match words[..] {
            [count] => (number(count), None),
            [count, seed] => (number(count), seed.parse().ok()),
            _ => (None, None),
        };
        let Some(count) = count.filter(|_| words.len() < 2 || seed.is_some()) else {
            return self.refuse("`r` takes a number of steps, and the seed of random numbers");
        };
        self.random = seed.map_or(Random(self.random.0), Random);
        let (budget, before) = (limits::budget(), self.walk.len());
        for _ in 0..count {
            let (mut choices, _) = self.walk.choices();
            if choices.is_empty() {
                break;
            }
            if let Err(stop) = budget.tick() {
                self.walk.back(before);
                return self.refuse(&format!("{stop}; no step was taken"));
            }
            let picked = self.random.below(choices.len());
            self.walk.take(choices.swap_remove(picked));
        }
        self.show();
    }

    /// Walks to a state that settles a property.
    fn go(&mut self, name: &str) {
        let questions = &self.loaded.system.questions;
        let named = questions.iter().position(|q| q.name == name);
        let question = match named {
            Some(number) => number,
            None if name.is_empty() && !questions.is_empty() => 0,
            None if questions.is_empty() => return self.refuse("the program has no property"),
            None => {
                let meant = closest(name, questions.iter().map(|q| q.name.as_str()));
                let meant = match meant {
                    Some(meant) => format!("; did you mean `{meant}`?"),
                    None => {
                        let names = questions.iter().map(|q| format!("`{}`", q.name));
                        format!("; there is {}", names.collect::<Vec<_>>().join(", "))
                    }
                };
                return self.refuse(&format!("there is no property `{name}`{meant}"));
            }
        };
        let (answer, stats) = match self.walk.go(question, ENGINES[0], &limits::search()) {
            Ok(found) => found,
            Err(error) => return self.refuse(&advise(&error)),
        };
        let Answer { verdict, evidence, .. } = &answer;
        if let Evidence::Run(_) = evidence {
            return self.show();
        }
        let question = &questions[question];
        let word = match (question.outcome(*verdict), verdict) {
            (Some(outcome), _) => format!("is {outcome}"),
            (None, Verdict::Holds) => "holds".to_owned(),
            (None, Verdict::Violated | Verdict::Unknown) => format!("is {}", verdict.name()),
        };
        let why = reason(&answer, &stats, HINTS);
        let why = why.unwrap_or_else(|| "no run leads to a state that settles it".to_owned());
        self.refuse(&format!("{} {word}: {why}", question.name));
    }

    /// Writes the run as a witness of a property that the state settles.
    fn save(&mut self, file: &str) {
        if file.is_empty() {
            return self.refuse("`save` takes the name of a file");
        }
        let Some(&question) = self.walk.settled().first() else {
            return self.refuse("not saved: no property is settled in this state");
        };
        let path = Path::new(file);
        if let Err(message) = check_targets(std::slice::from_ref(&self.args.file), &[path]) {
            return self.refuse(&message);
        }
        let line = |span| self.loaded.line(span);
        let id = QuestionId::new(question);
        let witness = Witness::new(&self.loaded.system, &self.walk.run(), id, &line);
        match accepted(witness, self.loaded, limits::budget().threads()) {
            Ok(witness) => {
                let written = write_json(path, &witness);
                self.status = self.status.and(written);
                if written == Status::Fine {
                    let name = &self.loaded.system.questions[question].name;
                    print(&format!("saved: a run of {} that settles {name}\n", self.steps()));
                }
            }
            Err(error) => self.refuse(&format!("not saved: {}", error.why)),
        }
    }
}

fn number(word: &str) -> Option<usize> {
    word.parse().ok()
}
