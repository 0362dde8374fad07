// deadlock: two Rust threads that wait for each other's std::sync::Mutex.
//
// Build: rustc --edition=2021 -g deadlock.rs
use std::io::Read;
use std::sync::{Barrier, Mutex};

static FIRST_LOCK: Mutex<u32> = Mutex::new(0);
static SECOND_LOCK: Mutex<u32> = Mutex::new(0);

fn run(both: &Barrier, mine: &'static Mutex<u32>, other: &'static Mutex<u32>) {
    let held = mine.lock().unwrap();
    both.wait();
    *other.lock().unwrap() += *held;
}

fn main() {
    let both: &'static Barrier = Box::leak(Box::new(Barrier::new(2)));
    std::thread::spawn(|| run(both, &FIRST_LOCK, &SECOND_LOCK));
    std::thread::spawn(|| run(both, &SECOND_LOCK, &FIRST_LOCK));
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}
