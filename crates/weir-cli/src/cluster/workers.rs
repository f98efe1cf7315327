//! `weir check` with several workers.

use std::io;
use std::path::Path;
use std::time::Duration;

use weir::certify::Unaccepted;
use weir::question::{Answered, Properties};
use weir::report::json::{ProofJson, ReportJson};
use weir::{ENGINES, Finding, Report, Verifier};
use weir_check::shards::{Failure, Manifest, check};
use weir_dist::{Distributed, Hosts, NoShards};
use weir_engine::{Engine, Explicit, Task, Views, reachable};
use weir_model::answer::Evidence;

use super::{hosts, local, table};
use crate::cli::Check;
use crate::cli::batch::ReportFormat;
use crate::cli::cluster::ClusterArgs;
use crate::commands::Status;
use crate::commands::ask::{Asking, heard, status_of};
use crate::findings::Findings;
use crate::output::{ShardFolder, advise, fail, internal, note, plain, print, print_json, reject};
use crate::report;

/// How long to wait for other processes, and how long they may be silent.
const WAIT: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(10);

/// The workers of a search, of which this process has some.
pub struct Cluster {
    engine: &'static Distributed,
    /// Whether this process reports; the others only take part.
    reports: bool,
}

/// The workers that `weir check` is to use, if it is to use any.
///
/// # Errors
/// If they cannot be used for this.
pub fn of(args: &Check) -> Result<Option<Cluster>, String> {
    if !args.cluster.is_given() {
        return Ok(None);
    }
    let name = args.search.engine.name();
    let engine = match name == Views.name() {
        true => Views.name(),
        false => Explicit.name(),
    };
    if name != ENGINES[0].name() && name != engine {
        return Err(format!(
            "a search with several workers is done by the engine `explicit` or `views`, not by `{name}`"
        ));
    }
    if args.programs.files.len() != 1 || args.programs.is_expanded || args.models.models.len() > 1 {
        return Err(
            "a search with several workers is about one program and one memory model".to_owned()
        );
    }
    let has_shards = engine == Explicit.name();
    if let Some(path) = args.evidence.certificate.as_ref().filter(|_| has_shards)
        && path.exists()
        && !path.is_dir()
    {
        return Err(format!(
            "with several workers a proof is a folder of shards, and `{}` is a file",
            path.display()
        ));
    }
    if has_shards && args.evidence.verify && args.cluster.hosts.is_some() {
        return Err(
            "the shards of several machines are not verified by the search: `weir certify` checks them"
                .to_owned(),
        );
    }
    if args.programs.files[0] == "-" && args.cluster.processes.is_some_and(|n| n > 1) {
        return Err("several processes cannot read the program from standard input".to_owned());
    }
    start(&args.cluster, engine).map(Some)
}

fn start(args: &ClusterArgs, name: &'static str) -> Result<Cluster, String> {
    let workers = usize::from(args.workers.unwrap_or(1));
    let wait = args.wait.unwrap_or(WAIT);
    let silence = args.silence.unwrap_or(SILENCE);
    let engine = match name == Views.name() {
        true => Distributed::views(workers),
        false => Distributed::new(workers),
    };
    let (engine, me) = match (&args.hosts, &args.process, &args.secret, local::role()) {
        (Some(file), Some(me), Some(secret), _) => {
            let addresses = hosts::read(file)?;
            let me = usize::from(*me);
            if me >= addresses.len() {
                return Err(format!(
                    "there is no process {me}: the hosts file has {} addresses",
                    addresses.len()
                ));
            }
            let secret = hosts::read_secret(secret)?;
            (engine.with_hosts(Hosts { addresses, me, secret, wait, silence }), me)
        }
        (Some(_), ..) => {
            return Err("--hosts goes together with --process and --secret".to_owned());
        }
        (None, _, _, Some(role)) => {
            let local::Role { addresses, me, secret, listener } = role?;
            let hosts = Hosts { addresses, me, secret, wait, silence };
            (engine.with_hosts(hosts).with_listener(listener), me)
        }
        (None, ..) => match args.processes {
            Some(count) if count > 1 => {
                let local::Role { addresses, me, secret, listener } = local::start(count.into())?;
                let hosts = Hosts { addresses, me, secret, wait, silence };
                (engine.with_hosts(hosts).with_listener(listener), me)
            }
            _ => (engine, 0),
        },
    };
    // It lives as long as the program.
    Ok(Cluster { engine: Box::leak(Box::new(engine)), reports: me == 0 })
}

impl Drop for Cluster {
    fn drop(&mut self) {
        local::end();
    }
}

