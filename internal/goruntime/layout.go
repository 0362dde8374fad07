package goruntime

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// Offsets in a struct g: it begins with the bounds of its stack.
const (
	StackLo = 0
	StackHi = 8
)

// Layout has offsets, in bytes, in the structs g and m of a program's runtime. They come from the
// code of its functions that change stacks.
type Layout struct {
	M    int64 // in a struct g: its struct m
	Curg int64 // in a struct m: the goroutine that the thread runs

	// In a struct g: the registers with which the goroutine was parked. RA is 0 if the processor
	// has no link register. FP is 0 if Go has no frame pointer on it.
	SP, PC, RA, FP int64

	// If no register has the struct g of the running code, a word at G from the thread pointer has
	// it. If GBase is not 0, the word at GBase, an address of the file, is added to G.
	G     int64
	GBase uint64
}

// FindLayout reads the whole layout off the code of the module that has Go's runtime. ok is false
// if the module has no Go code, if the architecture is not known here, or if the code is unlike
// every known release's.
func FindLayout(m *target.Module, a *arch.Arch) (l Layout, ok bool) {
	p, err := Open(m, a)
	if err != nil {
		return l, false
	}
	l, ok = p.Layout()
	// A goroutine that has not run yet has its function in PC, and the function's return address in
	// RA.
	linked := p.m.InTail != arch.NoReg
	return l, ok && l.PC != 0 && (l.RA != 0) == linked && (l.FP != 0) == !p.m.NoFP
}

// Layout returns the program's layout. PC and FP come from the code of mcall, which parks a
// goroutine, RA from the code of morestack, which does so, too. The others come from the code of
// systemstack, which follows g and m. ok is false if the code of systemstack is unlike every known
// release's. If the code of mcall or morestack is, the offsets that come from it are 0.
func (p *Program) Layout() (l Layout, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.laidOut {
		p.laidOut = true
		p.readLayout(&p.layout)
	}
	return p.layout, p.layout.SP != 0
}

// readLayout reads the layout that Layout returns.
func (p *Program) readLayout(l *Layout) {
	functions := map[string][]gopclntab.Func{}
	for i := range p.Table.Len() {
		if f, ok := p.Table.Func(i); ok && f.Flags&gopclntab.SPWrite != 0 {
			switch name := Base(f.Name()); name {
			case Systemstack, Mcall, Morestack:
				functions[name] = append(functions[name], f)
			}
		}
	}
	for _, f := range functions[Systemstack] {
		p.readSystemstack(f, l)
	}
	for _, f := range functions[Mcall] {
		if at, ok := p.parks(f, l.SP); ok {
			l.PC, l.FP = at.RA, at.FP
		}
	}
	for _, f := range functions[Morestack] {
		if at, ok := p.parks(f, l.SP); ok {
			l.RA = at.InTail
		}
	}
}

// readSystemstack reads the code of f, systemstack, that goes back from the thread's own stack to
// its goroutine's: SP = g.m.curg.sched.sp.
func (p *Program) readSystemstack(f gopclntab.Func, l *Layout) {
	for _, s := range p.follow(f).at {
		sp := s.back
		if sp.kind != deref || sp.off != 0 {
			continue
		}
		curg := *sp.of
		if curg.kind != deref || curg.of.kind != deref {
			continue
		}
		*l = Layout{M: curg.of.of.off, Curg: curg.of.off, SP: curg.off}
		if at := curg.of.of.of; at != nil {
			l.G = at.off
			if at.kind == deref && at.of.kind == address {
				l.GBase = uint64(at.of.off)
			}
		}
		return
	}
}

// parks returns the offsets at which a function puts registers into a struct g, if it puts the
// stack pointer at offset sp. They are taken from the state in which it has put the most registers.
func (p *Program) parks(f gopclntab.Func, sp int64) (most Saved, ok bool) {
	n := 0
	for _, s := range p.follow(f).at {
		a := solveSaved(p.m, s)
		if a.Saved == nil || a.Saved.SP != sp {
			continue
		}
		k := 1
		for _, at := range []int64{a.Saved.RA, a.Saved.FP, a.Saved.InTail} {
			if at != 0 {
				k++
			}
		}
		if k > n {
			most, n = *a.Saved, k
		}
	}
	return most, n > 0
}
