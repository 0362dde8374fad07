//! busy: sorts words by closures and trait objects, and unwinds panics, until it is killed. It prints a line when it has begun.
use std::collections::BTreeMap;
use std::panic;

trait Weigher {
    fn weigh(&self, word: &str) -> u64;
}
struct Length;
struct Sum;
impl Weigher for Length {
    #[inline(never)]
    fn weigh(&self, word: &str) -> u64 {
        word.chars().rev().count() as u64
    }
}
impl Weigher for Sum {
    #[inline(never)]
    fn weigh(&self, word: &str) -> u64 {
        word.bytes().fold(7, |sum, b| sum.wrapping_mul(31).wrapping_add(b as u64))
    }
}

#[inline(never)]
fn descend(depth: u32, work: &mut dyn FnMut() -> u64) -> u64 {
    if depth == 0 {
        return work();
    }
    descend(depth - 1, work).wrapping_add(depth as u64)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    println!("ready");
    let weighers: Vec<Box<dyn Weigher>> = vec![Box::new(Length), Box::new(Sum)];
    let mut sum = 0u64;
    loop {
        for (i, weigher) in weighers.iter().enumerate() {
            let mut words: Vec<String> = (0..400u64).map(|n| format!("{}", n.wrapping_mul(2654435761))).collect();
            sum = sum.wrapping_add(descend(10 + i as u32, &mut || {
                words.sort_by(|a, b| weigher.weigh(a).cmp(&weigher.weigh(b)).then_with(|| b.cmp(a)));
                let counts: BTreeMap<u64, usize> = words.iter().map(|w| (weigher.weigh(w), w.len())).collect();
                counts.len() as u64
            }));
        }
        if panic::catch_unwind(|| descend(20, &mut || panic!("{}", sum))).is_ok() {
            return;
        }
    }
}
