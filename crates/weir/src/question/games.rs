//! Games between a program and its memory.

use std::sync::Arc;

use serde_json::{Value, json};
use weir_check::Evidence as _;
use weir_check::strategy::StrategyFile;
use weir_engine::{SearchOptions, Stats};
use weir_front::Diagnostic;
use weir_front::suggest::closest;
use weir_game::{Options, Outcome};
use weir_model::answer::Verdict;
use weir_model::game::{Buffers, Fairness, NoGame, Player};
use weir_model::memory_model::MemoryModel;
use weir_model::program::Objective;

use super::claim;
use crate::certify::accepted;
use crate::error::Error;
use crate::finding::{Basis, Block, Event, Evidence, Finding, Line, Listener, Question, Report};
use crate::hints::Hints;
use crate::load::{LoadError, Loaded};
use crate::report::board::Board;
use crate::report::run::Layout;
use crate::report::{counted, strategy};
use crate::verifier::Verifier;

/// The most rows of a strategy that are printed.
const ROWS: usize = 24;

/// How much each game may store in the first round and in the second one. So a game that is solved
/// quickly does not wait for one that takes long.
const ROUNDS: [Option<usize>; 2] = [Some(4 << 20), None];

/// Asks who wins games.
#[derive(Clone, Debug, Default)]
pub struct Games {
    /// The name of the game; all if there is none.
    pub name: Option<String>,
    /// How they are played.
    pub options: Options,
}

/// Who wins a game.
#[derive(Debug)]
pub struct Solved {
    /// The program.
    pub loaded: Arc<Loaded>,
    /// The place of the game in the program.
    pub game: usize,
    /// How it is played.
    pub options: Options,
    /// Who wins, and how.
    pub outcome: Outcome,
    file: Option<StrategyFile>,
    hints: Hints,
}

impl Question for Games {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        verifier.without_bounds("a game takes")?;
        let (loaded, stopped) = verifier.load(false, |program| !program.games.is_empty())?;
        let loaded = Arc::new(loaded);
        let games = self.chosen(&loaded, verifier.name_of())?;
        let mut report = Report::new("game", &loaded, heading(&self.options));
        report.findings = games.iter().map(|&game| self.open(&loaded, game)).collect();
        tell(Event::Asked(&report));
        if let Some(reason) = stopped {
            report.findings = report.findings.into_iter().map(|f| f.unknown(&reason)).collect();
            return Ok(report);
        }
        for store in ROUNDS.into_iter().skip(usize::from(games.len() == 1)) {
            for (i, &game) in games.iter().enumerate() {
                if report.findings[i].basis::<Solved>().is_some() {
                    continue;
                }
                let outcome = self.solve(&loaded, game, verifier, store, tell)?;
                if store.is_some() && outcome.winner.is_none() {
                    continue;
                }
                let open = report.findings[i].clone();
                report.findings[i] = self.settled(open, &loaded, game, outcome, verifier)?;
                tell(Event::Found(i, &report.findings[i]));
            }
        }
        Ok(report)
    }
}

impl Games {
    /// The places of the games that are asked for.
    fn chosen(&self, loaded: &Loaded, file: &str) -> Result<Vec<usize>, Error> {
        let count = loaded.system.program.games.len();
        if count == 0 {
            return Err(Error::NoGame(file.to_owned()));
        }
        let Some(name) = &self.name else { return Ok((0..count).collect()) };
        let names: Vec<String> = (0..count).map(|g| loaded.system.game_name(g)).collect();
        match names.iter().position(|n| n == name) {
            Some(game) => Ok(vec![game]),
            None => Err(Error::NoSuch(match closest(name, names.iter().map(String::as_str)) {
                Some(meant) => format!("there is no game `{name}`; did you mean `{meant}`?"),
                None => format!("there is no game `{name}`"),
            })),
        }
    }

    fn open(&self, loaded: &Loaded, game: usize) -> Finding {
        let (name, asked) = (loaded.system.game_name(game), &loaded.system.program.games[game]);
        let mut claim = claim(loaded, &MemoryModel::TSO, &name);
        claim.model = self.options.buffers.name().to_owned();
        claim.fairness = (self.options.fairness != Fairness::None)
            .then(|| format!("{} fairness", self.options.fairness.name()));
        let mut finding = Finding::open(claim, "game");
        finding.line = Some(loaded.line(asked.span));
        finding.span = Some(loaded.source.range(asked.span));
        let words = loaded.source.text_of(asked.span).split_whitespace();
        let says = words.collect::<Vec<_>>().join(" ");
        // Without its name, which may be the word `game` itself.
        let rest = says.strip_prefix(&name).map(|rest| rest.trim_start_matches([':', ' ']));
        finding.says = rest.unwrap_or(&says).to_owned();
        finding
    }

