//! `weir game --play`: a person plays one player in the terminal, against the strategy.

use std::fmt::Write as _;
use std::io::{BufRead, Lines, StdinLock};

use weir::Loaded;
use weir::report::strategy::{action, buffer, message, place, values};
use weir::report::table::Table;
use weir_game::rules::{Rules, Step};
use weir_game::{Options, Outcome};
use weir_model::game::{
    Board, Buffers, Configuration, Fairness, Instruction, Player, Strategy, View,
};
use weir_model::ids::{ProcessId, TransitionId};
use weir_model::program::Objective;

use crate::commands::{Status, fail, print};
use crate::output::paint;
use crate::terminal::{QUIET, STRONG};

/// Plays a game until it ends or the person does not go on.
pub fn run(
    loaded: &Loaded,
    game: usize,
    options: &Options,
    outcome: &Outcome,
    person: Player,
) -> Status {
    let board = match Board::new(&loaded.system, game) {
        Ok(board) => board,
        Err(error) => return fail(&error.message),
    };
    let rules = Rules { board, buffers: options.buffers };
    let at = rules.board.start();
    let strategy = outcome.strategy.as_ref().filter(|_| outcome.winner != Some(person));
    let input = std::io::stdin().lock().lines();
    let fairness = options.fairness;
    let mut table = Game { loaded, rules, fairness, person, strategy, at, position: 0, input };
    table.introduce(outcome);
    table.play();
    Status::Fine
}

/// A game that is being played.
struct Game<'l> {
    loaded: &'l Loaded,
    rules: Rules<'l>,
    fairness: Fairness,
    person: Player,
    /// The winning strategy of the opponent, if there is one.
    strategy: Option<&'l Strategy>,
    at: Configuration,
    /// Where the strategy is.
    position: usize,
    input: Lines<StdinLock<'static>>,
}

