//! `weir game`

mod play;

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use weir::certify::{Unaccepted, accepted};
use weir::load::read_text;
use weir::report::board::Board;
use weir::report::json::{StatsReport, VERSION};
use weir::report::{draw, strategy};
use weir::{LoadError, Loaded, Reading, Verdict};
use weir_check::strategy::StrategyFile;
use weir_front::Diagnostic;
use weir_front::suggest::closest;
use weir_game::{Options, Outcome};
use weir_model::game::{Buffers, NoGame, Player};
use weir_model::limits::Stop;
use weir_model::program::Objective;

use super::page::Html;
use super::{
    Status, complain, fail, internal, no_search, note, print, print_json, write_json, write_whole,
};
use crate::cli::game::Game;
use crate::cli::options::Format;
use crate::findings::Findings;
use crate::limits;
use crate::output::{json, paint};
use crate::progress::{Progress, counted};
use crate::terminal::{QUIET, STRONG, style};

/// The most rows of a strategy that are printed.
const ROWS: usize = 24;

pub fn run(args: &Game) -> Status {
    let language = match args.language.unbounded("game") {
        Ok(language) => language,
        Err(message) => return fail(&message),
    };
    let read = read_text(&args.file);
    let reading = Reading { language, ..limits::reading() };
    let read =
        read.and_then(|text| Loaded::read(args.language.name_of(&args.file), &text, &reading));
    let unbuilt = |error: LoadError| {
        let found = error.into_unbuilt(|program| !program.games.is_empty());
        found.map(|(loaded, reason)| (loaded, Some(reason)))
    };
    let (loaded, stopped) = match read.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
        Ok((loaded, stopped)) => (Arc::new(loaded), stopped),
        Err(error) => return complain(&error),
    };
    let games = match chosen(&loaded, args) {
        Ok(games) => games,
        Err(status) => return status,
    };
    let options = args.options();
    if let Some(player) = args.play {
        if let Some(reason) = stopped {
            return super::stopped(&reason);
        }
        return match solve(&loaded, games[0], args, None) {
            Ok(outcome) => match file(&loaded, games[0], &options, &outcome) {
                Ok(_) => play::run(&loaded, games[0], &options, &outcome, player.into()),
                Err(error) => internal(&error),
            },
            Err(status) => status,
        };
    }
    let mut status = Status::Fine;
    let mut reports: Vec<Option<GameReport>> = games.iter().map(|_| None).collect();
    let findings = findings(&loaded, &games, options, args.format);
    let mut is_begun = false;
    // A game that is solved in a short time does not wait for one that takes long.
    for store in FIRST.into_iter().skip(usize::from(games.len() == 1)) {
        for (number, &game) in games.iter().enumerate() {
            if reports[number].is_some() {
                continue;
            }
            let solved = match &stopped {
                Some(reason) => Ok(unsolved(reason)),
                None => solve(&loaded, game, args, store),
            };
            let outcome = match solved {
                Ok(outcome) => outcome,
                Err(wrong) => return wrong,
            };
            if store.is_some() && outcome.winner.is_none() && stopped.is_none() {
                continue;
            }
            status = status.and(status_of(&outcome));
            let file = match file(&loaded, game, &options, &outcome) {
                Ok(file) => file,
                Err(error) => return internal(&error),
            };
            if args.format == Format::Human {
                let title = if is_begun { String::new() } else { heading(&loaded, &options) };
                print(&(title + &human(&loaded, game, &outcome)));
                is_begun = true;
            }
            let summary = report(&loaded, game, &outcome, file.clone());
            findings.add(number, (serde_json::to_value(&summary).unwrap_or_default(), status));
            if number == 0 {
                status = status.and(write(args, &loaded, game, &outcome, file.as_ref()));
            }
            let needs_board = args.format == Format::Json || args.page.html.is_some();
            let play = match needs_board.then(|| Board::new(&loaded, game, &options, &outcome)) {
                Some(Ok(board)) => board,
                Some(Err(error)) => return fail(&error.message),
                None => None,
            };
            reports[number] = Some(GameReport { play, ..summary });
        }
    }
    drop(findings);
    let report = Report {
        version: VERSION,
        file: &loaded.source.name,
        text: &loaded.source.text,
        fairness: options.fairness.name(),
        semantics: options.buffers.name(),
        games: reports.into_iter().flatten().collect(),
    };
    if args.format == Format::Json {
        print_json(&report);
    }
    let mut html = Html::new("game", &args.page.html);
    status.and(html.add(&args.file, || report)).and(html.write())
}

