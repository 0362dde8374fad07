// rounds MS: sorts and counts, twelve calls deep, for so many milliseconds of processor time.
use std::collections::HashMap;

extern "C" {
    fn clock() -> std::os::raw::c_long; // of the C library: microseconds
}

#[inline(never)]
fn deeper(n: u32, seen: &mut HashMap<String, u32>) -> u32 {
    let mut list: Vec<u32> = (0..60).map(|i| (i * 7919 + n) % 101).collect();
    list.sort_by_key(|x| x ^ n);
    *seen.entry(format!("{}", list[3])).or_insert(0) += 1;
    if n == 0 {
        return list.iter().sum();
    }
    deeper(n - 1, seen) + list[n as usize]
}

fn main() {
    let ms = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1000);
    let (mut seen, mut sum) = (HashMap::new(), 0u32);
    while unsafe { clock() } < ms * 1000 {
        for _ in 0..100 {
            sum = sum.wrapping_add(deeper(12, &mut seen));
        }
    }
    std::process::exit((sum == 1) as i32);
}
