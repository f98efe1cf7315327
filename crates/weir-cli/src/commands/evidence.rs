//! Files of evidence that commands are asked to write.

use std::path::Path;

use super::note;
use super::pictures::Pictures;
use crate::cli::options::EvidenceArgs;

/// The files that are to be written and have not been: each gets the first evidence of its kind.
pub struct EvidenceFiles<'a> {
    pub witness: Option<&'a Path>,
    pub certificate: Option<&'a Path>,
    /// Whether every proof is checked, also one that is not written.
    pub verify: bool,
    pub pictures: Pictures<'a>,
}

impl<'a> EvidenceFiles<'a> {
    pub fn new(args: &'a EvidenceArgs) -> Self {
        Self {
            witness: args.witness.as_deref(),
            certificate: args.certificate.as_deref(),
            verify: args.verify,
            pictures: Pictures::new(args),
        }
    }

    /// Whether a proof is to be written or checked.
    pub fn need_proof(&self) -> bool {
        self.certificate.is_some() || self.verify
    }

    /// Says which files were not written, since there was nothing for them.
    pub fn note_unwritten(&self) {
        self.pictures.note_undrawn();
        for (path, what) in [(self.witness, "run"), (self.certificate, "proof")] {
            if let Some(path) = path {
                note(&format!("no {what} was found, so `{}` was not written", path.display()));
            }
        }
    }
}
