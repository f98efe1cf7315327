//! `weir game --play`: a person plays one player in the terminal, against the strategy.

use std::fmt::Write as _;
use std::io::{BufRead, Lines, StdinLock};

use weir::Loaded;
use weir::play::{Position, Table};
use weir::question::Solved;
use weir::report::strategy::{buffer, place, values};
use weir::report::table::Table as TextTable;
use weir_game::Outcome;
use weir_model::game::{Fairness, Instruction, Player};
use weir_model::ids::{ProcessId, TransitionId};
use weir_model::program::Objective;

use crate::commands::{Status, fail, print};
use crate::output::paint;
use crate::terminal::{QUIET, STRONG};

/// With process fairness: how often a person may leave an enabled process unplayed before the game
/// is lost. The condition itself is about infinite plays.
const PATIENCE: usize = 30;

/// Plays a game until it ends or the person does not go on.
pub fn run(solved: &Solved, person: Player) -> Status {
    let Solved { loaded, game, options, outcome, .. } = solved;
    let table = match Table::new(loaded, *game, options, outcome, person) {
        Ok(table) => table,
        Err(error) => return fail(&error.message),
    };
    let position = table.start();
    let input = std::io::stdin().lock().lines();
    let left_alone = vec![0; loaded.system.processes.len()];
    let mut playing = Game { loaded, table, position, left_alone, input };
    playing.introduce(*game, outcome);
    playing.play();
    Status::Fine
}

/// A game that is being played.
struct Game<'l> {
    loaded: &'l Loaded,
    table: Table<'l>,
    position: Position,
    /// For each process, how often it could have been played since it was.
    left_alone: Vec<usize>,
    input: Lines<StdinLock<'static>>,
}

