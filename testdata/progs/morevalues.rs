// Values of Rust's types that programs seldom have, as locals of some functions. It starts, announces itself and ends as
// ready.h has it. Built with --edition 2021; Debian 12's rustc (1.63) can.
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ffi::{CStr, OsStr, OsString};
use std::future::Future;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::{NonZeroI8, NonZeroU128, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

extern "C" {
    fn prctl(option: i32, a: i64, b: i64, c: i64, d: i64) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(code: i32) -> !;
}

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

#[derive(Clone, Copy)]
#[repr(i64)]
enum Signed {
    Low = -5,
    High = i64::MAX,
}

#[repr(i8)]
#[derive(Clone)]
enum WithData {
    Negative(u8),
    Zero,
    Positive { value: String },
}

#[repr(C)]
union Overlay {
    bytes: [u8; 4],
    word: u32,
}

#[derive(Clone)]
enum Deep {
    One(Option<Option<Option<bool>>>),
    Two(Result<Option<Box<Deep>>, ()>),
    Three((Option<char>, Option<char>), (u8, Option<std::num::NonZeroU8>)),
}

enum Single {
    Only(u32, &'static str),
}

enum Never {}

struct Zero;

struct Wrapper<'a, T: ?Sized>(&'a T);

struct Matrix<T, const R: usize, const C: usize> {
    cells: [[T; C]; R],
}

struct Tagged<T> {
    id: u64,
    tag: PhantomData<T>,
}

trait Named {
    fn name(&self) -> String;
}

impl Named for Tagged<u8> {
    fn name(&self) -> String {
        self.id.to_string()
    }
}

#[inline(never)]
fn niches() {
    let reference: Option<&u32> = Some(&7);
    let no_reference: Option<&u32> = None;
    let boxed: Option<Box<u64>> = Some(Box::new(9));
    let text: Option<&str> = Some("text");
    let no_text: Option<&str> = None;
    let ordering: Option<std::cmp::Ordering> = Some(std::cmp::Ordering::Greater);
    let no_ordering: Option<std::cmp::Ordering> = None;
    let letter: Option<char> = Some('x');
    let no_letter: Option<char> = None;
    let nonzero: Option<NonZeroU128> = NonZeroU128::new(1 << 100);
    let no_nonzero: Option<NonZeroU64> = None;
    let small: NonZeroI8 = NonZeroI8::new(-1).unwrap();
    let pointer: Option<NonNull<u16>> = None;
    let function: Option<fn()> = Some(niches);
    let signed = [Signed::Low, Signed::High];
    // Arrays of such enumerations are none here: gdb 13 writes all elements as the first one's variant, or ends by an
    // assertion. Nor can it write an Option<u128>.
    let negative = WithData::Negative(1);
    let zero = WithData::Zero;
    let positive = WithData::Positive { value: "p".into() };
    let deep = Deep::One(Some(Some(None)));
    let boxed_deep = Deep::Two(Ok(Some(Box::new(Deep::One(None)))));
    let no_deep = Deep::Two(Err(()));
    let deep_pairs = Deep::Three((None, Some('y')), (1, None));
    let single = Single::Only(5, "only");
    let result: Result<(), String> = Ok(());
    let poll: Poll<Option<i32>> = Poll::Ready(Some(3));
    let impossible: Result<u8, Never> = Ok(4);
    let borrowed: std::borrow::Cow<[u8]> = std::borrow::Cow::Borrowed(b"b");
    let owned: std::borrow::Cow<[u8]> = std::borrow::Cow::Owned(vec![1]);
    containers();
    keep((&reference, &no_reference, &boxed, &text, &no_text, &ordering, &no_ordering, &letter, &no_letter));
    keep((&nonzero, &no_nonzero, &small, &pointer, &function, &signed, &negative, &zero, &positive));
    keep((&deep, &boxed_deep, &no_deep, &deep_pairs));
    keep((&single, &result, &poll, &impossible, &borrowed, &owned));
}

#[inline(never)]
fn containers() {
    let many: HashMap<u64, u64> = (0..500).map(|i| (i, i * i)).collect();
    let mut removed: HashMap<String, Vec<u8>> = (0..50).map(|i| (i.to_string(), vec![i])).collect();
    removed.retain(|_, v| v[0] % 10 == 0);
    let emptied: HashSet<i32> = HashSet::with_capacity(100);
    let words: HashSet<&str> = ["one"].into_iter().collect();
    let tall: BTreeMap<u16, u16> = (0..1000).map(|i| (i, 1000 - i)).collect();
    let unit_values: BTreeMap<u8, ()> = [(1, ()), (2, ())].into_iter().collect();
    let empty_tree: BTreeMap<String, String> = BTreeMap::new();
    let strings: BTreeSet<String> = ["b", "a"].iter().map(|s| s.to_string()).collect();
    let mut around: VecDeque<u8> = VecDeque::with_capacity(8);
    for i in 0..20 {
        around.push_back(i);
        if i > 5 {
            around.pop_front();
        }
    }
    let heap: BinaryHeap<i32> = vec![3, 1, 2].into_iter().collect();
    let units = vec![(), ()];
    let zeros = [Zero, Zero];
    let none: [u32; 0] = [];
    let same = [7u8; 100];
    let similar = vec![1u32; 300];
    let exactly: Vec<u16> = (0..200).collect();
    let structs: Vec<Tagged<String>> = vec![Tagged { id: 1, tag: PhantomData }];
    let tuples = vec![(1, "a"), (2, "b")];
    let options: Vec<Option<u8>> = vec![Some(1)];
    pointers();
    keep((&many, &removed, &emptied, &words, &tall, &unit_values, &empty_tree, &strings, &around, &heap));
    keep((&units, &zeros, &none, &same, &similar, &exactly, &structs, &tuples, &options));
}

#[inline(never)]
fn pointers() {
    let shared = Rc::new(RefCell::new(vec![String::from("shared")]));
    let clone = Rc::clone(&shared);
    let borrow = shared.try_borrow().is_ok();
    let slice: Rc<[u32]> = vec![1, 2, 3].into();
    let arc_str: Arc<str> = "arc".into();
    let lock = Mutex::new(5);
    let read_write = Arc::new(RwLock::new(String::from("rw")));
    let nested_cell = Cell::new(Some(Cell::new(3u8)));
    let unsafe_cell = UnsafeCell::new([1, 2]);
    let uninitialized = MaybeUninit::<[u8; 3]>::zeroed();
    let overlay = Overlay { word: 0x01020304 };
    let matrix = Matrix::<i16, 2, 3> { cells: [[1, 2, 3], [4, 5, 6]] };
    let wrapper = Wrapper("wrapped");
    let wrapped_slice = Wrapper(&[1u8, 2][..]);
    let path = Path::new("/a/path");
    let path_buf: PathBuf = path.into();
    let os: &OsStr = OsStr::new("os str");
    let os_string: OsString = os.into();
    let c_str = CStr::from_bytes_with_nul(b"c str\0").unwrap();
    let mut text = String::from("mutable");
    let mutable: &mut str = &mut text;
    let dynamic: Rc<dyn Named> = Rc::new(Tagged::<u8> { id: 3, tag: PhantomData });
    let dynamics: Vec<Box<dyn Named>> = vec![Box::new(Tagged::<u8> { id: 4, tag: PhantomData })];
    let raw: *mut i32 = std::ptr::null_mut();
    let raw_slice: *const [u8] = &[1, 2];
    let double = &&5;
    let closure = |x: usize| x + matrix.cells.len();
    let boxed_closure: Box<dyn Fn(usize) -> usize> = Box::new(closure);
    let size = NonZeroUsize::new(8);
    let unicode = String::from("tab\t nul\0 quote\" \u{7f} \u{301} ok");
    let array_ref: &[u8; 3] = b"\x00\xff\n";
    futures(1);
    keep((&shared, &clone, &borrow, &slice, &arc_str, &lock, &read_write, &nested_cell, &unsafe_cell));
    keep((&uninitialized, unsafe { &overlay.bytes }, &wrapper.0, &wrapped_slice.0, &path, &path_buf, &os));
    keep((&os_string, &c_str, &mutable, dynamic.name(), dynamics[0].name(), &raw, &raw_slice, &double));
    keep((boxed_closure(1), &size, &unicode, &array_ref));
}

async fn inner(step: u32) -> u32 {
    let label = format!("step {}", step);
    Forever.await;
    keep(label.len() as u32)
}

async fn outer(step: u32) -> u32 {
    let before = vec![step];
    let after = inner(step + 1).await;
    keep(before);
    after
}

struct Forever;

impl Future for Forever {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

const VTABLE: RawWakerVTable = RawWakerVTable::new(|p| RawWaker::new(p, &VTABLE), |_| {}, |_| {}, |_| {});

#[inline(never)]
fn futures(step: u32) {
    let fresh = outer(step);
    let mut waits = Box::pin(outer(step));
    let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
    let poll = waits.as_mut().poll(&mut Context::from_waker(&waker));
    let state = unsafe { &*(&*waits as *const _ as *const [u8; 16]) };
    let mut stack_future = outer(step + 5);
    let pending = unsafe { Pin::new_unchecked(&mut stack_future) }.poll(&mut Context::from_waker(&waker));
    wait();
    keep((&fresh, &poll, &state, &pending));
}

fn main() {
    unsafe {
        prctl(0x59616d61, -1, 0, 0, 0);
        alarm(120);
    }
    niches();
}
