//! Tasks of executors other than tokio's, which wait in many ways. Each async function notes its
//! name and its line before it waits. For each line of its input, the program prints what is noted:
//! a line for each way from a task, or from one of several things for which a task waits, down to
//! what it waits for.

use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::future::FutureExt;
use futures_util::task::LocalSpawnExt;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Plain};
use std::time::Duration;

/// What the ways have noted, the outermost first.
static NOTES: Plain<Option<BTreeMap<usize, Vec<(&'static str, u32)>>>> = Plain::new(None);
static WAYS: AtomicUsize = AtomicUsize::new(0);

/// How many tasks were spawned that do not end.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// A note lasts as long as the value.
struct Note(usize);

fn note(way: usize, name: &'static str, line: u32) -> Note {
    NOTES.lock().unwrap().get_or_insert_with(BTreeMap::new).entry(way).or_default().push((name, line));
    Note(way)
}

impl Drop for Note {
    fn drop(&mut self) {
        let mut notes = NOTES.lock().unwrap();
        let notes = notes.as_mut().unwrap();
        let list = notes.get_mut(&self.0).unwrap();
        list.pop();
        if list.is_empty() {
            notes.remove(&self.0);
        }
    }
}

/// A way that begins where another one is.
fn way() -> usize {
    WAYS.fetch_add(1, Ordering::Relaxed)
}

type Dynamic = Pin<Box<dyn Future<Output = u64> + Send>>;

async fn sleeps(way: usize, n: u64) -> u64 {
    let _n = note(way, "sleeps", line!()); smol::Timer::after(Duration::from_secs(100_000 + n)).await;
    n
}

async fn rests(way: usize) -> u64 {
    let _n = note(way, "rests", line!()); std::future::pending::<u64>().await
}

async fn between(way: usize, n: u64) -> u64 {
    let text = format!("{n}");
    let x = { let _n = note(way, "between", line!()); sleeps(way, n).await };
    x + text.len() as u64
}

async fn generic<T: Clone + Send + 'static>(way: usize, of: T) -> T {
    let kept = of.clone();
    { let _n = note(way, "generic", line!()); sleeps(way, 3).await };
    kept
}

/// Two places at which it may wait.
async fn second(way: usize, n: u64) -> u64 {
    { let _n = note(way, "second", line!()); smol::future::yield_now().await };
    { let _n = note(way, "second", line!()); between(way, n).await }
}

/// An async function that calls itself.
fn deep(way: usize, n: u64) -> Dynamic {
    Box::pin(async move {
        if n == 0 {
            let _n = note(way, "deep::{async_block#0}", line!()); return sleeps(way, n).await;
        }
        let _n = note(way, "deep::{async_block#0}", line!()); deep(way, n - 1).await + 1
    })
}

async fn locks(way: usize, m: Arc<smol::lock::Mutex<u64>>) -> u64 {
    let _n = note(way, "locks", line!()); let mut g = m.lock().await;
    *g += 1;
    *g
}

async fn receives(way: usize, from: smol::channel::Receiver<u64>) -> u64 {
    let _n = note(way, "receives", line!()); from.recv().await.unwrap_or(0)
}

async fn accepts(way: usize, l: smol::net::TcpListener) -> u64 {
    let _n = note(way, "accepts", line!()); l.accept().await.map(|_| 1).unwrap_or(0)
}

/// Waits for another task.
async fn joins(way: usize, of: smol::Task<u64>) -> u64 {
    let _n = note(way, "joins", line!()); of.await
}

/// The same of async-std.
async fn joins_std(way: usize, of: async_std::task::JoinHandle<u64>) -> u64 {
    let _n = note(way, "joins_std", line!()); of.await
}

async fn sleeps_std(way: usize) -> u64 {
    let _n = note(way, "sleeps_std", line!()); async_std::task::sleep(Duration::from_secs(100_000)).await;
    0
}

/// Waits for two futures of its own.
async fn both(a: usize, b: usize, n: u64) -> u64 {
    let (x, y) = futures_util::join!(between(a, n), deep(b, 2));
    x + y
}

/// Waits for the first of two futures.
async fn either(a: usize, b: usize, n: u64) -> u64 {
    smol::future::or(between(a, n), sleeps(b, n)).await
}

/// Waits for a set of futures.
async fn all(ways: Vec<usize>) -> u64 {
    let mut set: FuturesUnordered<_> = ways.into_iter().map(|w| between(w, 1)).collect();
    let mut sum = 0;
    while let Some(x) = set.next().await {
        sum += x;
    }
    sum
}

/// Waits for a function that blocks a thread.
async fn blocked(way: usize) -> u64 {
    let _n = note(way, "blocked", line!()); smol::unblock(blocks).await
}

fn blocks() -> u64 {
    loop {
        std::thread::park();
    }
}

/// How tasks are spawned.
trait Spawner {
    fn spawn<F: Future<Output = u64> + Send + 'static>(&self, of: F) -> smol::Task<u64>;
}

struct Smol;
struct Own(&'static smol::Executor<'static>);
struct Local<'a>(&'a smol::LocalExecutor<'static>);

