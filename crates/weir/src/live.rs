//! Questions about runs without end: what a program asks, and lassos that their checker accepts.

use weir_check::lasso::{self, Asked};
use weir_live::{Answer, Evidence, Lasso, Options, Progress, Question};
use weir_model::program::Program;

use crate::certify::{Unaccepted, accepted};
use crate::load::Loaded;

/// Something that is asked.
#[derive(Clone, Debug)]
pub struct AskedFor<'p> {
    /// What it is called.
    pub name: String,
    /// What is asked.
    pub question: Question<'p>,
    /// How a file of evidence names it.
    pub file: Asked,
}

/// What is asked of a program: of an object the chosen progress properties, all if none is
/// chosen; of processes what their program asks with `live`.
pub fn asked<'p>(program: &'p Program, chosen: &[Progress]) -> Vec<AskedFor<'p>> {
    if program.object.is_none() {
        let live = program.live.iter().enumerate();
        return live
            .map(|(i, live)| AskedFor {
                name: program.live_name(i),
                question: Question::Live(&live.kind),
                file: Asked::Live(i),
            })
            .collect();
    }
    let all = Progress::ALL.into_iter();
    all.filter(|p| chosen.is_empty() || chosen.contains(p))
        .map(|p| AskedFor {
            name: p.name().to_owned(),
            question: Question::Progress(p),
            file: Asked::Progress(p.name().to_owned()),
        })
        .collect()
}

/// Answers what is asked. Every lasso is one that its checker accepts.
///
/// # Errors
/// If the checker rejects a lasso.
pub fn answers(
    loaded: &Loaded,
    asked: &[AskedFor<'_>],
    options: &Options,
) -> Result<Vec<Answer>, Unaccepted> {
    let questions: Vec<Question<'_>> = asked.iter().map(|a| a.question).collect();
    let answers = weir_live::answers(&loaded.system, &questions, options);
    for (asked, answer) in asked.iter().zip(&answers) {
        let Evidence::Lasso(lasso) = &answer.evidence else { continue };
        accepted(lasso_file(loaded, asked, lasso, options.flush_fair), loaded)?;
    }
    Ok(answers)
}

/// How many clients an object has.
pub fn clients(loaded: &Loaded) -> Option<usize> {
    let program = &loaded.system.program;
    program.object.as_ref().map(|_| program.processes.len())
}

/// The file of a lasso.
pub fn lasso_file(
    loaded: &Loaded,
    asked: &AskedFor<'_>,
    found: &Lasso,
    flush_fair: bool,
) -> lasso::Lasso {
    let (clients, asked) = (clients(loaded), asked.file.clone());
    let run = (&found.run, found.stem);
    lasso::Lasso::new(&loaded.system, clients, asked, flush_fair, run, &|span| loaded.line(span))
}
