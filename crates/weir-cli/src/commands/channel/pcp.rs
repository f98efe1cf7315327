//! Post's correspondence problem.

use weir::LoadError;
use weir::finding::Listener;
use weir::load::read_text;
use weir::question::Post;
use weir_channel::SearchOptions;
use weir_theory::pcp::{Instance, program, read};

use crate::cli::channel::ChannelPcp;
use crate::commands::ask::Asking;
use crate::commands::evidence::EvidenceFiles;
use crate::commands::pictures::Pictures;
use crate::commands::{Status, complain, print};
use crate::limits;
use crate::report::Printed;

pub fn run(args: &ChannelPcp) -> Status {
    let (instance, text) = match load(&args.file) {
        Ok(instance) => instance,
        Err(error) => return complain(&error),
    };
    if !args.solve {
        print(&weir_front::weir::print(&program(&instance)));
        return Status::Fine;
    }
    let mut asking = Asking::new("channel", args.format.into(), &None);
    asking.printed = Printed { stats: args.stats, ..asking.printed };
    asking.files = Some(EvidenceFiles {
        witness: args.witness.as_deref(),
        certificate: None,
        verify: false,
        pictures: Pictures::default(),
    });
    let options = SearchOptions { bound: args.bound.map(usize::from), ..limits::search() };
    let question = Post { instance: &instance, model: args.model };
    let source = (args.file.as_str(), text.as_str());
    asking.answer(&args.file, "", &|tell: Listener<'_>| question.ask(source, &options, tell));
    asking.end()
}

/// Reads an instance.
pub fn load(file: &str) -> Result<(Instance, String), LoadError> {
    let text = read_text(file)?;
    match read(&text) {
        Ok(instance) => Ok((instance, text)),
        Err(errors) => Err(LoadError::Wrong { name: file.to_owned(), text, errors }),
    }
}
