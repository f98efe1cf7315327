//! Replaces keys by their ranks among those of all workers.
//!
//! Each worker sorts its keys. Samples of all divide them into as many ranges as there are
//! workers, and each worker sorts one range: it receives the keys of all in this range, and
//! sends their ranks back.

use weir_engine::store::StepKey;

use crate::fault::Fault;
use crate::net::{Net, Topic};

/// How many samples each worker gives.
const SAMPLES: usize = 64;

/// The bytes of a packet at most.
const PACKET: usize = 1 << 20;

fn word(key: &StepKey) -> u128 {
    u128::from(key.parent) << 32 | u128::from(key.index)
}

fn write(words: impl Iterator<Item = u128>) -> Vec<u8> {
    words.flat_map(u128::to_le_bytes).collect()
}

fn read(bytes: &[u8]) -> Result<Vec<u128>, Fault> {
    let (words, rest) = bytes.as_chunks::<16>();
    match rest.is_empty() {
        true => Ok(words.iter().map(|word| u128::from_le_bytes(*word)).collect()),
        false => Err(Fault::garbled()),
    }
}

/// Where the ranges are divided: range `i` has the keys from `cuts[i - 1]` to before `cuts[i]`.
fn cuts(net: &mut Net<'_>, sorted: &[(u128, u32)]) -> Result<Vec<u128>, Fault> {
    let every = sorted.len().div_ceil(SAMPLES).max(1);
    let samples = net.gather(Topic::Data, write(sorted.iter().step_by(every).map(|(k, _)| *k)))?;
    let mut samples: Vec<u128> =
        samples.iter().map(|bytes| read(bytes)).collect::<Result<Vec<_>, _>>()?.concat();
    samples.sort_unstable();
    let cut = |i| samples.get(samples.len() * i / net.peers()).copied().unwrap_or(u128::MAX);
    Ok((1..net.peers()).map(cut).collect())
}

/// The rank of each key among the keys of all workers, all of which are different.
///
/// # Errors
/// If a worker or a connection fails.
pub fn ranks(net: &mut Net<'_>, keys: &[StepKey]) -> Result<Vec<u64>, Fault> {
    let (me, peers) = (net.index(), net.peers());
    let mut sorted: Vec<(u128, u32)> =
        keys.iter().enumerate().map(|(i, key)| (word(key), i as u32)).collect();
    sorted.sort_unstable();
    let cuts = cuts(net, &sorted)?;
    let range_of = |key: u128| cuts.partition_point(|cut| *cut <= key);

    // The keys of each range go to its worker.
    let mut received: Vec<Vec<u128>> = vec![Vec::new(); peers];
    let mut begin = 0;
    let mut counts = vec![0; peers];
    for (range, count) in counts.iter_mut().enumerate() {
        let end = begin + sorted[begin..].partition_point(|(key, _)| range_of(*key) <= range);
        let part = &sorted[begin..end];
        (begin, *count) = (end, part.len());
        for part in part.chunks(PACKET / 16) {
            match range == me {
                true => received[me].extend(part.iter().map(|(key, _)| *key)),
                false => net.send(range, Topic::Data, write(part.iter().map(|(key, _)| *key))),
            }
        }
    }
    net.close(&mut |_, packet| {
        let part = received.get_mut(packet.from()).ok_or_else(Fault::garbled)?;
        part.extend(read(packet.bytes())?);
        Ok(())
    })?;

    // How many keys are in the ranges before this one.
    let own = received.iter().map(Vec::len).sum::<usize>() as u128;
    let all = net.gather(Topic::Data, write([own].into_iter()))?;
    let mut rank = 0;
    for bytes in &all[..me] {
        rank += read(bytes)?.first().copied().unwrap_or(0) as u64;
    }
    let mut ordered: Vec<(u128, u32)> = Vec::new();
    for (worker, part) in received.iter().enumerate() {
        ordered.extend(part.iter().map(|key| (*key, worker as u32)));
    }
    drop(received);
    ordered.sort_unstable();
    let mut answers: Vec<Vec<u8>> = vec![Vec::new(); peers];
    for (_, worker) in ordered {
        answers[worker as usize].extend(rank.to_le_bytes());
        rank += 1;
    }

    // The ranks go back. Keys and ranks of a worker in a range are in the same order.
    let mut returned: Vec<Vec<u8>> = vec![Vec::new(); peers];
    for (worker, answer) in answers.into_iter().enumerate() {
        match worker == me {
            true => returned[me] = answer,
            false => answer.chunks(PACKET).for_each(|part| {
                net.send(worker, Topic::Data, part.to_vec());
            }),
        }
    }
    net.close(&mut |_, packet| {
        let part = returned.get_mut(packet.from()).ok_or_else(Fault::garbled)?;
        part.extend(packet.bytes());
        Ok(())
    })?;
    let mut ranks = vec![0; keys.len()];
    let mut next = sorted.iter();
    for (part, count) in returned.iter().zip(counts) {
        let (words, _) = part.as_chunks::<8>();
        if words.len() != count {
            return Err(Fault::garbled());
        }
        for (word, (_, i)) in words.iter().zip(next.by_ref()) {
            ranks[*i as usize] = u64::from_le_bytes(*word);
        }
    }
    Ok(ranks)
}
