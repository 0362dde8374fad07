//! Tasks that wait in many ways. Each async function notes its name and its line before it waits.
//! For each line of its input, the program prints what is noted: a line for each way from a task,
//! or from one of several things for which a task waits, down to what it waits for.

use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::BTreeMap;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Plain};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch, Barrier, Mutex, Notify, RwLock, Semaphore};

/// What the ways have noted, the outermost first.
static NOTES: Plain<Option<BTreeMap<usize, Vec<(&'static str, u32)>>>> = Plain::new(None);
static WAYS: AtomicUsize = AtomicUsize::new(0);

/// How many tasks were spawned that do not end.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

fn spawn<F: Future<Output = u64> + Send + 'static>(of: F) -> tokio::task::JoinHandle<u64> {
    ALIVE.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(of)
}

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
    let _n = note(way, "sleeps", line!()); tokio::time::sleep(Duration::from_secs(100_000 + n)).await;
    n
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
    { let _n = note(way, "second", line!()); tokio::task::yield_now().await };
    let first = { let _n = note(way, "second", line!()); quick(way, n).await };
    { let _n = note(way, "second", line!()); between(way, first).await }
}

async fn quick(way: usize, n: u64) -> u64 {
    { let _n = note(way, "quick", line!()); tokio::task::yield_now().await };
    n + 1
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

async fn locks(way: usize, m: Arc<Mutex<u64>>) -> u64 {
    let _n = note(way, "locks", line!()); let mut g = m.lock().await;
    *g += 1;
    *g
}

async fn reads(way: usize, m: Arc<RwLock<u64>>) -> u64 {
    let _n = note(way, "reads", line!()); *m.read().await
}

async fn permits(way: usize, s: Arc<Semaphore>) -> u64 {
    let _n = note(way, "permits", line!()); s.acquire().await.map(|_| 1).unwrap_or(0)
}

async fn receives(way: usize, mut from: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(x) = { let _n = note(way, "receives", line!()); from.recv().await } {
        sum += x;
    }
    sum
}

async fn sends(way: usize, to: mpsc::Sender<u64>) -> u64 {
    let _n = note(way, "sends", line!()); to.send(1).await.map(|_| 1).unwrap_or(0)
}

async fn once(way: usize, from: oneshot::Receiver<u64>) -> u64 {
    let _n = note(way, "once", line!()); from.await.unwrap_or(0)
}

async fn notified(way: usize, n: Arc<Notify>) -> u64 {
    let _n = note(way, "notified", line!()); n.notified().await;
    0
}

async fn watches(way: usize, mut from: watch::Receiver<u64>) -> u64 {
    let _n = note(way, "watches", line!()); from.changed().await.map(|_| 1).unwrap_or(0)
}

async fn meets(way: usize, b: Arc<Barrier>) -> u64 {
    let _n = note(way, "meets", line!()); b.wait().await;
    0
}

async fn accepts(way: usize, l: tokio::net::TcpListener) -> u64 {
    let _n = note(way, "accepts", line!()); l.accept().await.map(|_| 1).unwrap_or(0)
}

async fn connects(way: usize, a: std::net::SocketAddr) -> u64 {
    use tokio::io::AsyncReadExt;
    let mut s = tokio::net::TcpStream::connect(a).await.unwrap();
    let mut b = [0; 16];
    let _n = note(way, "connects", line!()); s.read(&mut b).await.unwrap_or(0) as u64
}

async fn timed(way: usize, n: u64) -> u64 {
    let _n = note(way, "timed", line!()); tokio::time::timeout(Duration::from_secs(50_000), between(way, n)).await.unwrap_or(0)
}

/// Waits for another task.
async fn joins(way: usize, of: tokio::task::JoinHandle<u64>) -> u64 {
    let _n = note(way, "joins", line!()); of.await.unwrap_or(0)
}

/// Waits for two futures of its own.
async fn both(a: usize, b: usize, n: u64) -> u64 {
    let (x, y) = tokio::join!(between(a, n), deep(b, 2));
    x + y
}

/// Waits for the first of two futures.
async fn either(a: usize, b: usize, n: u64) -> u64 {
    tokio::select! {
        x = between(a, n) => x,
        y = sleeps(b, n) => y,
    }
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

/// Waits for a set of tasks.
async fn set_of_tasks(way: usize, ways: Vec<usize>) -> u64 {
    let mut set = tokio::task::JoinSet::new();
    for w in ways {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        set.spawn(between(w, 2));
    }
    let mut sum = 0;
    while let Some(x) = { let _n = note(way, "set_of_tasks", line!()); set.join_next().await } {
        sum += x.unwrap_or(0);
    }
    sum
}

/// A future that is no async function, around one that is.
struct Counted<F> {
    polls: u64,
    inner: F,
}

impl<F: Future<Output = u64> + Unpin> Future for Counted<F> {
    type Output = u64;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        self.polls += 1;
        Pin::new(&mut self.inner).poll(cx)
    }
}

async fn counted(way: usize, n: u64) -> u64 {
    let inner = Box::pin(between(way, n));
    let _n = note(way, "counted", line!()); Counted { polls: 0, inner }.await
}

/// An enumeration of futures.
enum Kind {
    Now(Option<u64>),
    Later(Dynamic),
}

impl Future for Kind {
    type Output = u64;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        match &mut *self {
            Kind::Now(x) => Poll::Ready(x.take().unwrap()),
            Kind::Later(f) => f.as_mut().poll(cx),
        }
    }
}

