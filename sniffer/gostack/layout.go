package gostack

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// Layout has offsets, in bytes, in the structs g and m of a program's runtime, as the code of its
// functions that change stacks has them.
type Layout struct {
	M    int64 // in a struct g: its struct m
	Curg int64 // in a struct m: the goroutine that the thread runs

	// In a struct g: the registers with which the goroutine was parked; RA and FP are 0
	// where the processor has no link register, or Go no frame pointer on it.
	SP, PC, RA, FP int64
}

// FindLayout reads the layout off the code of the module that has Go's runtime: systemstack
// follows g and m, mcall and morestack park a goroutine. ok is false if the module has no Go
// code, if the architecture is not known here, or if the code is like that of no known release.
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
