//! `weir reduce`

use weir::LoadError;
use weir::load::read_text;
use weir_channel::text::Placed;
use weir_channel::{Machine, text};
use weir_front::Diagnostic;
use weir_front::suggest::closest;
use weir_model::game::Fairness;
use weir_theory::cpcp;
use weir_theory::reduce::reduce;

use super::channel::{pcp::load, warn_of_repeated};
use super::{Status, complain, fail, print};
use crate::cli::reduce::{
    Reduce, ReduceCommand, ReduceCpcp, ReduceCpcpTo, ReduceFairness, ReducePcs,
};

pub fn run(args: &Reduce) -> Status {
    match &args.command {
        ReduceCommand::Pcs(args) => pcs(args),
        ReduceCommand::Cpcp(args) => cyclic(args),
    }
}

/// Prints the game of a perfect channel system.
fn pcs(args: &ReducePcs) -> Status {
    let source = match read_text(&args.file) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    let wrong = |errors| {
        complain(&LoadError::Wrong { name: args.file.clone(), text: source.clone(), errors })
    };
    let Placed { machine, transitions: places, repeated } = match text::read_placed(&source) {
        Ok(read) => read,
        Err(errors) => return wrong(errors),
    };
    warn_of_repeated(&args.file, &source, repeated);
    let Some(goal) = machine.state(&args.reach) else {
        let names = machine.states().map(|s| machine.state_name(s));
        let message = format!("there is no control state `{}`", args.reach);
        return fail(&match closest(&args.reach, names) {
            Some(meant) => format!("{message}; did you mean `{meant}`?"),
            None => message,
        });
    };
    let (fairness, winner) = match args.fairness {
        ReduceFairness::Update => (Fairness::Update, "process"),
        ReduceFairness::Process => (Fairness::Process, "update"),
    };
    match reduce(&machine, goal, fairness) {
        Ok(program) => {
            print(&format!(
                "// The {winner} player wins this game with {} fairness if and only if\n\
                 // {} reaches {} (Spengler 2024, section {}).\n{}",
                fairness.name(),
                machine.name().escape_default(),
                machine.state_name(goal).escape_default(),
                if fairness == Fairness::Update { 7 } else { 8 },
                weir_front::weir::print(&program),
            ));
            Status::Fine
        }
        Err(error) => {
            let place = error.transition.and_then(|t| places.get(t.index()).cloned());
            wrong(vec![Diagnostic::new(error.message, place.unwrap_or(0..0))])
        }
    }
}

/// What to ask of a machine.
const CPCP_QUESTION: &str = "\
// The pairs have a cyclic solution if and only if a lossy run visits s1 infinitely often:
// weir channel run --lossy --again s1
";

/// What is asked of the program of a machine.
const CPCP_PROGRAM: &str = "\
// The pairs have a cyclic solution if and only if some run visits s1 infinitely often
// under TSO: weir live
";

/// Prints a machine or the library of a cyclic instance of Post's correspondence problem.
fn cyclic(args: &ReduceCpcp) -> Status {
    let instance = match load(&args.file) {
        Ok((instance, _)) => instance,
        Err(error) => return complain(&error),
    };
    let machine = || cpcp::machine(&instance);
    let asking = |m: &Machine| CPCP_QUESTION.to_owned() + &text::print(m);
    let printed = match args.to {
        ReduceCpcpTo::Machine => machine().map(|m| asking(&m)),
        ReduceCpcpTo::OneChannel => {
            machine().and_then(|m| cpcp::one_channel(&m)).map(|m| asking(&m))
        }
        ReduceCpcpTo::Library => cpcp::library(&instance),
        ReduceCpcpTo::Program => machine()
            .and_then(|m| cpcp::program(&m))
            .map(|program| CPCP_PROGRAM.to_owned() + &weir_front::weir::print(&program)),
    };
    match printed {
        Ok(text) => {
            print(&text);
            Status::Fine
        }
        Err(error) => fail(&format!("`{}`: {error}", args.file)),
    }
}
