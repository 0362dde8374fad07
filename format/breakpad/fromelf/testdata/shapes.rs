use std::collections::HashMap;
trait Value { fn value(&self) -> i32; }
struct A(i32);
impl Value for A { fn value(&self) -> i32 { self.0 } }
fn more<X: Value>(x: &X) -> i32 { x.value() + 1 }
fn main() {
    let mut m: HashMap<String, i32> = HashMap::new();
    for (i, a) in std::env::args().enumerate() { m.insert(a, i as i32); }
    let c = |x: i32| x * m.len() as i32;
    let v: Vec<i32> = (0..4).map(|q| q * 2).collect();
    println!("{} {} {:?}", more(&A(3)), c(4), v);
}
