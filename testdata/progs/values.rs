// Values of Rust's types, as arguments and locals of some functions. It starts, announces itself and ends as ready.h has it.
// Built with --edition 2021; Debian 12's rustc (1.63) can.
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Arc, Mutex};
use std::time::Duration;

extern "C" {
    fn prctl(option: i32, a: i64, b: i64, c: i64, d: i64) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(code: i32) -> !;
}

static GREETING: &str = "static text";
static mut COUNTER: u64 = 3;

#[derive(Clone, Copy)]
struct Unit;

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: f64,
}

#[derive(Clone)]
struct Pair(u8, String);

#[derive(Clone, Copy)]
#[repr(u8)]
enum Colour {
    Red,
    Green = 5,
    Blue,
}

enum Shape {
    Empty,
    Circle(f64),
    Rectangle { width: u32, height: u32 },
    Named(String, Point),
}

enum Tree {
    Leaf,
    Branch(Box<Tree>, i64, Box<Tree>),
}

union Bits {
    integer: u32,
    float: f32,
}

trait Speak {
    fn speak(&self) -> usize;
}

impl Speak for Point {
    fn speak(&self) -> usize {
        self.x as usize
    }
}

struct Generic<T, const N: usize> {
    value: T,
    many: [T; N],
}

/// Hides a value from the compiler.
#[inline(always)]
fn keep<T>(x: T) -> T {
    unsafe { std::arch::asm!("/* {0} */", in(reg) &x) };
    x
}

#[inline(never)]
fn wait() {
    std::io::stdout().write_all(b"ready\n").unwrap();
    std::io::stdout().flush().unwrap();
    let mut byte = [0u8; 1];
    while std::io::stdin().read(&mut byte).unwrap_or(0) > 0 {}
    if keep(true) {
        unsafe { _exit(0) }
    }
}

#[inline(never)]
fn scalars(small: u8, signed: i8, wide: i128, truth: bool, letter: char, float: f32, nothing: ()) -> u64 {
    let (a, b, c, d) = (-1i16, 2u16, -3i32, 4u32);
    let (e, f, g, h) = (-5i64, 6u64, -7isize, 8usize);
    let huge = u128::MAX;
    let double = 1.5e10f64;
    let (letter_a, newline, euro, emoji) = ('a', '\n', '€', '😀');
    let unit = Unit;
    let function: fn(u64) -> u64 = twice;
    let pointer: *const i32 = &c;
    let mut local = 7;
    let reference = &mut local;
    let range: Range<i32> = 1..5;
    let inclusive = 1..=5;
    let nonzero = NonZeroU32::new(9);
    let no_nonzero: Option<NonZeroU32> = None;
    let bits = Bits { integer: 0x3f800000 };
    let ordering = 1.cmp(&2);
    wait();
    keep((&small, &signed, &wide, &truth, &letter, &float, &nothing));
    keep((&a, &b, &c, &d, &e, &f, &g, &h, &huge, &double));
    keep((&letter_a, &newline, &euro, &emoji, &unit, &function, &pointer, &reference, &range, &inclusive));
    keep((&nonzero, &no_nonzero, unsafe { &bits.float }, &ordering));
    h as u64
}

#[inline(never)]
fn twice(x: u64) -> u64 {
    x * 2
}

#[inline(never)]
fn texts(text: &str, owned: String, bytes: &[u8], borrowed: &String) -> usize {
    let empty = String::new();
    let unicode = "grüße \u{1f600}\t\"quoted\"\n";
    let lengthy = "x".repeat(300);
    let slice = &text[1..3];
    let array = [1u8, 2, 3];
    let raw = b"bytes\0";
    let boxed: Box<str> = "boxed".into();
    let shared: Rc<str> = "shared".into();
    let path = PathBuf::from("/usr/bin");
    let os = OsString::from("os");
    let c = CString::new("c string").unwrap();
    let cow: Cow<str> = Cow::Borrowed("cow");
    let letters = ['a', 'b'];
    let table = ["one", "two"];
    scalars(200, -5, -170141183460469231731687303715884105728, true, 'ß', 0.1, ());
    keep((&text, &owned, &bytes, &borrowed, &empty, &unicode, &lengthy, &slice, &array, &raw));
    keep((&boxed, &shared, &path, &os, &c, &cow, &letters, &table));
    owned.len()
}