impl Game<'_> {
    fn introduce(&self, outcome: &Outcome) {
        let you = match self.person {
            Player::Process => "the process player: you pick instructions",
            Player::Update => "the update player: you pick what happens to buffers",
        };
        let goal = match (self.rules.board.objective(), self.person) {
            (Objective::Reach, Player::Process) | (Objective::Avoid, Player::Update) => {
                "Your goal: some process reaches a target."
            }
            _ => "Your goal: no process ever reaches a target.",
        };
        let chances = match outcome.winner {
            Some(winner) if winner == self.person => "You can win, and the other one just plays.",
            Some(_) => "The other one has a winning strategy and follows it.",
            None => "Nobody knows who wins; the other one just plays.",
        };
        print(&format!("You are {you}.\n{goal} {chances}\n`?` is help, `q` quits.\n"));
    }

    fn play(&mut self) {
        for turn in 1.. {
            print(&format!("\n{}\n", paint(STRONG, &format!("turn {turn}"))));
            self.show();
            let Some((process, instruction)) = self.process_turn() else { return };
            let after = self.rules.after(&self.at, process, &instruction);
            self.say(Player::Process, &self.named(process, &instruction.path));
            self.at = after;
            if self.rules.board.is_won(&self.at.states) {
                self.show();
                let winner = match self.rules.board.objective() {
                    Objective::Reach => Player::Process,
                    Objective::Avoid => Player::Update,
                };
                return self.end(winner, "a process is in a target");
            }
            if self.person == Player::Update {
                self.show();
            }
            if !self.update_turn(process, &instruction.path) {
                return;
            }
        }
    }

    fn end(&self, winner: Player, why: &str) {
        let who = if winner == self.person { "You win" } else { "You lose" };
        print(&format!("\n{}: {why}.\n", paint(STRONG, who)));
    }

    fn say(&self, player: Player, what: &str) {
        let who = match player {
            Player::Process => "process player",
            Player::Update => "update player",
        };
        let who = if player == self.person { "you" } else { who };
        print(&format!("  {who}: {what}\n"));
    }

    fn named(&self, process: ProcessId, path: &[TransitionId]) -> String {
        let name = &self.loaded.system.processes[process.index()].name;
        format!("{name} {}", action(self.loaded, process, path))
    }

    /// Where the processes stand, what is in their buffers, and memory.
    fn show(&self) {
        let mut table = Table::default();
        for (p, state) in self.loaded.system.process_ids().zip(&self.at.states) {
            let held = buffer(self.loaded, &self.at.buffers[p.index()]);
            let name = self.loaded.system.processes[p.index()].name.clone();
            let held = if held.is_empty() { "empty".to_owned() } else { held };
            table.row([name, place(self.loaded, p, *state), format!("buffer {held}")]);
        }
        let mut out = String::new();
        for line in table.lines("  ") {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(
            out,
            "  {}",
            paint(QUIET, &format!("memory {}", values(self.loaded, &self.at.memory)))
        );
        print(&out);
    }

    /// A numbered choice of the person; `None` at the end of the input or of patience.
    fn ask(&mut self, choices: &[String]) -> Option<usize> {
        for (number, choice) in choices.iter().enumerate() {
            print(&format!("  {:>3}  {choice}\n", number + 1));
        }
        print("> ");
        let said = self.listen(choices.len());
        if said.is_none() {
            print("\nThe game is not over.\n");
        }
        said
    }

    /// What the person says, once it makes sense; `None` to stop.
    fn listen(&mut self, choices: usize) -> Option<usize> {
        loop {
            let line = self.input.next()?.ok()?;
            match line.trim() {
                "q" | "quit" => return None,
                "?" | "help" => print(
                    "Type the number of a move. A buffer shows its oldest message first. `q` \
                     quits.\n> ",
                ),
                word => match word.parse::<usize>() {
                    Ok(number) if (1..=choices).contains(&number) => {
                        return Some(number - 1);
                    }
                    _ => print(&format!("A number from 1 to {choices}, `?` or `q`.\n> ")),
                },
            }
        }
    }

    /// The instruction that is played; `None` if the game is over.
    fn process_turn(&mut self) -> Option<(ProcessId, Instruction)> {
        let moves: Vec<(ProcessId, Instruction)> = self
            .loaded
            .system
            .process_ids()
            .flat_map(|p| self.rules.enabled(&self.at, p).map(move |i| (p, i.clone())))
            .collect();
        if moves.is_empty() {
            let held = self.at.buffers.iter().any(|b| !b.is_empty());
            if self.fairness == Fairness::Update && held {
                self.end(Player::Process, "a deadlock with something in a buffer is not fair");
            } else {
                self.end(Player::Update, "no process can go on");
            }
            return None;
        }
        if self.person == Player::Process {
            let texts: Vec<String> = moves.iter().map(|(p, i)| self.named(*p, &i.path)).collect();
            return self.ask(&texts).map(|n| moves[n].clone());
        }
        let chosen = match self.strategy {
            Some(Strategy::Views { process, moves }) => {
                let view = self.view(*process);
                let found = moves.iter().find(|(v, _)| *v == view);
                found.map(|(_, path)| (*process, path.clone()))
            }
            Some(Strategy::Process(positions)) => positions[self.position].action.clone(),
            _ => None,
        };
        let is_chosen = |(p, i): &&(ProcessId, Instruction)| {
            chosen.as_ref().is_some_and(|(process, path)| p == process && i.path == *path)
        };
        Some(moves.iter().find(is_chosen).unwrap_or(&moves[0]).clone())
    }

    /// What a process sees of a store buffer and memory (section 6).
    fn view(&self, process: ProcessId) -> View {
        let mut values = self.at.memory.clone();
        let buffer = &self.at.buffers[process.index()];
        buffer.iter().for_each(|m| values[m.var.index()] = m.value);
        View { state: self.at.states[process.index()], values, fence: buffer.is_empty() }
    }

    /// The turn of the update player; false if the person does not go on.
    fn update_turn(&mut self, process: ProcessId, path: &[TransitionId]) -> bool {
        if self.person == Player::Update {
            return self.person_updates();
        }
        let reply = match self.strategy {
            Some(Strategy::Update(positions)) => {
                let replies = positions[self.position].replies.iter();
                let mut fits = replies.filter(|(p, taken, _)| *p == process && **taken == *path);
                fits.next().map(|(_, _, next)| (*next, positions[*next].at.clone()))
            }
            _ => None,
        };
        match reply {
            Some((next, at)) => {
                let what = if at == self.at { "nothing" } else { "changes the buffers" };
                self.position = next;
                self.at = at;
                self.say(Player::Update, what);
            }
            None => self.say(Player::Update, "nothing"),
        }
        true
    }

    fn person_updates(&mut self) -> bool {
        loop {
            let steps = self.rules.steps(&self.at);
            let mut texts = vec!["end the turn".to_owned()];
            texts.extend(steps.iter().map(|s| self.step(*s)));
            let Some(number) = self.ask(&texts) else { return false };
            if number == 0 {
                break;
            }
            self.at = self.rules.take(&self.at, steps[number - 1]);
            self.show();
        }
        if let Some(Strategy::Process(positions)) = self.strategy {
            let next = positions[self.position].next.iter();
            let found = next.copied().find(|n| positions[*n].at == self.at);
            match found {
                Some(next) => self.position = next,
                // With load buffers a person may go beyond what was looked at.
                None => self.strategy = None,
            }
        }
        true
    }

    fn step(&self, step: Step) -> String {
        let system = &self.loaded.system;
        let name = |p: ProcessId| &system.processes[p.index()].name;
        let oldest = |p: ProcessId| {
            let first = self.at.buffers[p.index()].first();
            first.map_or(String::new(), |m| message(self.loaded, m))
        };
        match step {
            Step::Update(p) => format!("update {} of {}", oldest(p), name(p)),
            Step::Delete(p) => format!("delete {} of {}", oldest(p), name(p)),
            Step::Propagate(p, x) => {
                debug_assert_eq!(self.rules.buffers, Buffers::Load);
                let value = system.show_value(x, self.at.memory[x.index()]);
                format!("propagate {}:{value} to {}", system.vars[x.index()].name, name(p))
            }
        }
    }
}
