//! The paths to configurations: each worker knows where its own were reached from.

use weir_engine::store::Parent;
use weir_engine::store::numbers::{number, number_as, push_number};

use crate::fault::Fault;
use crate::net::Topic;
use crate::round::Worker;
use crate::space::{Place, Space};

impl<S: Space> Worker<'_, '_, S> {
    /// The paths to configurations, by asking backwards across workers. A path that is not whole is
    /// left out: somebody is stopping.
    ///
    /// # Errors
    /// If a worker or a connection fails.
    pub fn paths(&mut self, ends: Vec<Place>) -> Result<Vec<Option<Vec<S::Link>>>, Fault> {
        let me = self.net.index() as u16;
        let mut at: Vec<Option<Place>> = ends.into_iter().map(Some).collect();
        let mut paths: Vec<Vec<S::Link>> = at.iter().map(|_| vec![]).collect();
        let mut is_whole = vec![false; paths.len()];
        loop {
            let (mut own, mut outbox) = (Vec::new(), S::Outbox::default());
            for (n, end) in at.iter().enumerate() {
                let mut next = *end;
                while let Some(place) = next.filter(|place| place.worker == me) {
                    push_number(n as u64, &mut own);
                    let linked = self.space.write_link(place.id, &mut outbox, &mut own);
                    next = self.or_halt(linked)?.flatten();
                    let Place { worker, id } = next.unwrap_or(Place::NONE);
                    push_number(u64::from(worker), &mut own);
                    push_number(u64::from(id), &mut own);
                }
            }
            let all = self.net.gather(Topic::Data, own)?;
            // A worker that stops goes on listening, as long as others ask.
            if all.iter().all(Vec::is_empty) {
                break;
            }
            at.fill(None);
            for bytes in &all {
                let (mut bytes, mut inbox) = (&bytes[..], S::Inbox::default());
                while !bytes.is_empty() && self.stopping.is_none() {
                    let n = number(&mut bytes).ok_or_else(Fault::garbled)? as usize;
                    let path = paths.get_mut(n).ok_or_else(Fault::garbled)?;
                    let read = self.space.read_link(&mut inbox, &mut bytes);
                    let Some(link) = self.or_halt(read)? else { break };
                    path.push(link);
                    let worker = number_as(&mut bytes).ok_or_else(Fault::garbled)?;
                    let id = number_as(&mut bytes).ok_or_else(Fault::garbled)?;
                    at[n] = Some(Place { worker, id }).filter(|place| *place != Place::NONE);
                    is_whole[n] = at[n].is_none();
                }
            }
        }
        let paths = paths.into_iter().zip(is_whole).map(|(mut path, is_whole)| {
            path.reverse();
            is_whole.then_some(path)
        });
        Ok(paths.collect())
    }
}
