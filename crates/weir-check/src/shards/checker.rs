//! Checks a set in shards: as a whole, or shard by shard.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustc_hash::FxHasher;
use weir_model::answer::Buffered;
use weir_model::limits::Budget;
use weir_model::question::Question;
use weir_model::system::System;

use super::lines::{Lines, Reader};
use super::table::{BLOCK, Table, pack};
use super::{
    CHECKED, DISCHARGED, FORMAT, Failure, Folder, HASH, Listed, MAX_SHARDS, OBLIGATIONS,
    ObligationsHead, Receipt, Router, ShardHead, Signed, Unfinished, VERSION, checked_name,
    discharged_name, malformed, obligations_name, parse, read_small, shard_name, write_small,
};
use crate::Rejected;
use crate::closed::{WHAT, asked, settled};
use crate::evidence::within_bounds;
use crate::header::Header;
use crate::sha256::Sha256;
use crate::store_buffers::Rules;

/// How many obligations are remembered, so that the same one is not written again soon.
const RECENT: usize = 1 << 14;

/// A set that is being checked.
struct Checker<'a> {
    system: &'a System,
    rules: Rules<'a>,
    asked: Vec<&'a Question>,
    signed: &'a Signed,
    folder: &'a dyn Folder,
    budget: &'a Budget,
}

/// Checks a set as a whole, with up to so many threads: all shards are in memory. The result does not
/// depend on the number of threads.
///
/// # Errors
/// The first thing that is wrong with it, or why that is not known.
pub fn check(
    system: &System,
    signed: &Signed,
    folder: &dyn Folder,
    threads: usize,
    budget: &Budget,
) -> Result<(), Failure> {
    let checker = Checker::new(system, signed, folder, budget)?;
    let shards = checker.shards();
    let tables = in_parallel(threads, shards, &|| {
        let mut router = Router::new(system, shards);
        let checker = &checker;
        Box::new(move |shard| checker.load(shard, &mut router))
    })?;
    let mut router = Router::new(system, shards);
    let mut packed = Vec::new();
    for config in checker.rules.initial() {
        pack(&config, &mut packed);
        if !tables[router.shard(&config)].contains(&packed) {
            return Err(Rejected::InitialOutside.into());
        }
    }
    let parts = tables.iter().enumerate().flat_map(|(shard, table)| {
        (0..table.len()).step_by(BLOCK).map(move |first| (shard, first))
    });
    let parts: Vec<(usize, usize)> = parts.collect();
    in_parallel(threads, parts.len(), &|| {
        let mut router = Router::new(system, shards);
        let (checker, tables, parts) = (&checker, &tables, &parts);
        Box::new(move |part| {
            let (shard, first) = parts[part];
            let table = &tables[shard];
            for id in first..(first + BLOCK).min(table.len()) {
                checker.budget.tick()?;
                checker.stays((shard, id), table, &mut router, &mut |to, _, packed| {
                    Ok(tables[to].contains(packed))
                })?;
            }
            Ok(())
        })
    })?;
    Ok(())
}

