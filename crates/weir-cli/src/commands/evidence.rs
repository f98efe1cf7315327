//! The files that a command writes as evidence: the first run that it finds, its picture, and a proof.

use std::path::Path;

use weir::{Proof, Report};

use super::pictures::Pictures;
use super::{Status, note, write_whole};
use crate::cli::options::EvidenceArgs;

/// The files that are to be written and have not been.
pub struct EvidenceFiles<'a> {
    pub witness: Option<&'a Path>,
    pub certificate: Option<&'a Path>,
    /// Whether proofs are checked, also one that is not written.
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

    /// Writes the files for which a report has evidence.
    pub fn write(&mut self, report: &Report, proof: Option<&Proof>) -> Status {
        let mut status = Status::Fine;
        if let Some(path) = self.witness
            && let Some(file) = report.findings.iter().find_map(weir::Finding::file)
        {
            status = status.and(write_whole(path, &file));
            self.witness = None;
        }
        if let Some(shown) = report.findings.iter().find_map(weir::Finding::shown) {
            status = status.and(self.pictures.draw(&report.file, shown));
        }
        if let Some((path, proof)) = self.certificate.zip(proof) {
            status = status.and(write_whole(path, &proof.text));
            self.certificate = None;
        }
        status
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
