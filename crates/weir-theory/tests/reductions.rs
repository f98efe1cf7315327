//! The reductions of Spengler 2024, sections 7 and 8: the game is won if and only if the
//! channel system reaches its final state.

use weir_channel::explicit;
use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::{Machine, Op as ChannelOp, lossy::Reach, text};
use weir_engine::SearchOptions;
use weir_game::{Options, Outcome, solve};
use weir_gen::{Rng, setting};
use weir_model::game::{Board, Configuration, Fairness, Player, Strategy};
use weir_model::ids::ProcessId;
use weir_model::system::{Op, System};
use weir_theory::reduce::reduce;

/// Where the seeds begin, and how many there are: `WEIR_SEED` and `WEIR_CASES`.
fn seeds(cases: u64) -> std::ops::Range<u64> {
    let first = setting("WEIR_SEED", 0);
    first..first + setting("WEIR_CASES", cases)
}

fn machine(text: &str) -> Machine {
    text::read(text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn game_of(machine: &Machine, goal: &str, fairness: Fairness) -> System {
    let goal = machine.state(goal).expect("a state");
    let program = reduce(machine, goal, fairness).unwrap();
    // What is printed is read back as the same game.
    let printed = weir_front::weir::print(&program);
    let (again, _) = weir_front::read("reduced.weir", &printed, None)
        .unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
    assert_eq!(weir_front::weir::print(&again), printed);
    System::new(again).unwrap()
}

fn play(system: &System, fairness: Fairness, bound: usize) -> Outcome {
    let options = Options { fairness, ..Options::default() };
    let search = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
    let outcome = solve(system, 0, &options, &search, &mut |_| {}).unwrap();
    if let (Some(winner), Some(strategy)) = (outcome.winner, &outcome.strategy) {
        let how = (fairness, options.buffers);
        let file = weir_check::strategy::StrategyFile::new(system, 0, how, winner, strategy);
        weir_check::strategy::check(system, &file).unwrap();
    }
    outcome
}

const TWO: &str = "
    machine two;  messages a, b;  channels c;  states s0, s1, s2, s3, end, no;  initial s0;
    s0 -> s1 do c!a;
    s1 -> s2 do c!b;
    s2 -> s3 do c?a;
    s3 -> end do c?b;
    s2 -> no do c?b;
";

/// What `proc1` did: sends and receives, as they were played against an update player
/// who follows the protocol.
fn trace(system: &System, strategy: &Strategy) -> Vec<(bool, String)> {
    let Strategy::Process(positions) = strategy else { panic!("a strategy on configurations") };
    let board = Board::new(system, 0).unwrap();
    let (proc1, proc2) = (ProcessId::new(0), ProcessId::new(1));
    let op_of = |p: ProcessId, path: &[weir_model::ids::TransitionId]| {
        system.transition(p, path[path.len() - 1]).op
    };
    let name = |op: Op| match op {
        Op::Read(x, d) | Op::Write(x, d) => {
            (system.vars[x.index()].name.clone(), system.show_value(x, d))
        }
        _ => (String::new(), String::new()),
    };
    let can_move = |at: &Configuration| {
        let rules = weir_game::rules::Rules {
            board: board.clone(),
            buffers: weir_model::game::Buffers::Store,
        };
        system.process_ids().any(|p| rules.enabled(at, p).next().is_some())
    };
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..1000 {
        let position = &positions[at];
        let Some((process, path)) = &position.action else { return found };
        let op = op_of(*process, path);
        let (var, value) = name(op);
        match op {
            Op::Write(..) if *process == proc1 && var == "x_wr" => found.push((true, value)),
            Op::Read(..) if *process == proc1 && var == "x_rd" && value != "none" => {
                found.push((false, value));
            }
            _ => {}
        }
        // The second look at `y` in a rotation: `x_rd` holds the message by then.
        let shown = system.vars.iter().position(|v| v.name == "x_rd").unwrap();
        let looked = *process == proc2
            && var == "y"
            && matches!(op, Op::Read(..))
            && position.at.memory[shown] != weir_model::ids::ValueId(0);
        let lengths = |n: &usize| {
            let buffers = &positions[*n].at.buffers;
            (buffers[0].len(), buffers[1].len())
        };
        let most = position.next.iter().map(lengths).max().unwrap_or((0, 0));
        let lazy = position.next.iter().find(|n| lengths(n) == most);
        let Some(&lazy) = lazy else { return found };
        at = if looked {
            // The `⟨y, 1⟩` of the message that was rotated.
            *position.next.iter().find(|n| lengths(n) == (most.0 - 1, most.1)).unwrap()
        } else if can_move(&positions[lazy].at) {
            lazy
        } else if most.1 > 0 {
            *position.next.iter().find(|n| lengths(n) == (most.0, 0)).unwrap()
        } else {
            *position.next.iter().find(|n| lengths(n) == (most.0 - 1, 0)).unwrap()
        };
    }
    panic!("the strategy does not get there")
}

/// Whether a machine can send and receive like this and be in a state then.
fn can_do(machine: &Machine, trace: &[(bool, String)], goal: &str) -> bool {
    let goal = machine.state(goal).unwrap();
    let mut work = vec![(machine.initial(), 0)];
    let mut seen = std::collections::HashSet::new();
    // A trace that is played in the order of the channel.
    let mut queue = std::collections::VecDeque::new();
    for (sends, message) in trace {
        if *sends {
            queue.push_back(message);
        } else if queue.pop_front() != Some(message) {
            return false;
        }
    }
    while let Some((state, done)) = work.pop() {
        if state == goal && done == trace.len() {
            return true;
        }
        if !seen.insert((state, done)) {
            continue;
        }
        for t in machine.transitions().iter().filter(|t| t.from == state) {
            let fits = |sends: bool, m| {
                trace
                    .get(done)
                    .is_some_and(|(s, name)| *s == sends && machine.message_name(m) == name)
            };
            match t.ops().next() {
                None => work.push((t.to, done)),
                Some((_, ChannelOp::Send { message, .. })) if fits(true, *message) => {
                    work.push((t.to, done + 1));
                }
                Some((_, ChannelOp::Receive(message))) if fits(false, *message) => {
                    work.push((t.to, done + 1));
                }
                _ => {}
            }
        }
    }
    false
}

#[test]
fn the_strategy_is_the_run_of_the_channel_system() {
    let machine = machine(TWO);
    let system = game_of(&machine, "end", Fairness::Update);
    let outcome = play(&system, Fairness::Update, 4);
    assert_eq!(outcome.winner, Some(Player::Process), "{}", outcome.argument);
    let trace = trace(&system, &outcome.strategy.unwrap());
    let shown: Vec<String> =
        trace.iter().map(|(s, m)| format!("{}{m}", if *s { '!' } else { '?' })).collect();
    assert_eq!(shown, ["!a", "!b", "?a", "?b"]);
    assert!(can_do(&machine, &trace, "end"));
}

#[test]
fn messages_are_neither_lost_nor_swapped() {
    let machine = machine(TWO);
    let system = game_of(&machine, "no", Fairness::Update);
    let outcome = play(&system, Fairness::Update, 4);
    assert_eq!(outcome.winner, Some(Player::Update), "{}", outcome.argument);
    // Not even with a bound that is too small for the run.
    let system = game_of(&machine, "end", Fairness::Update);
    assert_ne!(play(&system, Fairness::Update, 1).winner, Some(Player::Update));
}

#[test]
fn under_process_fairness_the_update_player_plays_the_run() {
    let machine = machine(
        "machine one;  messages a;  channels c;  states s0, s1, end;  initial s0;
         s0 -> s1 do c!a;  s1 -> end do c?a;",
    );
    let system = game_of(&machine, "end", Fairness::Process);
    let outcome = play(&system, Fairness::Process, 2);
    assert_eq!(outcome.winner, Some(Player::Update), "{}", outcome.argument);
    assert_eq!(offers_taken(&system, &outcome.strategy.unwrap()), ["e0", "e1"]);
}

/// The transitions that `proc1` reads from `z`, against the update player's strategy and
/// a process player who takes the processes in turn.
fn offers_taken(system: &System, strategy: &Strategy) -> Vec<String> {
    let Strategy::Update(positions) = strategy else { panic!("a strategy on configurations") };
    let rules = weir_game::rules::Rules {
        board: Board::new(system, 0).unwrap(),
        buffers: weir_model::game::Buffers::Store,
    };
    let mut taken = Vec::new();
    let (mut at, mut due) = (0, 0);
    for _ in 0..1000 {
        let count = system.processes.len();
        let replies = &positions[at].replies;
        let mut turns = (0..count).map(|n| ProcessId::new((due + n) % count));
        let Some(p) = turns.find(|p| rules.enabled(&positions[at].at, *p).next().is_some()) else {
            panic!("there is always an offer")
        };
        // What leads to the target needs no reply.
        let Some((process, path, to)) = replies.iter().find(|r| r.0 == p) else { return taken };
        if let Op::Read(x, d) = system.transition(*process, path[path.len() - 1]).op
            && system.vars[x.index()].name == "z"
        {
            taken.push(system.show_value(x, d));
        }
        (at, due) = (*to, process.index() + 1);
    }
    panic!("the update player does not get there: {taken:?}")
}

#[test]
fn under_process_fairness_nothing_else_is_reached() {
    let machine = machine(
        "machine none;  messages a, b;  channels c;  states s0, s1, end;  initial s0;
         s0 -> s1 do c!a;  s1 -> end do c?b;",
    );
    let system = game_of(&machine, "end", Fairness::Process);
    assert_ne!(play(&system, Fairness::Process, 2).winner, Some(Player::Update));
}

/// A random system with one channel, as text.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text =
        "machine r;  messages a, b;  channels c;  states s0, s1, s2, s3, end;  initial s0;\n"
            .to_owned();
    let mut lines = std::collections::BTreeSet::new();
    // Some have a run with two messages in the channel for sure.
    if rng.once_in(2) {
        let (one, two) = (["a", "b"][rng.below(2)], ["a", "b"][rng.below(2)]);
        lines.insert(format!("s0 -> s1 do c!{one};\n"));
        lines.insert(format!("s1 -> s2 do c!{two};\n"));
        lines.insert("s2 -> s3 do c?a;\n".to_owned());
        lines.insert(format!("s3 -> end do c?{two};\n"));
    }
    for _ in 0..1 + rng.below(5) {
        let state = ["s0", "s1", "s2"][rng.below(3)];
        let to = ["s0", "s1", "s2", "end"][rng.below(4)];
        let op = ["", " do c!a", " do c!b", " do c?a", " do c?b"][rng.below(5)];
        lines.insert(format!("{state} -> {to}{op};\n"));
    }
    lines.insert(format!("s2 -> end do c?{};\n", ["a", "b"][rng.below(2)]));
    lines.iter().for_each(|l| text += l);
    text
}

#[test]
fn games_of_random_channel_systems_are_won_as_they_should_be() {
    let mut reached = 0;
    let mut not = 0;
    for seed in seeds(80) {
        let text = random(seed);
        let machine = machine(&text);
        let goal = Goal { state: machine.state("end").unwrap(), contents: Contents::Any };
        // Two messages take four places in the buffer, and an update player who breaks the
        // rules may leave a `⟨y, 1⟩` behind.
        let found = explicit::search(
            &machine,
            Semantics::Perfect,
            Some(&goal),
            &SearchOptions { bound: Some(2), ..SearchOptions::default() },
            &mut |_| {},
        );
        let system = game_of(&machine, "end", Fairness::Update);
        let outcome = play(&system, Fairness::Update, 5);
        match found.goal {
            Some(Reach::Reached(_)) => {
                assert_eq!(outcome.winner, Some(Player::Process), "seed {seed}\n{text}");
                let trace = trace(&system, &outcome.strategy.unwrap());
                assert!(can_do(&machine, &trace, "end"), "seed {seed}: {trace:?}\n{text}");
                reached += 1;
            }
            Some(Reach::NotReached(_)) => {
                assert_ne!(outcome.winner, Some(Player::Process), "seed {seed}\n{text}");
                not += 1;
            }
            // A longer channel may do it, and so may a longer buffer.
            _ => {}
        }
    }
    assert!(reached > 10 && not > 10, "{reached} reached, {not} not");
}

/// Tiny systems under process fairness: the update player wins if there is a short run,
/// and never if there is none.
#[test]
fn games_with_process_fairness_are_won_as_they_should_be() {
    let (mut reached, mut not) = (0, 0);
    for seed in seeds(6) {
        let mut rng = Rng::new(seed);
        let mut text =
            "machine r;  messages a, b;  channels c;  states s0, s1, end;  initial s0;\n"
                .to_owned();
        let first = ["c!a", "c!b", "nop"][rng.below(3)];
        let second = ["c?a", "c?b", "nop"][rng.below(3)];
        text += &format!("s0 -> s1 do {first};\ns1 -> end do {second};\n");
        let machine = machine(&text);
        let goal = Goal { state: machine.state("end").unwrap(), contents: Contents::Any };
        let search = SearchOptions::default();
        let found =
            explicit::search(&machine, Semantics::Perfect, Some(&goal), &search, &mut |_| {});
        let system = game_of(&machine, "end", Fairness::Process);
        let winner = play(&system, Fairness::Process, 2).winner;
        match found.goal {
            Some(Reach::Reached(_)) => {
                assert_eq!(winner, Some(Player::Update), "seed {seed}\n{text}");
                reached += 1;
            }
            _ => {
                assert_ne!(winner, Some(Player::Update), "seed {seed}\n{text}");
                not += 1;
            }
        }
    }
    assert!(reached > 2 && not > 2, "{reached} reached, {not} not");
}