    fn solve(
        &self,
        loaded: &Loaded,
        game: usize,
        verifier: &Verifier,
        store: Option<usize>,
        tell: Listener<'_>,
    ) -> Result<Outcome, Error> {
        let mut search = SearchOptions { form: None, ..verifier.options(MemoryModel::TSO)? };
        if let Some(store) = store {
            let most = search.budget.store().map_or(store, |most| most.min(store));
            search.budget = search.budget.with_store(most);
        }
        let mut progress = |stats: &Stats| tell(Event::Searching(stats));
        let solved = weir_game::solve(&loaded.system, game, &self.options, &search, &mut progress);
        solved.map_err(|NoGame { message, span }| {
            Error::Load(LoadError::Wrong {
                name: loaded.source.name.clone(),
                text: loaded.source.text.clone(),
                errors: vec![Diagnostic::new(message, loaded.source.range(span))],
            })
        })
    }

    fn settled(
        &self,
        open: Finding,
        loaded: &Arc<Loaded>,
        game: usize,
        outcome: Outcome,
        verifier: &Verifier,
    ) -> Result<Finding, Error> {
        let how = (self.options.fairness, self.options.buffers);
        let found = outcome.winner.zip(outcome.strategy.as_ref());
        let file = found.map(|(winner, strategy)| {
            let file = StrategyFile::new(&loaded.system, game, how, winner, strategy);
            accepted(file, &**loaded, verifier.budget().threads())
        });
        let file = file.transpose()?;
        let (verdict, word) = match outcome.winner {
            Some(Player::Process) => (Verdict::Holds, Some("the process player wins")),
            Some(Player::Update) => (Verdict::Violated, Some("the update player wins")),
            None => (Verdict::Unknown, None),
        };
        let reason = outcome.winner.is_none().then(|| outcome.argument.clone());
        let stats = Arc::new(outcome.stats.clone());
        let (loaded, options, hints) = (loaded.clone(), self.options, verifier.hints_of());
        let solved = Solved { loaded, game, options, outcome, file, hints };
        let mut finding = open.settled(verdict, Arc::new(solved));
        finding.outcome = word.map(str::to_owned);
        finding.reason = reason;
        finding.statistics = Some(stats);
        Ok(finding)
    }
}

fn heading(options: &Options) -> String {
    let buffers = match options.buffers {
        Buffers::Store => "store buffers",
        Buffers::Load => "load buffers",
    };
    match options.fairness {
        Fairness::None => format!("with {buffers}"),
        fairness => format!("with {buffers} and {} fairness", fairness.name()),
    }
}

impl Basis for Solved {
    fn evidence(&self) -> Option<Evidence> {
        self.file.as_ref().map(|file| Evidence::new("strategy", file.what()))
    }

    fn file(&self) -> Option<String> {
        self.file.as_ref().map(|file| file.to_json() + "\n")
    }

    fn remarks(&self) -> Vec<String> {
        match self.outcome.winner {
            Some(_) => vec![self.outcome.argument.clone()],
            // It is the reason.
            None => Vec::new(),
        }
    }

    fn blocks(&self, _: Layout) -> Vec<Block> {
        let Some(found) = &self.outcome.strategy else { return Vec::new() };
        let lines = strategy::lines(&self.loaded, found);
        if lines.is_empty() {
            return Vec::new();
        }
        let left = lines.len().saturating_sub(ROWS + 1);
        let mut lines: Vec<Line> = lines.into_iter().take(ROWS + 1).map(Line::Plain).collect();
        if left > 0 {
            let whole = self
                .hints
                .strategy
                .map_or_else(String::new, |option| format!("; {option} FILE writes all of it"));
            lines.push(Line::Quiet(format!("… and {left} more{whole}")));
        }
        let name = self.loaded.system.game_name(self.game);
        vec![Block { name, title: "how it is won".to_owned(), lines }]
    }

    fn details(&self) -> Option<Value> {
        let asked = &self.loaded.system.program.games[self.game];
        let board = Board::new(&self.loaded, self.game, &self.options, &self.outcome);
        Some(json!({
            "objective": match asked.objective {
                Objective::Reach => "reach",
                Objective::Avoid => "avoid",
            },
            "winner": self.outcome.winner.map(Player::name),
            "argument": self.outcome.argument,
            "fairness": self.options.fairness.name(),
            "semantics": self.options.buffers.name(),
            "bound": self.outcome.stats.bound,
            "play": board.ok().flatten(),
        }))
    }

    fn summary(&self) -> Option<String> {
        let stats = &self.outcome.stats;
        let what = if stats.engine == "views" { "view" } else { "position" };
        let seconds = stats.elapsed.as_secs_f64();
        Some(format!("{}: {}, {seconds:.3} s", stats.engine, counted(stats.stored, what)))
    }
}
