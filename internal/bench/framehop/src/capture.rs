//! A captured stack, as internal/bench/walk writes it: lines, an empty one, and the stack's bytes.

use std::error::Error;

#[derive(Default)]
pub struct Capture {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    pub modules: Vec<Mapped>,
    pub stack: Vec<u64>,
}

/// A mapped file, from its lowest address to its highest.
pub struct Mapped {
    pub path: String,
    pub lo: u64,
    pub hi: u64,
}

/// DWARF's numbers of the registers.
const RBP: &str = "6";
const RSP: &str = "7";
const RIP: &str = "16";

impl Capture {
    pub fn read(path: &str) -> Result<Capture, Box<dyn Error>> {
        let bytes = std::fs::read(path)?;
        let end = bytes
            .windows(2)
            .position(|w| w == b"\n\n")
            .ok_or("no empty line")?;
        let mut c = Capture::default();
        for line in std::str::from_utf8(&bytes[..end])?.lines() {
            c.line(line).ok_or_else(|| format!("line {line:?}"))?;
        }
        c.stack = bytes[end + 2..]
            .chunks_exact(8)
            .map(|w| u64::from_le_bytes(w.try_into().unwrap()))
            .collect();
        Ok(c)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let mut fields = rest.splitn(3, ' ');
        let first = fields.next()?;
        let number = |s: &str| u64::from_str_radix(s, 16).ok();
        match kind {
            "register" => {
                let value = number(fields.next()?)?;
                match first {
                    RBP => self.bp = value,
                    RSP => self.sp = value,
                    RIP => self.ip = value,
                    _ => (),
                }
            }
            "module" => self.modules.push(Mapped {
                lo: number(first)?,
                hi: number(fields.next()?)?,
                path: fields.next()?.to_string(),
            }),
            _ => (), // the modules' mappings, one by one; the architecture
        }
        Some(())
    }

    /// The word at an address, which is on the stack.
    pub fn word(&self, address: u64) -> Result<u64, ()> {
        let offset = address.wrapping_sub(self.sp);
        if offset % 8 != 0 {
            return Err(());
        }
        self.stack.get((offset / 8) as usize).copied().ok_or(())
    }
}
