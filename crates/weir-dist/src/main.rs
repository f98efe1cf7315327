//! The program `weir-dist`: `weir check` with several workers, in several processes, on several
//! machines. `weir check --workers`, `--processes` and `--hosts` start it.

mod hosts;
mod local;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use weir_cli::cluster::{Cluster, ClusterArgs, Unmade, run_with};
use weir_cli::output::plain;
use weir_dist::{Distributed, Hosts, NoShards};
use weir_engine::{Engine, Views};

/// How long to wait for other processes, and how long they may be silent.
const WAIT: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let status = run_with(std::env::args_os(), start);
    local::end();
    status
}

fn start(args: &ClusterArgs, name: &'static str) -> Result<Cluster, String> {
    let workers = usize::from(args.workers.unwrap_or(1));
    let wait = args.wait.unwrap_or(WAIT);
    let silence = args.silence.unwrap_or(SILENCE);
    let engine = match name == Views.name() {
        true => Distributed::views(workers),
        false => Distributed::new(workers),
    };
    if args.spill.is_some() && name == Views.name() {
        return Err("--spill is for --engine explicit".to_owned());
    }
    let engine = match &args.spill {
        Some(folder) => engine.with_spill(folder.clone()).map_err(|error| {
            format!("cannot keep levels in `{}`: {}", folder.display(), plain(&error))
        })?,
        None => engine,
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
    let engine: &'static Distributed = Box::leak(Box::new(engine));
    Ok(Cluster {
        engine,
        reports: me == 0,
        details: Box::new(move || engine.report().map_or_else(String::new, |r| table::table(&r))),
        stats: Box::new(move || engine.report().map(|report| table::json(&report))),
        fault: Box::new(move || Some(engine.report()?.fault?.to_string())),
        write_shards: Box::new(move |task, properties, folder| {
            engine.write_shards(task, properties, folder).map_err(|why| match why {
                NoShards::Unknown(reason) => Unmade::Unknown(reason),
                NoShards::Unwritten(reason) => Unmade::Unwritten(reason),
            })
        }),
    })
}