impl Cluster {
    /// The engine that has the workers.
    pub fn engine(&self) -> &'static dyn Engine {
        self.engine
    }

    /// Asks with the workers: they write proofs, and only the first process reports. Returns whether
    /// this is that process.
    pub fn ask(&self, asking: &mut Asking<'_>, question: &Properties, verifier: &Verifier) -> bool {
        let (format, printed) = (asking.format, asking.printed);
        let findings = Findings::begin(
            asking.status,
            move |report, _| match format {
                ReportFormat::Human => {
                    report.map(|report| report::text(report, printed, &[].into()))
                }
                _ => None,
            },
            |_| None,
        );
        let report = match heard(&|tell| verifier.ask(question, tell), &findings, &|_, _| {}) {
            Ok(report) => report,
            Err(error) => {
                drop(findings);
                asking.status = asking.status.and(reject(verifier.name_of(), &error));
                return self.reports;
            }
        };
        let mut sharded = None;
        let has_shards = self.engine.name() == Explicit.name();
        if let Some(files) = asking.files.as_mut().filter(|_| has_shards)
            && let Some(path) = files.certificate
        {
            match self.write_shards(&report, verifier, path, files.verify) {
                Ok(None) => {}
                Ok(Some(report)) => {
                    sharded = report;
                    (files.certificate, files.verify) = (None, false);
                }
                Err(unmade) => {
                    (files.certificate, files.verify) = (None, false);
                    asking.status = asking.status.and(unmade);
                }
            }
        }
        asking.status = asking.status.and(status_of(&report));
        if !self.reports {
            // The report is that of the first process.
            match self.engine.report().and_then(|report| report.fault) {
                Some(fault) => note(&format!("unknown: {fault}")),
                None => note("the search is over; process 0 prints the report"),
            }
            return false;
        }
        let proof = asking.proof(&report).unwrap_or_else(|status| {
            asking.status = asking.status.and(status);
            None
        });
        let shown = findings.end();
        let workers = self.engine.report();
        let json = workers.as_ref().map(table::json);
        match format {
            ReportFormat::Human => {
                let details = workers
                    .filter(|_| printed.stats)
                    .map_or_else(String::new, |w| table::table(&w));
                print(&(report::text(&report, printed, &shown) + &details));
            }
            _ => {
                let proof = proof.as_ref().map(ProofJson::from).or(sharded);
                print_json(&ReportJson::new(&report, proof, json.as_ref()));
            }
        }
        asking.show(&report, proof.as_ref(), json.as_ref());
        true
    }

    /// Has the workers write the proof of the answers that rest on an exhaustive search, if there are
    /// some: what was written, if it was also checked.
    ///
    /// # Errors
    /// If it was not written, or its checker rejects it.
    fn write_shards(
        &self,
        report: &Report,
        verifier: &Verifier,
        path: &Path,
        verify: bool,
    ) -> Result<Option<Option<ProofJson>>, Status> {
        let answers: Vec<&Answered> = report.findings.iter().filter_map(Finding::basis).collect();
        let exhausted = answers.iter().filter(|a| matches!(a.answer.evidence, Evidence::Exhausted));
        let properties: Vec<usize> = exhausted.map(|a| a.answer.property.index()).collect();
        let Some(Answered { loaded, model, .. }) = answers.first() else { return Ok(None) };
        if properties.is_empty() || !reachable::is_listed(*model) {
            return Ok(None);
        }
        let options = verifier.options(*model).map_err(|error| fail(&advise(&error)))?;
        let task = Task::new(&loaded.system, *model, &options);
        let unwritten = |error: io::Error| {
            fail(&format!("cannot write `{}`: {}", path.display(), plain(&error)))
        };
        let folder = ShardFolder::make(path).map_err(unwritten)?;
        let manifest =
            self.engine.write_shards(task, properties, &folder).map_err(|why| match why {
                NoShards::Unknown(reason) => {
                    note(&format!("the proof was not made: {reason}"));
                    Status::Unknown
                }
                NoShards::Unwritten(reason) => fail(&format!("in `{}`: {reason}", path.display())),
            })?;
        if !self.reports {
            return Ok(Some(None));
        }
        if !verify {
            note(&format!(
                "{} is in `{}` and was not checked yet: `weir certify` does that",
                manifest.what(),
                path.display()
            ));
            return Ok(Some(None));
        }
        let (budget, what) = (&task.options.budget, manifest.what());
        let checked = Manifest::read(&folder)
            .and_then(|signed| check(&loaded.system, &signed, &folder, budget.threads(), budget));
        match checked {
            Ok(()) => {
                let bytes = manifest.shards.iter().map(|shard| shard.bytes as usize).sum();
                let claims = manifest.claim(&loaded.system);
                let settles = claims.answers.into_iter().map(|answer| answer.question).collect();
                Ok(Some(Some(ProofJson { what, settles, bytes })))
            }
            Err(Failure::Rejected(why)) => Err(internal(&Unaccepted { what, why })),
            Err(Failure::Stopped(stop)) => {
                note(&format!("the proof was written and not checked: {stop}"));
                Err(Status::Unknown)
            }
            Err(Failure::File(name, error)) => {
                Err(fail(&format!("cannot read `{}`: {}", folder.path(&name), plain(&error))))
            }
        }
    }
}
