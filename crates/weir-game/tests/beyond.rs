//! Games whose buffers grow without end, against an explicit solver that shares nothing with
//! [`weir_game`].
//!
//! The reference plays on whole configurations with its own rules, takes `up*` as one move,
//! and keeps buffers within a bound by taking moves away from one player. So a win of that
//! player is a win in the unbounded game. It solves process fairness as a parity game, by
//! index appearance records and Zielonka's recursion.

use crate::common;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use weir_check::strategy::{Shape, StrategyFile, check};
use weir_engine::SearchOptions;
use weir_game::coarse::{covers, is_settled};
use weir_game::rules::Rules;
use weir_game::{Options, Outcome, solve};
use weir_gen::Rng;
use weir_model::game::{Board, Buffers, Fairness, Player, Strategy};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::program::{FenceKind, Objective};
use weir_model::system::{Op, System};

use common::{read, seeds};

/// Variable, value, own.
type Message = (VarId, ValueId, bool);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Config {
    states: Vec<StateId>,
    memory: Vec<ValueId>,
    buffers: Vec<Vec<Message>>,
}

struct Reference<'s> {
    board: Board<'s>,
    buffers: Buffers,
    fairness: Fairness,
    bound: usize,
    /// Whose moves are left out.
    kept_by: Player,
    /// Whether a move was left out.
    left_out: bool,
}

/// A node: what it is, for fairness, and where it leads.
#[derive(Default)]
struct Node {
    is_process: bool,
    enabled: Vec<usize>,
    played: Option<usize>,
    next: Vec<usize>,
    /// Who has won here.
    over: Option<Player>,
}

impl Reference<'_> {
    /// The processes that can move without a bound, and the moves within it.
    fn moves(&mut self, at: &Config) -> (Vec<usize>, Vec<(usize, Config)>) {
        let (mut enabled, mut moves) = (Vec::new(), Vec::new());
        for p in 0..at.states.len() {
            let buffer = &at.buffers[p];
            let own = |x: VarId| buffer.iter().rfind(|m| m.0 == x && m.2).map(|m| m.1);
            let read = |x: VarId| match self.buffers {
                Buffers::Store => own(x).or(Some(at.memory[x.index()])),
                Buffers::Load => {
                    own(x).or(buffer.first().filter(|m| m.0 == x && !m.2).map(|m| m.1))
                }
            };
            for i in self.board.instructions(ProcessId::new(p), at.states[p]) {
                let reads = (0..at.memory.len()).map(VarId::new);
                let reads: Vec<ValueId> =
                    reads.map(|x| own(x).unwrap_or(at.memory[x.index()])).collect();
                if i.waits && !self.board.goes_on(ProcessId::new(p), i.to, &reads) {
                    continue;
                }
                let mut after = at.clone();
                after.states[p] = i.to;
                match i.op {
                    Op::Nop => {}
                    Op::Read(x, d) if read(x) == Some(d) => {}
                    Op::Fence(FenceKind::Full) if buffer.is_empty() => {}
                    Op::Write(x, d) => {
                        after.buffers[p].push((x, d, true));
                        if self.buffers == Buffers::Load {
                            after.memory[x.index()] = d;
                        }
                    }
                    _ => continue,
                }
                if enabled.last() != Some(&p) {
                    enabled.push(p);
                }
                if self.kept_by == Player::Process && after.buffers[p].len() > self.bound {
                    self.left_out = true;
                } else {
                    moves.push((p, after));
                }
            }
        }
        (enabled, moves)
    }

    /// Where a turn of the update player may end.
    fn turns(&mut self, at: &Config) -> Vec<Config> {
        let mut seen = vec![at.clone()];
        let mut known = std::collections::HashSet::from([at.clone()]);
        let mut next = 0;
        while let Some(at) = seen.get(next).cloned() {
            next += 1;
            let mut found = Vec::new();
            for p in 0..at.buffers.len() {
                if let Some((x, d, _)) = at.buffers[p].first().copied() {
                    let mut after = at.clone();
                    after.buffers[p].remove(0);
                    if self.buffers == Buffers::Store {
                        after.memory[x.index()] = d;
                    }
                    found.push(after);
                }
                for x in 0..at.memory.len() {
                    if self.buffers == Buffers::Load {
                        if at.buffers[p].len() >= self.bound {
                            self.left_out = true;
                            continue;
                        }
                        let mut after = at.clone();
                        after.buffers[p].push((VarId::new(x), at.memory[x], false));
                        found.push(after);
                    }
                }
            }
            seen.extend(found.into_iter().filter(|c| known.insert(c.clone())));
        }
        let all = seen.len();
        let kept_by_update = self.kept_by == Player::Update;
        seen.retain(|c| !kept_by_update || c.buffers.iter().all(|b| b.len() <= self.bound));
        self.left_out |= seen.len() < all;
        seen
    }

    fn graph(&mut self) -> Vec<Node> {
        let start = self.board.start();
        let buffers = vec![vec![]; start.states.len()];
        let start = Config { states: start.states, memory: start.memory, buffers };
        let mut numbers: HashMap<(Config, Option<usize>), usize> = HashMap::new();
        let mut open = VecDeque::from([(start.clone(), None)]);
        numbers.insert((start, None), 0);
        let mut nodes = Vec::new();
        while let Some((at, played)) = open.pop_front() {
            let mut node = Node { is_process: played.is_none(), played, ..Node::default() };
            let mut next = Vec::new();
            if self.board.is_won(&at.states) {
                let reach = self.board.objective() == Objective::Reach;
                node.over = Some(if reach { Player::Process } else { Player::Update });
            } else if played.is_none() {
                let (enabled, moves) = self.moves(&at);
                node.enabled = enabled;
                if moves.is_empty() {
                    node.over = Some(Player::Update);
                }
                next.extend(moves.into_iter().map(|(p, after)| (after, Some(p))));
            } else {
                next.extend(self.turns(&at).into_iter().map(|after| (after, None)));
            }
            for one in next {
                let fresh = numbers.len();
                let number = *numbers.entry(one.clone()).or_insert_with(|| {
                    open.push_back(one);
                    fresh
                });
                node.next.push(number);
            }
            nodes.push(node);
        }
        nodes
    }

    /// Who wins the unbounded game, if this bound tells.
    fn winner(&mut self) -> Option<Player> {
        let nodes = self.graph();
        let winner = match (self.board.objective(), self.fairness) {
            (Objective::Avoid, Fairness::Process) => {
                parity(&nodes, self.board.start().states.len())
            }
            (objective, _) => without_fairness(&nodes, objective),
        };
        (winner == self.kept_by || !self.left_out).then_some(winner)
    }
}

