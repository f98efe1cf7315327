//! Programs of machines, and of programs.

use weir_channel::{Machine, StateId};
use weir_theory::empty::empty;
use weir_theory::program::{again, program};

use super::{control_state, with};
use crate::cli::channel::{ChannelEmpty, ChannelProgram};
use crate::commands::{Status, complain, fail, print};

/// Prints the program of a basic machine.
pub fn of_machine(args: &ChannelProgram) -> Status {
    with(&args.file, |machine| {
        let is_again = !args.again.is_empty();
        let asked = if is_again { &args.again } else { &args.goals };
        let goals = match goals(machine, asked) {
            Ok(goals) => goals,
            Err(status) => return status,
        };
        let made = if is_again { again(machine, &goals) } else { program(machine, &goals) };
        match made {
            Ok(program) => {
                print(&weir_front::weir::print(&program));
                Status::Fine
            }
            Err(error) => fail(&format!("`{}`: {error}", args.file)),
        }
    })
}

/// The control states of some names, each once; all if there are none.
fn goals(machine: &Machine, names: &[String]) -> Result<Vec<StateId>, Status> {
    if names.is_empty() {
        return Ok(machine.states().collect());
    }
    let mut goals = Vec::new();
    for name in names {
        let state = control_state(machine, name)?;
        if !goals.contains(&state) {
            goals.push(state);
        }
    }
    Ok(goals)
}

/// Prints the program that asks for empty buffers in the place of any.
pub fn with_empty_buffers(args: &ChannelEmpty) -> Status {
    let loaded = match args.language.load(&args.file, &[]) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    let all = match loaded.expanded(&crate::limits::budget()) {
        Ok(all) => all,
        Err(error) => return complain(&error),
    };
    match empty(all) {
        Ok(program) => {
            print(&weir_front::weir::print(&program));
            Status::Fine
        }
        Err(error) => fail(&format!("`{}`: {error}", args.file)),
    }
}
