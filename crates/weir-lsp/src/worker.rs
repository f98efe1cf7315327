//! A thread that works in the background. Of the jobs that wait, only the newest of each document
//! is kept: the text of the others has changed since.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Front ends recurse as deep as blocks and expressions may nest.
const STACK: usize = 32 << 20;

struct Queue<J> {
    /// The document of each job, and the job.
    jobs: Vec<(String, J)>,
    is_closed: bool,
}

/// A thread with a list of jobs.
pub struct Worker<J>(Arc<(Mutex<Queue<J>>, Condvar)>);

impl<J: Send + 'static> Worker<J> {
    /// Begins to work. A job that panics is given up, and `failed` is told about its document.
    pub fn start(
        name: &str,
        work: impl Fn(&str, J) + Send + 'static,
        failed: impl Fn(&str) + Send + 'static,
    ) -> std::io::Result<Self> {
        let queue = Queue { jobs: Vec::new(), is_closed: false };
        let shared = Arc::new((Mutex::new(queue), Condvar::new()));
        let own = Arc::clone(&shared);
        thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
            while let Some((document, job)) = next(&own) {
                if catch_unwind(AssertUnwindSafe(|| work(&document, job))).is_err() {
                    failed(&document);
                }
            }
        })?;
        Ok(Self(shared))
    }

    /// Adds a job, in the place of the one for the same document that has not begun.
    pub fn post(&self, document: &str, job: J) {
        let mut queue = locked(&self.0.0);
        queue.jobs.retain(|(other, _)| other != document);
        queue.jobs.push((document.to_owned(), job));
        self.0.1.notify_one();
    }

    /// Removes the job for a document if it has not begun.
    pub fn withdraw(&self, document: &str) {
        locked(&self.0.0).jobs.retain(|(other, _)| other != document);
    }
}

impl<J> Drop for Worker<J> {
    /// The job that has begun is not waited for.
    fn drop(&mut self) {
        let mut queue = locked(&self.0.0);
        queue.jobs.clear();
        queue.is_closed = true;
        self.0.1.notify_one();
    }
}

/// No job runs while the list is locked, so no panic leaves it half changed.
fn locked<J>(queue: &Mutex<Queue<J>>) -> MutexGuard<'_, Queue<J>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the next job; none if there will be no more.
fn next<J>(shared: &(Mutex<Queue<J>>, Condvar)) -> Option<(String, J)> {
    let mut queue = locked(&shared.0);
    loop {
        if queue.is_closed {
            return None;
        }
        if !queue.jobs.is_empty() {
            return Some(queue.jobs.remove(0));
        }
        queue = shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_panic_ends_one_job_only() {
        let (said, heard) = mpsc::channel();
        let failed = said.clone();
        let worker = Worker::start(
            "test",
            move |document, job: u32| {
                assert_ne!(job, 1, "this job is made to fail");
                said.send(format!("{document} {job}")).unwrap();
            },
            move |document| failed.send(format!("{document} failed")).unwrap(),
        )
        .unwrap();
        worker.post("a", 1);
        assert_eq!(heard.recv().unwrap(), "a failed");
        worker.post("b", 2);
        assert_eq!(heard.recv().unwrap(), "b 2");
    }

    #[test]
    fn only_the_newest_job_of_a_document_waits() {
        let (said, heard) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        let work = move |document: &str, job: u32| {
            gate.recv().unwrap();
            said.send(format!("{document} {job}")).unwrap();
        };
        let worker = Worker::start("test", work, |_| {}).unwrap();
        worker.post("first", 0);
        while !locked(&worker.0.0).jobs.is_empty() {
            thread::yield_now();
        }
        for job in 1..5 {
            worker.post("a", job);
            worker.post("b", job);
        }
        worker.withdraw("b");
        worker.post("c", 7);
        (0..3).for_each(|_| go.send(()).unwrap());
        let all: Vec<String> = (0..3).map(|_| heard.recv().unwrap()).collect();
        assert_eq!(all, ["first 0", "a 4", "c 7"]);
    }
}
