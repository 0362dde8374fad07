package amd64

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

// numbers are the general registers, in the order of the processor's numbers.
var numbers = [16]trad.Reg{RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15}

// runOn implements arch.Arch.RunOn.
func runOn(pc uint64, called bool, limit int, register func(r trad.Reg) (uint64, bool), read func(addr uint64, p []byte) bool) (row trad.Row, returns bool, steps int) {
	run := x86.Run{PC: pc, Read: read}
	sp, fp := x86.Word{}, x86.Word{}
	for i, r := range numbers {
		w := x86.Word{From: x86.Origin(i)}
		w.N, w.Known = register(r)
		switch run.Regs[i] = w; r {
		case RSP:
			sp = w
		case RBP:
			fp = w
		}
	}
	if flags, ok := register(RFLAGS); ok {
		run.Flags, run.FlagsKnown = flags, ^uint64(0)
	}
	if !sp.Known || !fp.Known {
		return row, false, 0
	}
	if called {
		const forks = 4
		var before [arch.MaxCall]byte
		if !read(pc-arch.MaxCall, before[:]) {
			return row, false, 0
		}
		to, ok := decoder.CallTarget(before[:], pc)
		if !ok || !run.Call(to, pc) {
			return row, false, 0
		}
		run.Forks, run.Blind = forks, true
	}
	ra, steps, returns, ok := run.RunOn(limit)
	if !ok {
		return row, false, steps
	}
	row = trad.Row{Lo: pc, Len: 1, Flags: trad.Once, CFA: trad.Rule{Kind: trad.InReg, Reg: RSP}}
	switch {
	case ra.From >= 0:
		row.RA = trad.Rule{Kind: trad.InReg, Reg: numbers[ra.From]}
	case ra.From == x86.FromMemory && ra.Addr-sp.N < maxOutward:
		const size = 8
		row.RA = trad.Rule{Kind: trad.Saved, Off: -size}
		row.CFA.Off = int32(ra.Addr-sp.N) + size
	default:
		return trad.Row{}, false, steps
	}
	for i := range run.Regs {
		// The code was called, and has put the return address into a register: it makes the frame
		// record of the function that has called it.
		w := &run.Regs[i]
		inward := w.From == x86.FromMemory && ra.From == x86.FromMemory && w.Addr-sp.N < ra.Addr-sp.N
		var before [arch.MaxCall]byte
		if inward && w.N != ra.N && read(w.N-arch.MaxCall, before[:]) && x86.AfterCall(before[:]) {
			return trad.Row{}, false, steps
		}
	}
	var regs []trad.RegRule
	for _, i := range x86.Preserved {
		r := numbers[i]
		rule := trad.Rule{Kind: trad.Undefined}
		switch w := run.Regs[i]; {
		case w.From >= 0 && numbers[w.From] == r:
			rule.Kind = trad.Same
		case w.From >= 0:
			rule = trad.Rule{Kind: trad.InReg, Reg: numbers[w.From]}
		case w.From == x86.FromMemory && w.Addr-sp.N < maxOutward:
			rule = trad.Rule{Kind: trad.Saved, Off: int32(w.Addr-sp.N) - row.CFA.Off}
		}
		if r == RBP {
			row.FP = rule
		} else if rule.Kind != trad.Same {
			regs = append(regs, trad.RegRule{Reg: r, Rule: rule})
		}
	}
	row.Others = &trad.OtherRules{Regs: regs, Default: trad.Same}
	return row, returns, steps
}

// maxOutward is how far outward of the stack pointer a word of the frame lies at most, in bytes.
const maxOutward = 1 << 24