/// Goes over all nodes until nothing changes.
fn without_fairness(nodes: &[Node], objective: Objective) -> Player {
    let mut wins = vec![objective == Objective::Avoid; nodes.len()];
    loop {
        let mut changed = false;
        for (n, node) in nodes.iter().enumerate() {
            let now = match node.over {
                Some(player) => player == Player::Process,
                None if node.is_process => node.next.iter().any(|to| wins[*to]),
                None => node.next.iter().all(|to| wins[*to]),
            };
            changed |= std::mem::replace(&mut wins[n], now) != now;
        }
        if !changed {
            return if wins[0] { Player::Process } else { Player::Update };
        }
    }
}

/// Nodes with index appearance records: the update player wins if the greatest priority that
/// comes up infinitely often is even.
fn parity(nodes: &[Node], processes: usize) -> Player {
    let first = (0usize, (0..processes).collect::<Vec<usize>>());
    let mut numbers = BTreeMap::from([(first.clone(), 0usize)]);
    let mut open = VecDeque::from([first]);
    let (mut next, mut priority, mut by_process) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((n, record)) = open.pop_front() {
        let node = &nodes[n];
        let played = record.iter().rposition(|p| node.played == Some(*p)).map_or(0, |at| at + 1);
        let enabled = record.iter().rposition(|p| node.enabled.contains(p)).map_or(0, |at| at + 1);
        by_process.push(node.is_process);
        if let Some(winner) = node.over {
            priority.push(usize::from(winner == Player::Process));
            next.push(vec![next.len()]);
            continue;
        }
        priority.push(if enabled > played { 2 * enabled } else { 2 * played + 1 });
        let (mut after, rest): (Vec<usize>, Vec<usize>) =
            record.iter().partition(|p| node.played == Some(**p));
        after.extend(rest);
        let mut ways = Vec::new();
        for to in &node.next {
            let key = (*to, after.clone());
            let fresh = numbers.len();
            ways.push(*numbers.entry(key.clone()).or_insert_with(|| {
                open.push_back(key);
                fresh
            }));
        }
        next.push(ways);
    }
    let game = Parity { next, priority, by_process };
    let all = (0..game.next.len()).collect();
    if game.even_wins(&all).contains(&0) { Player::Update } else { Player::Process }
}