/// Checks every step from the configurations of one shard, and writes a receipt, and for each other
/// shard a file with what is reached there. Only this shard is in memory.
///
/// # Errors
/// The first thing that is wrong with it, or why that is not known.
pub fn check_shard(
    system: &System,
    signed: &Signed,
    shard: usize,
    folder: &dyn Folder,
    budget: &Budget,
) -> Result<Receipt, Failure> {
    let checker = Checker::new(system, signed, folder, budget)?;
    checker.has_shard(shard)?;
    let shards = checker.shards();
    // What was found out about another set is not about this one.
    let name = checked_name(shard);
    folder.remove(&name).map_err(|error| Failure::File(name.clone(), error))?;
    let mut router = Router::new(system, shards);
    let table = checker.load(shard, &mut router)?;
    let mut packed = Vec::new();
    for config in checker.rules.initial() {
        pack(&config, &mut packed);
        if router.shard(&config) == shard && !table.contains(&packed) {
            return Err(Rejected::InitialOutside.into());
        }
    }
    let mut owed: Vec<Option<Lines<'_, Box<dyn Unfinished>>>> = Vec::new();
    for to in 0..shards {
        let begin = || -> io::Result<_> {
            let out = folder.create(&obligations_name(shard, to))?;
            Lines::new(system, out, &checker.obligations_head(shard, to))
        };
        owed.push(match to == shard {
            true => None,
            false => Some(begin().map_err(|e| Failure::File(obligations_name(shard, to), e))?),
        });
    }
    let mut recent: Vec<Vec<u8>> = vec![vec![]; RECENT];
    for id in 0..table.len() {
        budget.tick()?;
        checker.stays((shard, id), &table, &mut router, &mut |to, config, packed| {
            let Some(lines) = &mut owed[to] else { return Ok(table.contains(packed)) };
            let mut hasher = FxHasher::default();
            hasher.write(packed);
            let last = &mut recent[(hasher.finish() >> 32) as usize % RECENT];
            if last != packed {
                last.clear();
                last.extend_from_slice(packed);
                let added = lines.add(config);
                added.map_err(|error| Failure::File(obligations_name(shard, to), error))?;
            }
            Ok(true)
        })?;
    }
    let mut obligations = Vec::with_capacity(shards);
    for (to, lines) in owed.into_iter().enumerate() {
        let Some(lines) = lines else {
            obligations.push(None);
            continue;
        };
        let (out, listed) = lines.finish();
        out.finish().map_err(|error| Failure::File(obligations_name(shard, to), error))?;
        obligations.push(Some(listed));
    }
    let receipt = checker.receipt(CHECKED, shard, obligations);
    write_small(folder, &name, &receipt)?;
    Ok(receipt)
}

/// Looks whether a shard has everything that the steps from all other shards lead to, and writes a
/// receipt. Only this shard is in memory.
///
/// # Errors
/// The first thing that is missing, or why that is not known.
pub fn discharge(
    system: &System,
    signed: &Signed,
    shard: usize,
    folder: &dyn Folder,
    budget: &Budget,
) -> Result<Receipt, Failure> {
    let checker = Checker::new(system, signed, folder, budget)?;
    checker.has_shard(shard)?;
    let name = discharged_name(shard);
    folder.remove(&name).map_err(|error| Failure::File(name.clone(), error))?;
    let mut router = Router::new(system, checker.shards());
    let table = checker.load(shard, &mut router)?;
    let mut obligations = Vec::new();
    let mut packed = Vec::new();
    for from in 0..checker.shards() {
        if from == shard {
            obligations.push(None);
            continue;
        }
        let name = obligations_name(from, shard);
        let mut reader = Reader::open(system, folder, &name, u64::MAX)?;
        reader.head(&checker.obligations_head(from, shard), budget)?;
        while let Some(config) = reader.next(budget)? {
            pack(&config, &mut packed);
            if !table.contains(&packed) {
                let step = format!("a step to what is not in shard {shard}");
                return Err(Rejected::LeadsOut { place: format!("shard {from}"), step }.into());
            }
        }
        obligations.push(Some(reader.listed(budget)?));
    }
    let receipt = checker.receipt(DISCHARGED, shard, obligations);
    write_small(folder, &name, &receipt)?;
    Ok(receipt)
}

/// Accepts a set all of whose shards were checked, one by one. It looks at the receipts and not at
/// the shards.
///
/// # Errors
/// What is missing.
pub fn join(
    system: &System,
    signed: &Signed,
    folder: &dyn Folder,
    budget: &Budget,
) -> Result<(), Failure> {
    let checker = Checker::new(system, signed, folder, budget)?;
    // What the checked shards expect of others, by whom and of whom.
    let mut owed: BTreeMap<(usize, usize), Listed> = BTreeMap::new();
    for shard in 0..checker.shards() {
        let receipt = checker.read_receipt(CHECKED, shard)?;
        for (to, listed) in receipt.obligations.into_iter().enumerate() {
            owed.extend(listed.map(|listed| ((shard, to), listed)));
        }
    }
    for shard in 0..checker.shards() {
        let receipt = checker.read_receipt(DISCHARGED, shard)?;
        for (from, listed) in receipt.obligations.into_iter().enumerate() {
            if owed.remove(&(from, shard)) != listed {
                return malformed(format!(
                    "shard {shard} was not compared with what shard {from} expects of it"
                ));
            }
        }
    }
    match owed.is_empty() {
        true => Ok(()),
        false => malformed("not every obligation was discharged"),
    }
}

