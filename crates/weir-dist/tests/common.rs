//! What several tests need: random programs, and searches in several processes.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use weir_dist::{Distributed, Hosts, Tuning};
use weir_gen::{Rng, Shape, program};
use weir_model::ids::SpanId;
use weir_model::program::{Expr, Program, Property, PropertyKind, Quantifier};

/// Small sizes, so that small programs have many packets and ranks.
pub const SMALL: Tuning = Tuning { packet: 100, largest_key: 1000, missed: 2 };

/// What each process of several finds, each with an engine of its own.
pub fn in_processes(
    processes: usize,
    engine: &(dyn Fn() -> Distributed + Sync),
    find: &(dyn Fn(&Distributed) -> String + Sync),
) -> Vec<String> {
    let listeners: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> =
        listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = listeners
            .into_iter()
            .enumerate()
            .map(|(me, listener)| {
                let hosts = Hosts {
                    addresses: addresses.clone(),
                    me,
                    secret: b"a secret of the tests".to_vec(),
                    wait: Duration::from_secs(30),
                    silence: Duration::from_secs(10),
                };
                scope.spawn(move || find(&engine().with_hosts(hosts).with_listener(listener)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A random program with several properties, some of which are violated.
pub fn random(seed: u64) -> Program {
    let mut program = program(&mut Rng::new(seed), &Shape::rich());
    let kinds = [PropertyKind::NoDeadlock(vec![]), PropertyKind::Assertions];
    let property = |kind| Property { name: None, kind, span: SpanId::NONE };
    if !seed.is_multiple_of(3) {
        program.properties.extend(kinds.map(property));
    }
    program.properties.push(property(PropertyKind::Final(Quantifier::Exists, Expr::Const(0))));
    program
}

pub fn cases(default: u64) -> u64 {
    std::env::var("WEIR_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

pub fn seed() -> u64 {
    std::env::var("WEIR_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
}
