package gostack

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// Layout is where the structs g and m of a program's runtime have what is known from the
// code of its functions that change stacks: offsets in bytes.
type Layout struct {
	M    int64 // in a struct g: its struct m
	Curg int64 // in a struct m: the goroutine that the thread runs

	// In a struct g: the registers with which the goroutine was parked; RA and FP are 0
	// where the processor has no link register, or Go no frame pointer on it.
	SP, PC, RA, FP int64
}

// FindLayout reads the layout off the code of a module, which is Go's runtime: systemstack
// follows g and m, mcall and morestack park a goroutine. ok is false where the module has no
// Go code, the architecture is not known here, or the code is like that of no release so far.
func FindLayout(m *target.Module, a *arch.Arch) (l Layout, ok bool) {
	p, why := programOf(&frame.Query{Module: m, Arch: a})
	if why != frame.Claimed {
		return l, false
	}
	found := p.findLayout()
	if !found.ok {
		return l, false
	}
	l = Layout{M: found.m, Curg: found.curg, SP: found.sp}
	for i := range p.table.Len() {
		f, ok := p.table.Func(i)
		if !ok || f.Flags&gopclntab.SPWrite == 0 {
			continue
		}
		switch base(f.Name()) {
		case Mcall.function:
			if at, ok := p.parks(f, l.SP); ok {
				l.PC, l.FP = at.ra, at.fp
			}
		case Morestack.function:
			if at, ok := p.parks(f, l.SP); ok {
				l.RA = at.inTail
			}
		}
	}
	// A goroutine that has not run yet has its function in PC, and where that returns to in RA.
	linked := p.m.inTail != none
	return l, l.PC != 0 && (l.RA != 0) == linked && (l.FP != 0) == !p.m.noFP
}

// parks returns where a function puts registers into a struct g that has the stack pointer at
// sp: of its states the one that has put most.
func (p *program) parks(f gopclntab.Func, sp int64) (most saved, ok bool) {
	n := 0
	for _, s := range p.follow(f).at {
		a := solveSaved(p.m, s)
		if a.saved == nil || a.saved.sp != sp {
			continue
		}
		k := 1
		for _, at := range []int64{a.saved.ra, a.saved.fp, a.saved.inTail} {
			if at != 0 {
				k++
			}
		}
		if k > n {
			most, n = *a.saved, k
		}
	}
	return most, n > 0
}

// maxReferring bounds the code that is read for what it refers to, bytes.
const maxReferring = 64 << 10

// References returns the run-time addresses that the code of a function of the module
// refers to relative to itself, in the order of the code: what it loads, or the address of
// which it takes. f is of the module's Go function table. Code that is not understood has fewer.
func References(m *target.Module, a *arch.Arch, f gopclntab.Func) (list []uint64) {
	p, why := programOf(&frame.Query{Module: m, Arch: a})
	if why != frame.Claimed || f.Hi <= f.Lo {
		return nil
	}
	code := make([]byte, min(f.Hi-f.Lo, maxReferring))
	code = code[:p.im.ReadLoaded(f.Lo, code)]
	known := make([]uint64, p.m.regs) // addresses in registers; 0 where there is none
	in := func(r uint64) uint64 {
		if r < uint64(len(known)) {
			return known[r]
		}
		return 0
	}
	for pc := f.Lo; len(code) > 0; {
		x, ok := p.m.decode(code, pc)
		if !ok || x.size <= 0 || x.size > len(code) {
			break
		}
		for _, o := range x.ops {
			at := uint64(0) // that is referred to
			switch o.kind {
			case setAt, fetch:
				at = uint64(o.imm)
			case set, load:
				if from := in(uint64(o.src)); from != 0 {
					at = from + uint64(o.imm)
				}
			case store:
				if to := in(uint64(o.dst)); to != 0 {
					at = to + uint64(o.imm)
				}
			}
			if at != 0 {
				list = append(list, at+p.bias)
			}
			if o.kind == store || int(o.dst) >= len(known) {
				continue
			}
			known[o.dst] = 0
			if o.kind == setAt || o.kind == set {
				known[o.dst] = at
			}
		}
		code, pc = code[x.size:], pc+uint64(x.size)
	}
	return list
}
