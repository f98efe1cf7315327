//! What each worker did, as a table and for JSON.

use weir::report::table::Table;
use weir::report::{grouped, json};
use weir_dist::{ClusterReport, WorkerStats};

/// What each worker did, for `--stats`.
pub fn table(report: &ClusterReport) -> String {
    let mut table = Table::default();
    let head = ["  worker", "process", "stored", "share", "steps", "MiB", "MiB sent", "s waited"];
    table.row(head.map(str::to_owned));
    let all: u64 = report.workers.iter().map(|w| w.stored).sum();
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    for (i, w) in report.workers.iter().enumerate() {
        // How much of a fair share.
        let share = w.stored as f64 * report.workers.len() as f64 / all.max(1) as f64;
        table.row([
            format!("  {i}"),
            w.process.to_string(),
            grouped(w.stored as usize),
            format!("{share:.2}"),
            grouped(w.steps as usize),
            mib(w.bytes),
            mib(w.sent),
            format!("{:.2}", w.waited as f64 / 1000.0),
        ]);
    }
    let rounds = grouped(report.rounds as usize);
    let network = match report.processes {
        1 => String::new(),
        n => format!(" among {n} processes, {} MiB from this one", mib(report.network)),
    };
    format!("{}\n  rounds of messages: {rounds}{network}\n", table.lines("  ").join("\n"))
}

/// What each worker did, for JSON.
pub fn json(report: &ClusterReport) -> json::ClusterReport {
    let worker = |w: &WorkerStats| json::WorkerReport {
        process: w.process,
        stored: w.stored,
        expanded: w.expanded,
        steps: w.steps,
        bytes: w.bytes,
        sent: w.sent,
        waited: w.waited as f64 / 1000.0,
    };
    json::ClusterReport {
        processes: report.processes,
        rounds: report.rounds,
        workers: report.workers.iter().map(worker).collect(),
    }
}
