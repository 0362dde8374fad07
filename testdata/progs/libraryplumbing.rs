// Threads that wait in functions which Rust's library has called: by threads, closures, iterators,
// collections.
use std::io::Read;
use std::collections::{BTreeMap, HashMap};
use std::thread;

#[inline(never)]
fn hang() {
    loop {
        thread::park();
    }
}

#[derive(PartialEq, Eq, PartialOrd)]
struct Key(i32);

impl Ord for Key {
    fn cmp(&self, _: &Key) -> std::cmp::Ordering {
        hang();
        std::cmp::Ordering::Equal
    }
}

#[derive(PartialEq, Eq)]
struct Hashed;

impl std::hash::Hash for Hashed {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {
        hang()
    }
}

struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        hang()
    }
}

fn main() {
    let mut threads: Vec<thread::JoinHandle<()>> = vec![];
    threads.push(thread::spawn(|| hang()));
    threads.push(thread::spawn(|| {
        let f: Box<dyn FnOnce(i32) + Send> = Box::new(|_| hang());
        f(3)
    }));
    threads.push(thread::spawn(|| (0..10).map(|x| x * 2).filter(|x| x % 2 == 0).for_each(|_| hang())));
    threads.push(thread::spawn(|| [3, 1, 2].to_vec().sort_by(|a, b| { hang(); a.cmp(b) })));
    threads.push(thread::spawn(|| {
        let mut map = BTreeMap::new();
        map.insert(Key(1), 1);
        map.insert(Key(1), 2);
    }));
    threads.push(thread::spawn(|| { HashMap::new().insert(Hashed, 1); }));
    threads.push(thread::spawn(|| { let _list = vec![Box::new(Dropped)]; }));
    threads.push(thread::spawn(|| { let _ = std::panic::catch_unwind(|| hang()); }));
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}
