// names: what Rust names look like: modules, traits, generics, closures.
//
// Build: rustc -g -O names.rs

// black_box hides a value from the optimizer. (std::hint has one since Rust 1.66.)
fn black_box<T: Copy>(v: T) -> T {
    unsafe { std::ptr::read_volatile(&v) }
}

mod shapes {
    pub trait Area {
        fn area(&self) -> f64;
        fn twice(&self) -> f64 {
            super::black_box(self.area()) * 2.0
        }
    }
    pub struct Square<T>(pub T);
    impl Area for Square<f64> {
        #[inline(never)]
        fn area(&self) -> f64 {
            super::black_box(self.0) * self.0
        }
    }
    impl<T: Copy + std::ops::Add<Output = T>> Square<T> {
        #[inline(never)]
        pub fn grow(&mut self, by: T) -> T {
            self.0 = self.0 + by;
            super::black_box(self.0)
        }
    }
}

#[derive(Clone, Copy)]
enum Mood {
    Calm = 3,
    Wild = 5,
}
impl Mood {
    #[inline(never)]
    fn louder(self) -> u32 {
        black_box(self as u32) + 1
    }
}

#[inline(never)]
fn apply<F: Fn(u32) -> u32>(f: F, n: u32) -> u32 {
    f(black_box(n)) + 1
}

fn main() {
    use shapes::Area;
    let mut s = shapes::Square(2.0f64);
    let mut i = shapes::Square(7u8);
    let k = black_box(Mood::Calm).louder() + Mood::Wild.louder();
    let n = apply(|a| black_box(a * k), 4) + apply(|a| black_box(a + k), 5);
    let mut words: Vec<String> = std::env::args().collect();
    words.sort();
    println!("{} {} {} {} {}", s.grow(1.5), s.area(), s.twice(), i.grow(2), n + words.len() as u32);
}
