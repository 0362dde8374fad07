//! A program with a function of the name that tokio's has which polls tasks, and nothing else of it.

mod runtime {
    pub mod task {
        pub mod raw {
            #[inline(never)]
            pub fn poll<T: std::fmt::Debug>(of: T) {
                eprintln!("{of:?}");
            }
        }
    }
}

fn main() {
    runtime::task::raw::poll(1);
    println!("ready");
    for _ in std::io::stdin().lines() {}
}