/// How much each game may store in a first round, and then.
const FIRST: [Option<usize>; 2] = [Some(4 << 20), None];

/// No winner is known.
fn unsolved(reason: &str) -> Outcome {
    let argument = reason.to_owned();
    Outcome { winner: None, argument, strategy: None, stats: no_search(reason) }
}

fn status_of(outcome: &Outcome) -> Status {
    match outcome.winner {
        Some(Player::Process) => Status::Fine,
        Some(Player::Update) => Status::Violated,
        None => Status::Unknown,
    }
}

/// The games that are solved, as reports and with the status so far. A person has seen them when a
/// limit ends the command, and is told which games are not solved.
fn findings(
    loaded: &Arc<Loaded>,
    games: &[usize],
    options: Options,
    format: Format,
) -> Findings<(serde_json::Value, Status)> {
    let (loaded, games) = (loaded.clone(), games.to_vec());
    let last_words = move |found: &[(usize, (serde_json::Value, Status))], stop: Stop| {
        let known = |number: usize| found.iter().find(|(known, _)| *known == number);
        let outcome = unsolved(&stop.to_string());
        let text = match format {
            Format::Human => {
                let open = games.iter().enumerate().filter(|(i, _)| known(*i).is_none());
                let title =
                    if found.is_empty() { heading(&loaded, &options) } else { String::new() };
                open.fold(title, |text, (_, game)| text + &human(&loaded, *game, &outcome))
            }
            Format::Json => {
                let game = |(i, game): (usize, &usize)| match known(i) {
                    Some((_, (report, _))) => report.clone(),
                    None => {
                        let report = report(&loaded, *game, &outcome, None);
                        serde_json::to_value(report).unwrap_or_default()
                    }
                };
                let report = Report {
                    version: VERSION,
                    file: &loaded.source.name,
                    text: &loaded.source.text,
                    fairness: options.fairness.name(),
                    semantics: options.buffers.name(),
                    games: games.iter().enumerate().map(game).collect(),
                };
                json(&report).map_or_else(|_| String::new(), |line| line + "\n")
            }
        };
        let status = found.iter().fold(Status::Fine, |s, (_, (_, status))| s.and(*status));
        (text, status)
    };
    Findings::begin(last_words, |_, _| None)
}

/// The games that are asked for; says so if there is none.
fn chosen(loaded: &Loaded, args: &Game) -> Result<Vec<usize>, Status> {
    let count = loaded.system.program.games.len();
    if count == 0 {
        let advice = "write one, such as `game reach p@there` or `game avoid p@there`";
        return Err(fail(&format!("`{}` has no game: {advice}", args.file)));
    }
    let Some(name) = &args.game else { return Ok((0..count).collect()) };
    let names: Vec<String> = (0..count).map(|g| loaded.system.game_name(g)).collect();
    match names.iter().position(|n| n == name) {
        Some(game) => Ok(vec![game]),
        None => Err(fail(&match closest(name, names.iter().map(String::as_str)) {
            Some(meant) => format!("there is no game `{name}`; did you mean `{meant}`?"),
            None => format!("there is no game `{name}`"),
        })),
    }
}

fn solve(
    loaded: &Loaded,
    game: usize,
    args: &Game,
    store: Option<usize>,
) -> Result<Outcome, Status> {
    let mut progress = Progress::default();
    let mut search = args.search();
    if let Some(store) = store {
        let most = search.budget.store().map_or(store, |most| most.min(store));
        search.budget = search.budget.with_store(most);
    }
    let outcome = weir_game::solve(&loaded.system, game, &args.options(), &search, &mut |stats| {
        progress.update(stats)
    });
    drop(progress);
    outcome.map_err(|NoGame { message, span }| {
        complain(&LoadError::Wrong {
            name: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            errors: vec![Diagnostic::new(message, loaded.source.range(span))],
        })
    })
}

/// The file of the strategy that wins, if one was found. Its checker accepts it.
fn file(
    loaded: &Loaded,
    game: usize,
    options: &Options,
    outcome: &Outcome,
) -> Result<Option<StrategyFile>, Unaccepted> {
    let Some((winner, strategy)) = outcome.winner.zip(outcome.strategy.as_ref()) else {
        return Ok(None);
    };
    let how = (options.fairness, options.buffers);
    accepted(
        StrategyFile::new(&loaded.system, game, how, winner, strategy),
        loaded,
        limits::budget().threads(),
    )
    .map(Some)
}