async fn kinds(way: usize, n: u64) -> u64 {
    let now = Kind::Now(Some(n)).await;
    let of = Kind::Later(Box::pin(between(way, now)));
    let _n = note(way, "kinds", line!()); of.await
}

trait Service {
    fn call(&self, way: usize, n: u64) -> Dynamic;
}

struct Echo(u64);

impl Service for Echo {
    fn call(&self, way: usize, n: u64) -> Dynamic {
        let more = self.0;
        Box::pin(async move { let _n = note(way, "Echo::call::{async_block#0}", line!()); between(way, n + more).await })
    }
}

async fn serves(way: usize, of: Arc<dyn Service + Send + Sync>, n: u64) -> u64 {
    let _n = note(way, "serves", line!()); of.call(way, n).await
}

impl Echo {
    async fn method(&self, way: usize) -> u64 {
        let _n = note(way, "Echo::method", line!()); between(way, self.0).await
    }
}

async fn spins(stop: Arc<std::sync::atomic::AtomicBool>) -> u64 {
    while !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    0
}

/// Waits for the first of two futures that are no async functions, and then for both of two.
async fn leaves(n: Arc<Notify>, both: bool, from: oneshot::Receiver<u64>) -> u64 {
    let sleep = tokio::time::sleep(Duration::from_secs(100_000));
    tokio::pin!(sleep);
    if both {
        let (_, x) = tokio::join!(n.notified(), from);
        return x.unwrap_or(0);
    }
    tokio::select! {
        _ = &mut sleep => 1,
        _ = n.notified() => 2,
    }
}

/// What main waits for.
async fn rests(way: usize) {
    let _n = note(way, "rests", line!()); std::future::pending::<()>().await
}

/// Waits for a function that blocks a thread.
async fn blocked(way: usize, of: tokio::task::JoinHandle<u64>) -> u64 {
    let _n = note(way, "blocked", line!()); of.await.unwrap_or(0)
}

fn blocks() -> u64 {
    loop {
        std::thread::park();
    }
}

/// A thread with a runtime of its own.
fn alone(rounds: u64) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        for i in 0..rounds {
            spawn(between(way(), i));
        }
        let w = way();
        let _n = note(w, "alone::{async_block#0}", line!()); rests(w).await
    })
}

/// A task that waits for another future without giving up its thread.
async fn nests() -> u64 {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(between(way(), 1)))
}

struct Held {
    _senders: Vec<mpsc::Sender<u64>>,
    _once: Vec<oneshot::Sender<u64>>,
    _watch: Vec<watch::Sender<u64>>,
    _receivers: Vec<mpsc::Receiver<u64>>,
}

