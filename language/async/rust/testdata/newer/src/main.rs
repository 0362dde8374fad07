//! Tasks in what Rust has had since its release 1.85: async closures, and async functions of traits
//! (1.75). Each notes where it waits, as in the program "tasks".

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

static NOTES: Plain<BTreeMap<usize, Vec<(&'static str, u32)>>> = Plain::new(BTreeMap::new());
static WAYS: AtomicUsize = AtomicUsize::new(0);
static ALIVE: AtomicUsize = AtomicUsize::new(0);

struct Note(usize);

fn note(way: usize, name: &'static str, line: u32) -> Note {
    NOTES.lock().unwrap().entry(way).or_default().push((name, line));
    Note(way)
}

impl Drop for Note {
    fn drop(&mut self) {
        let mut notes = NOTES.lock().unwrap();
        let list = notes.get_mut(&self.0).unwrap();
        list.pop();
        if list.is_empty() {
            notes.remove(&self.0);
        }
    }
}

fn way() -> usize {
    WAYS.fetch_add(1, Ordering::Relaxed)
}

async fn sleeps(way: usize, n: u64) -> u64 {
    let _n = note(way, "sleeps", line!()); tokio::time::sleep(Duration::from_secs(100_000 + n)).await;
    n
}

trait Service {
    async fn call(&self, way: usize) -> u64;

    async fn twice(&self, way: usize) -> u64 {
        let _n = note(way, "Service::twice", line!()); self.call(way).await * 2
    }
}

struct Echo(u64);

impl Service for Echo {
    async fn call(&self, way: usize) -> u64 {
        let _n = note(way, "Echo::call", line!()); sleeps(way, self.0).await
    }
}

async fn calls<F: AsyncFn(usize) -> u64>(way: usize, f: F) -> u64 {
    let _n = note(way, "calls", line!()); f(way).await
}

async fn closes(way: usize, n: u64) -> u64 {
    let f = async move |way| { let _n = note(way, "closes::{async_fn#0}::{closure#0}::{async_closure#0}", line!()); sleeps(way, n).await };
    let _n = note(way, "closes", line!()); calls(way, f).await
}

async fn serves<S: Service>(way: usize, of: S) -> u64 {
    let _n = note(way, "serves", line!()); of.twice(way).await
}

/// A task that panics is one no more; who holds its handle sees it.
async fn panics() -> u64 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    panic!("as it should");
}

fn spawn<F: Future<Output = u64> + Send + 'static>(of: F) {
    ALIVE.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(of);
}

fn says() {
    println!("ready");
    for _ in std::io::stdin().lines() {
        let mut out = format!("{} tasks\n", ALIVE.load(Ordering::Relaxed));
        for list in NOTES.lock().unwrap().values() {
            for (name, line) in list {
                out += &format!("{name}:{line} ");
            }
            out += "\n";
        }
        out += "end\n";
        std::io::stdout().write_all(out.as_bytes()).unwrap();
    }
    std::process::exit(0);
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let rounds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(async {
        for i in 0..rounds {
            spawn(serves(way(), Echo(i)));
            spawn(closes(way(), i));
            tokio::spawn(panics());
        }
        std::thread::spawn(says);
        let w = way();
        let _n = note(w, "main::{async_block#0}", line!()); sleeps(w, 1).await
    });
}
