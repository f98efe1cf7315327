//! `weir compare`

use weir::question::Properties;
use weir::{MemoryModel, Verifier};

use super::ask::Asking;
use super::{Status, fail};
use crate::cli::Compare;
use crate::output::advise;

pub fn run(args: &Compare) -> Status {
    let mut named: Vec<MemoryModel> = MemoryModel::NAMED.into_iter().map(|(_, m)| m).collect();
    let is_in_c = |file: &String| args.search.language.model_of(file, None) == MemoryModel::C11;
    if args.programs.files.iter().all(is_in_c) {
        named.push(MemoryModel::C11);
    }
    let models = args.models.or(&named);
    let search = args.search.apply(Verifier::new("").under(models.clone()));
    if let Some(error) = models.iter().find_map(|model| search.search(*model).err()) {
        return fail(&advise(&error));
    }
    let question = Properties { names: args.search.asked.properties.clone() };
    let mut asking = Asking::new("compare", args.format.into(), &args.page.html);
    // What is violated under one model is no fault of the program: models are compared.
    asking.is_judging = false;
    asking.guesses = args.search.guesses.map(usize::from);
    let verifier = |file: &str| args.search.verifier(file, models.clone());
    asking.compare(&question, &args.programs.files, &verifier);
    asking.end()
}
