// Dies of a panic, as its first argument says. With a second argument, the hook of panics hangs.
use std::env;
#[derive(Debug)]
#[allow(dead_code)]
struct E {
    a: i32,
    b: String,
}
#[inline(never)]
fn at(v: &[i32], i: usize) -> i32 {
    v[i]
}
extern "C" fn cannot() {
    panic!("in a function of C {}", 1)
}
struct D;
impl Drop for D {
    fn drop(&mut self) {
        panic!("while dropping")
    }
}
fn main() {
    let w = env::args().nth(1).unwrap();
    let n = env::args().count();
    if env::args().nth(2).is_some() {
        std::panic::set_hook(Box::new(|_| {
            println!("ready");
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1000))
            }
        }));
    }
    match w.as_str() {
        "literal" => panic!("a literal message"),
        "format" => panic!("formatted {} and {:?}\non two lines", n, w),
        "index" => {
            println!("{}", at(&[1, 2, 3], n + 5));
        }
        "unwrap" => {
            None::<i32>.unwrap();
        }
        "expect" => {
            None::<i32>.expect("expected some");
        }
        "result" => {
            let r: Result<i32, E> = Err(E { a: 1, b: w.clone() });
            r.unwrap();
        }
        "assert" => assert_eq!(n, 77, "they differ: {}", n),
        "assert2" => assert!(n > 77),
        "overflow" => {
            let z = n - 2;
            println!("{}", 1 / z);
        }
        "slice" => {
            println!("{}", &w[n + 50..]);
        }
        "unreachable" => unreachable!(),
        "cannot" => cannot(),
        "double" => {
            let _d = D;
            panic!("first");
        }
        "thread" => {
            std::thread::Builder::new()
                .name("worker".into())
                .spawn(move || panic!("in a thread {}", n))
                .unwrap()
                .join()
                .unwrap();
        }
        "any" => std::panic::panic_any(42),
        "refcell" => {
            let c = std::cell::RefCell::new(1);
            let _a = c.borrow_mut();
            let _b = c.borrow_mut();
        }
        "abort" => std::process::abort(),
        _ => {}
    }
}
