// Frames whose expressions are compared with gdb's: names by their paths, counted pointers.
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

static TOP: i32 = 11;

// kept reads a static variable so that it is kept.
fn kept(of: &i32) -> i32 {
    unsafe { std::ptr::read_volatile(of) }
}

pub mod outer {
    pub static MIDDLE: i32 = 22;
    pub struct Held {
        pub number: u16,
    }
    pub mod inner {
        pub static DEEP: i32 = 33;
        pub static TOP: i32 = 44;
        #[inline(never)]
        pub fn paths(own: u8, call: &dyn Fn()) -> i32 {
            let held = super::Held { number: 7 };
            call();
            i32::from(own) + i32::from(held.number) + crate::kept(&DEEP) + crate::kept(&TOP) + crate::kept(&super::MIDDLE) + crate::kept(&crate::TOP)
        }
    }
}

#[inline(never)]
fn counted(call: &dyn Fn()) -> usize {
    let one = Rc::new(5);
    let two = Rc::clone(&one);
    let shared = Arc::new(outer::Held { number: 9 });
    let weak = Rc::downgrade(&one);
    let cell = Rc::new(RefCell::new(vec![1u8, 2, 3]));
    let simple = Cell::new(77);
    let lock = Arc::new(Mutex::new(8i64));
    let boxed: Box<[i32]> = vec![4, 5, 6].into_boxed_slice();
    let text = String::from("text");
    let numbers = [10, 20, 30, 40];
    let part = &numbers[1..];
    let float = 2.75f32;
    let wide = -1i64;
    let letter = 'x';
    let flag = true;
    call();
    let sum = *one + *two + shared.number as usize + weak.strong_count() + Rc::strong_count(&cell) + Arc::strong_count(&lock) + simple.get() 
        + boxed.len() + text.len() + part.len() + float as usize + wide as usize + letter as usize + flag as usize;
    sum
}

fn main() {
    let end = || {
        println!("ready");
        loop {
            std::thread::park();
        }
    };
    let first = || println!("{}", counted(&end));
    println!("{}", outer::inner::paths(1, &first));
}