impl<'a> Checker<'a> {
    /// Checks everything but the shards.
    fn new(
        system: &'a System,
        signed: &'a Signed,
        folder: &'a dyn Folder,
        budget: &'a Budget,
    ) -> Result<Self, Failure> {
        let manifest = &signed.manifest;
        manifest.header.check((FORMAT, VERSION), &system.program)?;
        if manifest.program_digest != Sha256::of_program(&system.program) {
            return Err(Rejected::Other { what: "program" }.into());
        }
        let asked = asked(system, &manifest.properties)?;
        let about = (WHAT, manifest.model.as_str());
        let rules = Rules::new(system, about, None, &manifest.variables)?;
        within_bounds(system, |question| manifest.properties.contains(&question))?;
        if manifest.hash != HASH {
            return malformed(format!(
                "there is no hash `{}`; it has to be `{HASH}`",
                manifest.hash
            ));
        }
        if manifest.shards.is_empty() || manifest.shards.len() > MAX_SHARDS {
            return malformed(format!("there have to be 1 to {MAX_SHARDS} shards"));
        }
        Ok(Self { system, rules, asked, signed, folder, budget })
    }

    fn shards(&self) -> usize {
        self.signed.manifest.shards.len()
    }

    fn has_shard(&self, shard: usize) -> Result<(), Failure> {
        match shard < self.shards() {
            true => Ok(()),
            false => malformed(format!("there is no shard {shard}: there are {}", self.shards())),
        }
    }

    fn obligations_head(&self, from: usize, to: usize) -> ObligationsHead {
        let header = Header::new(OBLIGATIONS, VERSION, &self.system.program);
        ObligationsHead { header, manifest: self.signed.digest.clone(), from, to }
    }

    fn receipt(&self, format: &str, shard: usize, obligations: Vec<Option<Listed>>) -> Receipt {
        let header = Header::new(format, VERSION, &self.system.program);
        Receipt { header, manifest: self.signed.digest.clone(), shard, obligations }
    }