impl Spawner for Smol {
    fn spawn<F: Future<Output = u64> + Send + 'static>(&self, of: F) -> smol::Task<u64> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        smol::spawn(of)
    }
}

impl Spawner for Own {
    fn spawn<F: Future<Output = u64> + Send + 'static>(&self, of: F) -> smol::Task<u64> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        self.0.spawn(of)
    }
}

impl<'a> Spawner for Local<'a> {
    fn spawn<F: Future<Output = u64> + Send + 'static>(&self, of: F) -> smol::Task<u64> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        self.0.spawn(of)
    }
}

struct Held {
    _senders: Vec<smol::channel::Sender<u64>>,
}

fn spawns<S: Spawner>(by: &S, rounds: u64) -> Held {
    let mut held = Held { _senders: vec![] };
    let m = Arc::new(smol::lock::Mutex::new(0));
    std::mem::forget(smol::block_on(m.clone().lock_arc()));
    for i in 0..rounds {
        by.spawn(between(way(), i)).detach();
        by.spawn(generic(way(), i)).detach();
        let v = way();
        by.spawn(async move { let _n = note(v, "spawns::{async_block#0}", line!()); generic(v, "text").await.len() as u64 }).detach();
        by.spawn(second(way(), i)).detach();
        by.spawn(deep(way(), i % 9)).detach();
        by.spawn(locks(way(), m.clone())).detach();
        let (to, from) = smol::channel::bounded(1);
        held._senders.push(to);
        by.spawn(receives(way(), from)).detach();
        let l = smol::net::TcpListener::from(smol::Async::<std::net::TcpListener>::bind(([127, 0, 0, 1], 0)).unwrap());
        by.spawn(accepts(way(), l)).detach();
        by.spawn(joins(way(), by.spawn(between(way(), i)))).detach();
        by.spawn(both(way(), way(), i)).detach();
        by.spawn(either(way(), way(), i)).detach();
        by.spawn(all((0..3).map(|_| way()).collect())).detach();
        by.spawn(blocked(way())).detach();
        let v = way();
        by.spawn(async move {
            { let _n = note(v, "spawns::{async_block#1}", line!()); smol::future::yield_now().await };
            ALIVE.fetch_sub(1, Ordering::Relaxed) as u64 // ends
        }).detach();
    }
    held
}

fn spawn_std<F: Future<Output = u64> + Send + 'static>(of: F) -> async_std::task::JoinHandle<u64> {
    ALIVE.fetch_add(1, Ordering::Relaxed);
    async_std::task::spawn(of)
}

fn spawns_std(rounds: u64) {
    for i in 0..rounds {
        spawn_std(between(way(), i));
        spawn_std(deep(way(), i % 5));
        spawn_std(sleeps_std(way()));
        spawn_std(both(way(), way(), i));
        spawn_std(joins_std(way(), spawn_std(between(way(), i))));
        ALIVE.fetch_add(1, Ordering::Relaxed);
        async_std::task::Builder::new().name(format!("named {i}")).spawn(between(way(), i)).unwrap();
    }
}

/// For each line that comes in, says what is noted now.
fn says() {
    println!("ready");
    for _ in std::io::stdin().lines() {
        let mut out = format!("{} tasks\n", ALIVE.load(Ordering::Relaxed));
        for (_, list) in NOTES.lock().unwrap().iter().flatten() {
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
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap();
    let rounds: u64 = args.next().unwrap().parse().unwrap();
    let w = way();
    match kind.as_str() {
        "smol" => smol::block_on(async {
            let _held = spawns(&Smol, rounds);
            std::thread::spawn(says);
            let _n = note(w, "main::{async_block#0}", line!()); rests(w).await
        }),
        "own" => {
            let ex: &smol::Executor = Box::leak(Box::new(smol::Executor::new()));
            for _ in 0..2 {
                std::thread::spawn(move || smol::future::block_on(ex.run(std::future::pending::<()>())));
            }
            smol::block_on(ex.run(async {
                let _held = spawns(&Own(ex), rounds);
                std::thread::spawn(says);
                let _n = note(w, "main::{async_block#1}", line!()); rests(w).await
            }))
        }
        "local" => {
            let ex = smol::LocalExecutor::new();
            smol::future::block_on(ex.run(async {
                let _held = spawns(&Local(&ex), rounds);
                std::thread::spawn(says);
                let _n = note(w, "main::{async_block#2}", line!()); rests(w).await
            }))
        }
        "std" => async_std::task::block_on(async {
            spawns_std(rounds);
            std::thread::spawn(says);
            let _n = note(w, "main::{async_block#3}", line!()); rests(w).await
        }),
        _ => {
            let mut pool = futures_executor::LocalPool::new();
            let by = pool.spawner();
            for i in 0..rounds {
                ALIVE.fetch_add(2, Ordering::Relaxed);
                let v = way();
                by.spawn_local(async move { let _n = note(v, "main::{async_block#5}", line!()); between(v, i).await; }).unwrap();
                by.spawn_local(both(way(), way(), i).map(|_| ())).unwrap();
            }
            std::thread::spawn(says);
            pool.run_until(async {
                let _n = note(w, "main::{async_block#4}", line!()); rests(w).await
            })
        }
    };
}