struct Parity {
    next: Vec<Vec<usize>>,
    priority: Vec<usize>,
    by_process: Vec<bool>,
}

impl Parity {
    fn attract(
        &self,
        all: &BTreeSet<usize>,
        goal: BTreeSet<usize>,
        process: bool,
    ) -> BTreeSet<usize> {
        let mut set = goal;
        loop {
            let forced = |n: &&usize| {
                let mut ways = self.next[**n].iter().filter(|to| all.contains(to));
                !set.contains(n)
                    && match self.by_process[**n] == process {
                        true => ways.any(|to| set.contains(to)),
                        false => ways.all(|to| set.contains(to)),
                    }
            };
            let more: Vec<usize> = all.iter().filter(forced).copied().collect();
            if more.is_empty() {
                return set;
            }
            set.extend(more);
        }
    }

    /// Where the player of even priorities, the update player, wins.
    fn even_wins(&self, all: &BTreeSet<usize>) -> BTreeSet<usize> {
        let Some(most) = all.iter().map(|n| self.priority[*n]).max() else { return all.clone() };
        let odd = most % 2 == 1;
        let goal = all.iter().copied().filter(|n| self.priority[*n] == most).collect();
        let mine = self.attract(all, goal, odd);
        let rest = all - &mine;
        let even = self.even_wins(&rest);
        let lost = if odd { even } else { &rest - &even };
        if lost.is_empty() {
            return if odd { BTreeSet::new() } else { all.clone() };
        }
        let lost = self.attract(all, lost, !odd);
        let even = self.even_wins(&(all - &lost));
        if odd { &even | &lost } else { even }
    }
}

/// A random program with loops that write, and a game of each kind.
fn random(seed: u64, small: bool) -> String {
    let mut rng = Rng::new(seed);
    let vars = if small { 1 + rng.below(2) } else { 2 };
    let processes = if small { 1 + rng.below(2) } else { 2 + rng.below(2) };
    let mut text = "var x, y\n".to_owned();
    let mut targets = Vec::new();
    for p in 0..processes {
        let mut body = String::new();
        let here = rng.below(4);
        for n in 0..3 {
            let x = ["x", "y"][rng.below(vars)];
            let d = 1 + rng.below(2);
            let wanted = rng.below(2 + usize::from(!small));
            let z = ["x", "y"][rng.below(vars)];
            if n == here {
                body += " here:";
                targets.push(format!("p{p}@here"));
            }
            body += &match rng.below(11) {
                0 => format!(" loop {{ {x} = {d} }}"),
                1 => format!(" loop {{ {x} = {d}  {z} = 1 }}"),
                2 => " loop { nop }".to_owned(),
                3 => format!(" loop {{ await {x} == {wanted} }}"),
                4 | 5 => format!(" {x} = {d}"),
                6 | 7 => format!(" await {x} == {wanted}"),
                8 => format!(" choose {{ {x} = {d} }} or {{ await {z} == {wanted} }}"),
                9 => format!(" choose {{ loop {{ {x} = {d} }} }} or {{ await {z} == {wanted} }}"),
                _ => " fence".to_owned(),
            };
        }
        if here == 3 {
            body += " here:";
            targets.push(format!("p{p}@here"));
        }
        text += &format!("process p{p} {{{body} }}\n");
    }
    let targets = targets.join(" or ");
    text + &format!("game reach {targets}\ngame avoid {targets}\n")
}

fn file(system: &System, game: usize, options: Options, outcome: &Outcome) -> Option<StrategyFile> {
    let how = (options.fairness, options.buffers);
    let strategy = outcome.strategy.as_ref();
    Some(StrategyFile::new(system, game, how, outcome.winner?, strategy?))
}

