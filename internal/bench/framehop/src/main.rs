//! framehop-peer CAPTURE: walks a captured stack with framehop.
//!
//! It reads commands from standard input, a letter each, and answers on standard output
//! with a line:
//!   w   walk over and over; answers with the nanoseconds of one frame
//!   c   the same, with a new cache for each walk
//!   p   walk once; answers with the frames' PCs

mod capture;

use capture::{Capture, Mapped};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use object::{Object, ObjectSection, ObjectSegment};
use std::error::Error;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

type Bytes = &'static [u8];

/// A file's module. The program ends before its bytes need to be freed.
fn module(m: &Mapped) -> Result<Module<Bytes>, Box<dyn Error>> {
    let file = object::File::parse(&*std::fs::read(&m.path)?.leak())?;
    let lowest = file.segments().map(|s| s.address()).min().unwrap_or(0);
    let section = |name: &str| file.section_by_name(name);
    let range = |name| section(name).map(|s| s.address()..s.address() + s.size());
    let data = |name| section(name).and_then(|s| s.data().ok());
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: range(".text"),
        text: data(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        ..Default::default()
    };
    let bias = m.lo - (lowest & !0xfff);
    Ok(Module::new(m.path.clone(), m.lo..m.hi, bias, sections))
}

/// Walks the stack; `each` gets the PCs.
fn walk(u: &UnwinderX86_64<Bytes>, c: &Capture, cache: &mut CacheX86_64, mut each: impl FnMut(u64)) {
    let mut word = |address| c.word(address);
    let registers = UnwindRegsX86_64::new(c.ip, c.sp, c.bp);
    let mut frames = u.iter_frames(c.ip, registers, cache, &mut word);
    while let Ok(Some(frame)) = frames.next() {
        each(frame.address());
    }
}

/// Walks for some milliseconds, and returns the nanoseconds of one frame. The clock is
/// read once in 2,000 frames at least.
fn time(frames: usize, mut walk: impl FnMut()) -> f64 {
    let batch = 2000 / frames + 1;
    let start = Instant::now();
    let mut walks = 0;
    while start.elapsed() < Duration::from_millis(5) {
        for _ in 0..batch {
            walk();
        }
        walks += batch;
    }
    start.elapsed().as_nanos() as f64 / (walks * frames) as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: framehop-peer CAPTURE")?;
    let capture = Capture::read(&path)?;
    let mut unwinder = UnwinderX86_64::new();
    for m in &capture.modules {
        unwinder.add_module(module(m)?);
    }
    let mut cache = CacheX86_64::new();
    let mut pcs = vec![];
    walk(&unwinder, &capture, &mut cache, |pc| pcs.push(pc));
    let mut found = vec![0; pcs.len()]; // as a profiler would keep them
    for command in std::io::stdin().bytes() {
        match command? {
            b'w' => {
                let ns = time(pcs.len(), || {
                    let mut i = 0;
                    walk(&unwinder, &capture, &mut cache, |pc| {
                        found[i] = pc;
                        i += 1;
                    });
                });
                println!("{ns:.3}");
            }
            b'c' => {
                let ns = time(pcs.len(), || {
                    let mut i = 0;
                    let mut cache = CacheX86_64::new();
                    walk(&unwinder, &capture, &mut cache, |pc| {
                        found[i] = pc;
                        i += 1;
                    });
                });
                println!("{ns:.3}");
            }
            b'p' => {
                let text: Vec<String> = pcs.iter().map(|pc| format!("{pc:x}")).collect();
                println!("{}", text.join(" "));
            }
            _ => continue,
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