fn heading(loaded: &Loaded, options: &Options) -> String {
    let buffers = match options.buffers {
        Buffers::Store => "store buffers",
        Buffers::Load => "load buffers",
    };
    let name = paint(STRONG, &loaded.source.name);
    match options.fairness {
        weir_model::game::Fairness::None => format!("{name} with {buffers}\n"),
        fairness => format!("{name} with {buffers} and {} fairness\n", fairness.name()),
    }
}

fn human(loaded: &Loaded, game: usize, outcome: &Outcome) -> String {
    let system = &loaded.system;
    let (verdict, mark, words) = match outcome.winner {
        Some(Player::Process) => (Verdict::Holds, "✓", "the process player wins"),
        Some(Player::Update) => (Verdict::Violated, "✗", "the update player wins"),
        None => (Verdict::Unknown, "?", "unknown"),
    };
    let style = style(verdict);
    let asked = loaded.source.text_of(system.program.games[game].span);
    let asked = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let _ = writeln!(out, "\n  {} {}  {asked}", paint(style, mark), paint(style, words));
    let _ = writeln!(out, "    {}", paint(QUIET, &outcome.argument));
    if let Some(strategy) = &outcome.strategy {
        let lines = strategy::lines(loaded, strategy);
        if !lines.is_empty() {
            out.push('\n');
        }
        for line in lines.iter().take(ROWS + 1) {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
        if lines.len() > ROWS + 1 {
            let more = lines.len() - ROWS - 1;
            let text = format!("  … and {more} more; --strategy FILE writes all of it");
            let _ = writeln!(out, "{}", paint(QUIET, &text));
        }
    }
    let _ = writeln!(out, "\n{}", paint(QUIET, &summary(outcome)));
    out
}

fn summary(outcome: &Outcome) -> String {
    let stats = &outcome.stats;
    let what = if stats.engine == "views" { "view" } else { "position" };
    let seconds = stats.elapsed.as_secs_f64();
    format!("{}: {}, {seconds:.3} s", stats.engine, counted(stats.stored, what))
}

/// Writes the files that were asked for.
fn write(
    args: &Game,
    loaded: &Loaded,
    game: usize,
    outcome: &Outcome,
    file: Option<&StrategyFile>,
) -> Status {
    let mut status = Status::Fine;
    for path in [&args.strategy, &args.dot, &args.svg].into_iter().flatten() {
        if file.is_none() {
            note(&format!("the winner is unknown, so `{}` was not written", path.display()));
        }
    }
    let (Some(file), Some(strategy)) = (file, &outcome.strategy) else { return status };
    if let Some(path) = &args.strategy {
        status = status.and(write_json(path, file));
    }
    let graph = || draw::Graph::new(loaded, game, strategy);
    if let Some(path) = &args.dot {
        status = status.and(write_whole(path, &graph().dot()));
    }
    if let Some(path) = &args.svg {
        status = status.and(match graph().svg() {
            Ok(text) => write_whole(path, &text),
            Err(message) => fail(&format!("{message}; use --dot or --strategy")),
        });
    }
    status
}

#[derive(Serialize)]
struct Report<'a, G> {
    version: u32,
    file: &'a str,
    text: &'a str,
    fairness: &'static str,
    semantics: &'static str,
    games: Vec<G>,
}

#[derive(Serialize)]
struct GameReport {
    name: String,
    objective: &'static str,
    line: usize,
    winner: Option<&'static str>,
    argument: String,
    bound: Option<usize>,
    strategy: Option<StrategyFile>,
    /// A board on which to play against the winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    play: Option<Board>,
    stats: StatsReport,
}

fn report(
    loaded: &Loaded,
    game: usize,
    outcome: &Outcome,
    strategy: Option<StrategyFile>,
) -> GameReport {
    let asked = &loaded.system.program.games[game];
    GameReport {
        name: loaded.system.game_name(game),
        objective: match asked.objective {
            Objective::Reach => "reach",
            Objective::Avoid => "avoid",
        },
        line: loaded.line(asked.span),
        winner: outcome.winner.map(Player::name),
        argument: outcome.argument.clone(),
        bound: outcome.stats.bound,
        strategy,
        play: None,
        stats: StatsReport::new(&outcome.stats),
    }
}