async fn spawns(rounds: u64) -> Held {
    let mut held = Held { _senders: vec![], _once: vec![], _watch: vec![], _receivers: vec![] };
    let m = Arc::new(Mutex::new(0));
    let w = Arc::new(RwLock::new(0));
    let s = Arc::new(Semaphore::new(0));
    let n = Arc::new(Notify::new());
    let b = Arc::new(Barrier::new(1 << 20));
    std::mem::forget(m.clone().lock_owned().await);
    std::mem::forget(w.clone().write_owned().await);
    let service: Arc<dyn Service + Send + Sync> = Arc::new(Echo(7));
    for i in 0..rounds {
        spawn(between(way(), i));
        spawn(generic(way(), i));
        {
            let v = way();
            spawn(async move { let _n = note(v, "spawns::{async_fn#0}::{async_block#0}", line!()); generic(v, "text").await.len() as u64 });
        };
        spawn(second(way(), i));
        spawn(deep(way(), i % 9));
        spawn(locks(way(), m.clone()));
        spawn(reads(way(), w.clone()));
        spawn(permits(way(), s.clone()));
        let (to, from) = mpsc::channel(1);
        held._senders.push(to);
        spawn(receives(way(), from));
        let (to, from) = mpsc::channel(1);
        to.try_send(0).unwrap();
        held._receivers.push(from);
        spawn(sends(way(), to));
        let (to, from) = oneshot::channel();
        held._once.push(to);
        spawn(once(way(), from));
        spawn(notified(way(), n.clone()));
        let (to, from) = watch::channel(0);
        held._watch.push(to);
        spawn(watches(way(), from));
        spawn(meets(way(), b.clone()));
        let l = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let a = l.local_addr().unwrap();
        spawn(connects(way(), a));
        l.accept().await.map(std::mem::forget).unwrap();
        spawn(accepts(way(), l));
        spawn(timed(way(), i));
        spawn(joins(way(), spawn(between(way(), i))));
        spawn(both(way(), way(), i));
        spawn(either(way(), way(), i));
        spawn(all((0..3).map(|_| way()).collect()));
        spawn(set_of_tasks(way(), (0..3).map(|_| way()).collect()));
        spawn(counted(way(), i));
        spawn(kinds(way(), i));
        spawn(serves(way(), service.clone(), i));
        let e = Echo(i);
        let v = way();
        spawn(async move { let _n = note(v, "spawns::{async_fn#0}::{async_block#1}", line!()); e.method(v).await });
        let v = way();
        spawn(async move {
            { let _n = note(v, "spawns::{async_fn#0}::{async_block#2}", line!()); quick(v, i).await };
            ALIVE.fetch_sub(1, Ordering::Relaxed) as u64 // ends
        });
        let of = tokio::task::spawn_blocking(blocks);
        spawn(blocked(way(), of));
        let of = tokio::task::spawn_blocking(move || blocks() + i);
        spawn(blocked(way(), of));
        for both in [false, true] {
            let (to, from) = oneshot::channel();
            held._once.push(to);
            spawn(leaves(n.clone(), both, from));
        }
    }
    held
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
    let mut b = match kind.as_str() {
        "current" => tokio::runtime::Builder::new_current_thread(),
        _ => {
            let mut b = tokio::runtime::Builder::new_multi_thread();
            b.worker_threads(3);
            b
        }
    };
    b.max_blocking_threads(2);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let runs = kind == "running";
    b.enable_all().build().unwrap().block_on(async move {
        let _held = spawns(rounds).await;
        if runs {
            spawn(spins(stop.clone()));
        }
        if kind == "nested" {
            spawn(nests());
            std::thread::spawn(move || alone(rounds));
        }
        std::thread::spawn(says);
        let w = way();
        if kind == "local" {
            let set = tokio::task::LocalSet::new();
            for i in 0..rounds {
                ALIVE.fetch_add(1, Ordering::Relaxed);
                set.spawn_local(between(way(), i));
            }
            let _n = note(w, "main::{async_block#0}", line!()); set.run_until(rests(w)).await;
        }
        let _n = note(w, "main::{async_block#0}", line!()); rests(w).await;
    });
}
