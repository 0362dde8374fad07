// Package rust writes Rust's values as GDB does in Rust, and shows the strings and containers of
// its library as the printers do that rustc comes with for GDB.
package rust