fn play(system: &System, game: usize, options: Options, bound: Option<usize>) -> Outcome {
    let search = SearchOptions { bound, ..SearchOptions::default() };
    let outcome = solve(system, game, &options, &search, &mut |_| {}).unwrap();
    if let Some(file) = file(system, game, options, &outcome) {
        check(system, &file).unwrap_or_else(|e| panic!("{:?}: {e}", outcome.winner));
    }
    outcome
}

const FAIR: Options = Options { fairness: Fairness::Process, buffers: Buffers::Store };
const LOAD: Options = Options { fairness: Fairness::None, buffers: Buffers::Load };
const FAIR_LOAD: Options = Options { fairness: Fairness::Process, buffers: Buffers::Load };

fn reference(system: &System, game: usize, options: Options, bound: usize) -> Vec<Player> {
    let keepers: &[Player] = match options.buffers {
        Buffers::Store => &[Player::Process, Player::Update],
        Buffers::Load => &[Player::Update],
    };
    let winner = |kept_by: &Player| {
        let board = Board::new(system, game).unwrap();
        let Options { buffers, fairness } = options;
        Reference { board, buffers, fairness, bound, kept_by: *kept_by, left_out: false }.winner()
    };
    keepers.iter().filter_map(winner).collect()
}

/// Compares all answers with the reference, and checks that few are unknown.
fn compare(cases: u64, (small, options, games): (bool, Options, &[usize]), bounds: (usize, usize)) {
    let mut won = [0; 3];
    let mut compared = 0;
    for seed in seeds(cases) {
        let text = random(seed, small);
        if !text.contains("game avoid p") {
            continue;
        }
        let system = read(&text);
        for &game in games {
            let winner = play(&system, game, options, Some(bounds.0)).winner;
            for expected in reference(&system, game, options, bounds.1) {
                assert!(
                    winner.is_none_or(|w| w == expected),
                    "seed {seed}, game {game}, {options:?}: {winner:?} in place of {expected:?}\n{text}"
                );
                compared += usize::from(winner.is_some());
            }
            won[match winner {
                Some(Player::Process) => 0,
                Some(Player::Update) => 1,
                None => 2,
            }] += 1;
        }
    }
    let all: usize = won.iter().sum();
    assert!(won[0] > all / 20 && won[1] > all / 20 && compared > all / 2, "{won:?}, {compared}");
    assert!(won[2] * 20 < all, "too many are unknown: {won:?}");
}

#[test]
fn process_fair_games_agree_with_the_reference() {
    compare(200, (false, FAIR, &[1]), (3, 2));
}

#[test]
fn games_with_load_buffers_agree_with_the_reference() {
    compare(50, (true, LOAD, &[0, 1]), (2, 2));
    compare(50, (true, FAIR_LOAD, &[1]), (2, 2));
}

/// Fairness makes the process player play in a process that fills its buffer for ever.
#[test]
fn a_writer_that_never_stops_is_no_obstacle() {
    let text = "var x  process p { loop { x = 1 } }  process q { loop { nop } bad: }
        game avoid q@bad";
    for bound in [None, Some(1), Some(2)] {
        let outcome = play(&read(text), 0, FAIR, bound);
        assert_eq!(outcome.winner, Some(Player::Process), "{}", outcome.argument);
    }
    // Runs of several messages.
    let text = "var x, y  process p { loop { x = 1  y = 1  x = 2 } }
        process q { await x == 3  bad: }  game avoid q@bad";
    assert_eq!(play(&read(text), 0, FAIR, None).winner, Some(Player::Process));
    // The update player wins what can be won.
    let text = text.replace("x == 3", "x == 2");
    assert_eq!(play(&read(&text), 0, FAIR, None).winner, Some(Player::Update));
}

/// The order of the messages is known as far as they are listed.
#[test]
fn a_run_keeps_its_place() {
    let text = "var x, y
        process p { choose { loop { x = 1 } } or { y = 1  loop { nop } } }
        process q { await y == 1  choose { await x == 1  loop { nop } } or { await x == 0  bad: } }
        game avoid q@bad";
    assert_eq!(play(&read(text), 0, FAIR, Some(2)).winner, Some(Player::Process));
}