#[inline(never)]
fn enums(shape: Shape, by_reference: &Shape, maybe: Option<i32>, result: Result<u8, String>) -> usize {
    let colours = [Colour::Red, Colour::Green, Colour::Blue];
    let empty = Shape::Empty;
    let circle = Shape::Circle(2.5);
    let rectangle = Shape::Rectangle { width: 3, height: 4 };
    let none: Option<String> = None;
    let some = Some(String::from("some"));
    let niche: Option<&Point> = Some(&Point { x: 1, y: 2.0 });
    let no_niche: Option<Box<i32>> = None;
    let failed: Result<Vec<i32>, std::num::ParseIntError> = "x".parse::<i32>().map(|x| vec![x]);
    let nested: Option<Option<bool>> = Some(None);
    let tree = Tree::Branch(Box::new(Tree::Leaf), 5, Box::new(Tree::Branch(Box::new(Tree::Leaf), 6, Box::new(Tree::Leaf))));
    texts("borrowed", String::from("owned"), b"raw", &String::from("reference"));
    keep((&shape, &by_reference, &maybe, &result, &colours, &empty, &circle, &rectangle, &none, &some));
    keep((&niche, &no_niche, &failed, &nested, &tree));
    1
}

#[inline(never)]
fn containers(numbers: Vec<i32>, slice: &[i64], mutable: &mut Vec<String>) -> usize {
    let empty: Vec<u8> = Vec::new();
    let hundreds: Vec<u32> = (1000..1300).collect();
    let points = vec![Point { x: 1, y: 0.5 }, Point { x: 2, y: -0.5 }];
    let nested = vec![vec![1u8], vec![], vec![2, 3]];
    let mut deque: VecDeque<i32> = (0..5).collect();
    deque.push_front(-1);
    let list: LinkedList<i32> = vec![1, 2].into_iter().collect();
    let map: HashMap<i32, &str> = HashMap::from([(1, "one")]);
    let set: HashSet<u8> = HashSet::from([7]);
    let tree_map: BTreeMap<i32, String> = (0..20).map(|i| (i, i.to_string())).collect();
    let tree_set: BTreeSet<char> = "hello".chars().collect();
    let array = [[1, 2, 3], [4, 5, 6]];
    let boxed = Box::new(Point { x: 5, y: 5.5 });
    let boxed_slice: Box<[u16]> = vec![1, 2].into_boxed_slice();
    let counted = Rc::new(String::from("counted"));
    let again = counted.clone();
    let weak: Weak<String> = Rc::downgrade(&counted);
    let atomic = Arc::new(Mutex::new(vec![1, 2]));
    let cell = Cell::new(5);
    let refcell = RefCell::new(String::from("in a cell"));
    let guard = refcell.borrow_mut();
    let atomics = (AtomicI32::new(4), AtomicBool::new(true));
    let dynamic: Box<dyn Speak> = Box::new(Point { x: 9, y: 9.5 });
    let by_trait: &dyn Speak = &points[0];
    let generic = Generic::<u16, 2> { value: 1, many: [2, 3] };
    let duration = Duration::from_millis(1500);
    let pair = Pair(1, String::from("tuple struct"));
    let tuple = (1, "two", 3.0, 'c');
    enums(Shape::Named(String::from("named"), points[0]), &Shape::Circle(1.0), Some(5), Err(String::from("error")));
    keep((&numbers, &slice, &mutable, &empty, &hundreds, &points, &nested, &deque, &list, &map, &set));
    keep((&tree_map, &tree_set, &array, &boxed, &boxed_slice, &counted, &again, &weak, &atomic, &cell));
    keep((&guard, &atomics, dynamic.speak(), by_trait.speak(), &generic.value, &generic.many, &duration));
    keep((&pair.0, &pair.1, &tuple));
    numbers.len()
}

impl Pair {
    #[inline(never)]
    fn method(&mut self, by: u8) -> u8 {
        let captured = String::from("captured");
        let mut counter = 0u32;
        let mut closure = |step: u32| {
            counter += step;
            containers(vec![1, 2, 3], &[-1, 1], &mut vec![String::from("in a vector"), captured.clone()]);
            counter
        };
        let result = closure(3);
        keep((&result, &self.1));
        self.0 + by
    }
}

#[inline(never)]
fn generic<T: Clone, F: Fn(&T) -> u8>(value: T, function: F) -> u8 {
    let copy = value.clone();
    let result = function(&value);
    keep((&copy, &result));
    result
}

fn main() {
    unsafe {
        prctl(0x59616d61, -1, 0, 0, 0);
        alarm(120);
        COUNTER += 1;
    }
    keep(GREETING);
    let mut pair = Pair(7, String::from("a pair"));
    let shadowed = 1;
    let shadowed = shadowed as f64 + 0.5;
    {
        let shadowed = "inner";
        let copy = pair.clone();
        keep(generic(copy, |p| p.clone().method(2)));
        keep(&shadowed);
    }
    keep((&shadowed, pair.method(3)));
}