    fn read_receipt(&self, format: &'static str, shard: usize) -> Result<Receipt, Failure> {
        let (name, what) = match format {
            CHECKED => (checked_name(shard), "checked"),
            _ => (discharged_name(shard), "compared with what others expect of it"),
        };
        let text = match read_small(self.folder, &name) {
            Err(Failure::File(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                return malformed(format!("shard {shard} was not {what}: there is no `{name}`"));
            }
            text => text?,
        };
        let receipt: Receipt = parse(&text, &name)?;
        receipt.header.check((format, VERSION), &self.system.program)?;
        if receipt.manifest != self.signed.digest || receipt.shard != shard {
            return malformed(format!("`{name}` is about another set or another shard"));
        }
        let is_whole = receipt.obligations.len() == self.shards()
            && (receipt.obligations.iter().enumerate()).all(|(i, o)| o.is_none() == (i == shard));
        match is_whole {
            true => Ok(receipt),
            false => malformed(format!("`{name}` is not about all other shards")),
        }
    }

    /// Reads a shard, which has to be the one that the manifest names.
    fn load(&self, shard: usize, router: &mut Router<'_>) -> Result<Table, Failure> {
        let name = shard_name(shard);
        let expected = &self.signed.manifest.shards[shard];
        let mut reader = Reader::open(self.system, self.folder, &name, expected.bytes)?;
        let read = self.read(&mut reader, shard, router);
        if let Err(Failure::Stopped(_) | Failure::File(..)) = read {
            return read;
        }
        // A file that was changed is said to be that, whatever else is wrong with it.
        let listed = match reader.listed(self.budget) {
            Err(Failure::Rejected(_)) => None,
            listed => Some(listed?),
        };
        if listed.is_none_or(|l| (l.bytes, l.digest) != (expected.bytes, expected.digest.clone())) {
            return malformed(format!(
                "`{name}` is not the shard that the manifest names: its size or its SHA-256 differs"
            ));
        }
        let table = read?;
        match table.len() as u64 == expected.configurations {
            true => Ok(table),
            false => malformed(format!(
                "`{name}` has {} configurations, not {} as the manifest says",
                table.len(),
                expected.configurations
            )),
        }
    }

    fn read(
        &self,
        reader: &mut Reader<'_>,
        shard: usize,
        router: &mut Router<'_>,
    ) -> Result<Table, Failure> {
        let model = &self.signed.manifest.model;
        reader.head(&ShardHead::new(self.system, model, shard, self.shards()), self.budget)?;
        let mut table = Table::new(self.system.processes.len(), self.system.vars.len());
        let mut packed = Vec::new();
        while let Some(config) = reader.next(self.budget)? {
            let place = || format!("configuration {} of shard {shard}", table.len());
            if router.shard(&config) != shard {
                return malformed(format!("{} belongs to another shard", place()));
            }
            pack(&config, &mut packed);
            if table.contains(&packed) {
                return malformed(format!("{} is there twice", place()));
            }
            table.insert(&packed, self.budget)?;
        }
        Ok(table)
    }

    /// Checks that a configuration settles nothing and that every step from it leads to what `has`
    /// says is there: in which shard, the configuration, and how it is packed.
    fn stays(
        &self,
        (shard, id): (usize, usize),
        table: &Table,
        router: &mut Router<'_>,
        has: Has<'_>,
    ) -> Result<(), Failure> {
        let place = || format!("configuration {id} of shard {shard}");
        let config = table.get(id as u32);
        if let Some(question) = settled(&self.rules, &self.asked, &config) {
            let property = question.name.clone();
            return Err(Rejected::Settled { place: place(), property }.into());
        }
        let mut packed = Vec::new();
        let mut leaves: Option<String> = None;
        for step in self.rules.steps(&config) {
            pack(&step.to, &mut packed);
            if !has(router.shard(&step.to), &step.to, &packed)? {
                // Which of several steps comes first may differ from run to run.
                let step = self.rules.show(&step);
                leaves = Some(leaves.map_or(step.clone(), |other| other.min(step)));
            }
        }
        match leaves {
            Some(step) => Err(Rejected::LeadsOut { place: place(), step }.into()),
            None => Ok(()),
        }
    }
}

/// Whether a configuration is in a shard; the last is how it is packed.
type Has<'h> = &'h mut dyn FnMut(usize, &Buffered, &[u8]) -> Result<bool, Failure>;

/// Does some of the pieces of work.
type Work<'w, T> = Box<dyn FnMut(usize) -> Result<T, Failure> + 'w>;

/// Does pieces of work in several threads, each with something of its own that `worker` makes. The
/// error is that of the first piece that fails.
fn in_parallel<'w, T: Send>(
    threads: usize,
    count: usize,
    worker: &(dyn Fn() -> Work<'w, T> + Sync),
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(usize::MAX);
    let done: Mutex<Vec<Option<Result<T, Failure>>>> =
        Mutex::new((0..count).map(|_| None).collect());
    let go = || {
        let mut work = worker();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            // What comes before a failure is looked at all the same: it may fail, too.
            if i >= count || i > failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(i);
            if result.is_err() {
                failed.fetch_min(i, Ordering::Relaxed);
            }
            done.lock().expect("no thread panics while it has the lock")[i] = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(go);
        }
        go();
    });
    let done = done.into_inner().expect("no thread panics while it has the lock");
    // Without a failure there is a result for each.
    done.into_iter().flatten().collect()
}