#[test]
fn with_load_buffers_waiting_is_a_win() {
    let text = "var x, y  process p { loop { nop } }
        process q { choose { await x == 0 } or { await y == 0 } bad: }  game avoid q@bad";
    let system = read(text);
    assert_eq!(play(&system, 0, LOAD, None).winner, Some(Player::Process));
    // With process fairness `q` has to be played once it is enabled.
    assert_eq!(play(&system, 0, FAIR_LOAD, None).winner, Some(Player::Update));
}

/// The checker looks at finitely many turns, though one buffer can grow while the oldest
/// message of another is not known.
#[test]
fn strategies_with_two_growing_load_buffers_are_checked() {
    let text = "var x, y
        process p0 { x = 1 choose { loop { x = 1 } } or { await x == 1 } here: loop { nop } }
        process p1 { x = 1 here: await x == 0 loop { y = 1 } }
        game reach p0@here or p1@here
        game avoid p0@here or p1@here";
    let system = read(text);
    for game in 0..2 {
        assert_eq!(play(&system, game, LOAD, Some(2)).winner, Some(Player::Process));
    }
}

#[test]
fn a_write_over_the_bound_into_a_target_wins() {
    let system = read("var x  process p { x = 1  x = 1  there: }  game reach p@there");
    let options = Options { fairness: Fairness::Update, buffers: Buffers::Store };
    for bound in [1, 2] {
        assert_eq!(play(&system, 0, options, Some(bound)).winner, Some(Player::Process));
    }
}

/// What a person plays against a strategy is covered by it, whatever the person does.
#[test]
fn every_play_stays_within_the_strategy() {
    let text = "var x, y  process p { loop { x = 1  y = 1 } }
        process q { loop { await x == 1  fence } bad: }  game avoid q@bad";
    for options in [FAIR, FAIR_LOAD] {
        let system = read(text);
        let outcome = play(&system, 0, options, Some(2));
        assert_eq!(outcome.winner, Some(Player::Process), "{}", outcome.argument);
        let Some(Strategy::Process(positions)) = outcome.strategy else { panic!("positions") };
        let rules = Rules { board: Board::new(&system, 0).unwrap(), buffers: options.buffers };
        let mut rng = Rng::new(1);
        let (mut at, mut number) = (rules.board.start(), 0);
        for _ in 0..300 {
            assert!(is_settled(&rules, &positions[number].at));
            let (process, path) = positions[number].action.clone().expect("play goes on");
            let instruction = rules.enabled(&at, process).find(|i| i.path == path);
            let instruction = instruction.expect("the move is possible").clone();
            at = rules.after(&at, process, &instruction);
            while !rng.once_in(3) {
                let steps = rules.steps(&at);
                if let Some(step) = steps.get(rng.below(steps.len().max(1))) {
                    at = rules.take(&at, *step);
                }
            }
            let mut next = positions[number].next.iter().copied();
            let next = next.find(|n| covers(&rules, &positions[*n].at, &at));
            number = next.expect("the strategy covers every move");
        }
    }
}

/// A strategy that denies what its buffers may hold does not cover what the update player can
/// do.
#[test]
fn false_descriptions_of_buffers_are_rejected() {
    let two = "var x, y  process p { loop { x = 1  y = 1 } }
        process q { loop { await x == 1  fence } bad: }  game avoid q@bad";
    let one = two.replace("y = 1", "");
    let mut changed = 0;
    for (text, options) in [(two, FAIR), (&one, FAIR), (two, FAIR_LOAD)] {
        let system = read(text);
        let outcome = play(&system, 0, options, Some(1));
        assert_eq!(outcome.winner, Some(Player::Process), "{}", outcome.argument);
        let good = file(&system, 0, options, &outcome).unwrap();
        for change in 0..4 {
            let mut bad = good.clone();
            let Shape::Process(turns) = &mut bad.strategy else { panic!("positions") };
            for at in turns.iter_mut().map(|turn| &mut turn.at) {
                match change {
                    0 => at.beyond = vec![],
                    1 => at.beyond.iter_mut().flatten().for_each(BTreeMap::clear),
                    2 => at.buffers.iter_mut().for_each(Vec::clear),
                    _ => at.buffers.iter_mut().flatten().for_each(|m| m.3 = false),
                }
            }
            if bad != good {
                changed += 1;
                assert!(check(&system, &bad).is_err(), "{options:?}, change {change}\n{text}");
            }
        }
    }
    assert_eq!(changed, 7);
}