impl Game<'_> {
    fn introduce(&self, game: usize, outcome: &Outcome) {
        let asked = self.loaded.source.text_of(self.loaded.system.program.games[game].span);
        let asked = asked.split_whitespace().collect::<Vec<_>>().join(" ");
        let targets: Vec<String> = self.targets().collect();
        let you = match self.table.person {
            Player::Process => "the process player: you pick instructions",
            Player::Update => "the update player: you pick what happens to buffers",
        };
        let goal = match (self.table.rules.board.objective(), self.table.person) {
            (Objective::Reach, Player::Process) | (Objective::Avoid, Player::Update) => {
                "Your goal: some process reaches a target."
            }
            _ => "Your goal: no process ever reaches a target.",
        };
        let chances = match outcome.winner {
            Some(winner) if winner == self.table.person => {
                "You can win, and the other one just plays."
            }
            Some(_) => "The other one has a winning strategy and follows it.",
            None => "The winner is unknown; the opponent plays any move.",
        };
        let fairness = match (self.table.fairness, self.table.person) {
            (Fairness::None, _) => String::new(),
            (Fairness::Update, Player::Update) => "Update fairness: while no process can go on \
                and something is in a buffer you have to update. Who ends the turn then loses.\n"
                .to_owned(),
            (Fairness::Update, Player::Process) => "Update fairness: if no process can go on and \
                something is in a buffer, the update player has to update, or you win.\n"
                .to_owned(),
            (Fairness::Process, Player::Process) => format!(
                "Process fairness: a process that can be played again and again has to be played. \
                 Here you lose if you leave one alone {PATIENCE} times.\n"
            ),
            (Fairness::Process, Player::Update) => "Process fairness: the process player has to \
                play every process that can be played again and again.\n"
                .to_owned(),
        };
        print(&format!(
            "{}\nTargets: {}.\nYou are {you}.\n{goal} {chances}\n{fairness}`?` is help, `q` \
             quits.\n",
            paint(STRONG, &asked),
            targets.join(", "),
        ));
    }

    /// The targets of the game, as the program names them.
    fn targets(&self) -> impl Iterator<Item = String> + '_ {
        let program = &self.loaded.system.program;
        self.table.rules.board.asked().targets.iter().map(|(p, label)| {
            let process = &program.processes[p.index()];
            format!("{}@{}", process.name, process.labels[label.index()].name)
        })
    }

    /// Counts which processes could have been played, and says which are due. Returns one that
    /// was left alone too often, if there is one.
    fn count_due(&mut self, moves: &[(ProcessId, Instruction)]) -> Option<ProcessId> {
        let is_asked = self.table.fairness == Fairness::Process
            && self.table.person == Player::Process
            && self.table.rules.board.objective() == Objective::Avoid;
        if !is_asked {
            return None;
        }
        let name = |p: ProcessId| &self.loaded.system.processes[p.index()].name;
        let mut due = Vec::new();
        for p in self.loaded.system.process_ids().filter(|p| moves.iter().any(|(q, _)| q == p)) {
            match self.left_alone[p.index()] {
                0 => {}
                count if count >= PATIENCE => return Some(p),
                count => due.push(format!("{} (left alone {count} of {PATIENCE})", name(p))),
            }
        }
        if !due.is_empty() {
            print(&format!("  {}\n", paint(QUIET, &format!("due: {}", due.join(", ")))));
        }
        None
    }

    /// Notes that a process is played, and others that could have been are not.
    fn played(&mut self, process: ProcessId, moves: &[(ProcessId, Instruction)]) {
        for p in self.loaded.system.process_ids().filter(|p| moves.iter().any(|(q, _)| q == p)) {
            self.left_alone[p.index()] += 1;
        }
        self.left_alone[process.index()] = 0;
    }

    fn play(&mut self) {
        for turn in 1.. {
            print(&format!("\n{}\n", paint(STRONG, &format!("turn {turn}"))));
            self.show();
            let Some((process, instruction)) = self.process_turn() else { return };
            let after = self.table.rules.after(&self.position.at, process, &instruction);
            self.say(Player::Process, &self.table.instruction(process, &instruction.path));
            let before = Position { at: after, number: self.position.number };
            let before = std::mem::replace(&mut self.position, before);
            if let Some((winner, why)) = self.table.reached(&self.position.at) {
                self.show();
                return self.end(winner, why);
            }
            if self.table.person == Player::Update {
                self.show();
            }
            if !self.update_turn(&before, process, &instruction.path) {
                return;
            }
        }
    }

    fn end(&self, winner: Player, why: &str) {
        let who = if winner == self.table.person { "You win" } else { "You lose" };
        print(&format!("\n{}: {why}.\n", paint(STRONG, who)));
    }

    fn say(&self, player: Player, what: &str) {
        let who = match player {
            Player::Process => "process player",
            Player::Update => "update player",
        };
        let who = if player == self.table.person { "you" } else { who };
        print(&format!("  {who}: {what}\n"));
    }

    /// Where the processes stand, what is in their buffers, and memory.
    fn show(&self) {
        let mut table = TextTable::default();
        for (p, state) in self.loaded.system.process_ids().zip(&self.position.at.states) {
            let held = buffer(self.loaded, &self.position.at, p);
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
            paint(QUIET, &format!("memory {}", values(self.loaded, &self.position.at.memory)))
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
        let moves = self.table.instructions(&self.position.at);
        if moves.is_empty() {
            let (winner, why) = self.table.stuck(&self.position.at);
            self.end(winner, why);
            return None;
        }
        if self.table.person == Player::Process {
            if let Some(p) = self.count_due(&moves) {
                let name = &self.loaded.system.processes[p.index()].name;
                let why = format!("`{name}` could be played {PATIENCE} times and was not");
                self.end(Player::Update, &format!("{why}, which is not fair"));
                return None;
            }
            let texts: Vec<String> =
                moves.iter().map(|(p, i)| self.table.instruction(*p, &i.path)).collect();
            let chosen = self.ask(&texts).map(|n| moves[n].clone())?;
            self.played(chosen.0, &moves);
            return Some(chosen);
        }
        let chosen = self.table.chosen(&self.position, &moves);
        Some(moves[chosen].clone())
    }

    /// The turn of the update player; false if the person does not go on.
    fn update_turn(
        &mut self,
        before: &Position,
        process: ProcessId,
        path: &[TransitionId],
    ) -> bool {
        if self.table.person == Player::Update {
            return self.person_updates();
        }
        let after = self.position.at.clone();
        let next = self.table.replied(before, (process, path), after);
        let what = if next.at == self.position.at { "nothing" } else { "changes the buffers" };
        self.position = next;
        self.say(Player::Update, what);
        true
    }

    fn person_updates(&mut self) -> bool {
        loop {
            let steps = self.table.steps(&self.position.at);
            let owes = self.table.owes_update(&self.position.at);
            if owes {
                let due = "due: an update, since no process can go on; to end the turn is to lose";
                print(&format!("  {}\n", paint(QUIET, due)));
            }
            let mut texts = vec!["end the turn".to_owned()];
            texts.extend(steps.iter().map(|s| self.table.step(&self.position.at, *s)));
            let Some(number) = self.ask(&texts) else { return false };
            if number == 0 {
                break;
            }
            self.position.at = self.table.rules.take(&self.position.at, steps[number - 1]);
            self.show();
        }
        self.position = self.table.ended(&self.position);
        true
    }
}
