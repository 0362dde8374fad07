package sniffer_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// stepper is a thread that runs one instruction at a time, alone.
type stepper interface {
	target.Target
	target.Thread
	// step runs an instruction, or lets a signal come. pending is a signal that comes with the
	// next step.
	step(t *testing.T, signal int) (did deed, pending int, alive bool)
}

// deed is the effect of an instruction.
type deed struct {
	kind deedKind
	cfa  uint64 // of a call: SP in the caller, when it has returned; of a return: SP now
	ra   uint64 // of a call: its return address
}

type deedKind uint8

const (
	other deedKind = iota
	called
	returned
	signalled   // the kernel has called a handler; cfa and ra belong to the call
	unsignalled // rt_sigreturn
)

// took is a call that the processor has made, and that has not returned yet: its return address and
// CFA, and the caller's registers.
type took struct {
	cfa, ra uint64
	regs    arch.Registers // of the caller, when it called
	signal  bool           // a signal and no call: ra, cfa and regs belong to the interrupted function
}

// goSteps keeps account of the calls that a thread makes, without any table. Before each
// instruction that it has not seen with the same callers, the stack must be just these calls.
type goSteps struct {
	stepper
	t      *testing.T
	arch   *arch.Arch
	table  *frame.Table
	walker *walktest.Checker
	gocode *gopclntab.Table
	bias   uint64
	regs   arch.Registers
	calls  []took
	seen   map[string]bool
	counts map[string]int // instructions compared, by the function of Go

	prepared bool // a handler has begun to make the interrupted function call another one
	moved    bool // copystack has been called
}

func newGoSteps(t *testing.T, thread stepper) *goSteps {
	a, modules := thread.Arch(), thread.Modules()
	s := &goSteps{stepper: thread, t: t, arch: a, table: sniffer.Table(a), seen: map[string]bool{}, counts: map[string]int{}}
	s.walker = walktest.New(modules, s.table)
	for _, m := range modules.All() {
		if table, bias, err := goruntime.Table(m); err == nil {
			s.gocode, s.bias = table, bias
		}
	}
	if s.gocode == nil {
		t.Fatal("no module has Go code")
	}
	if err := thread.Registers(&s.regs); err != nil {
		t.Fatal(err)
	}
	return s
}

// run steps until the thread ends, something is wrong, or limit steps were made and all functions
// of in were seen. On a busy machine it may make up to five times as many steps for that.
func (s *goSteps) run(limit int, in []string) (steps int) {
	for pending, alive := 0, true; (steps < limit || s.missed(in) != "" && steps < 5*limit) && !s.t.Failed(); steps++ {
		if pending, alive = s.account(pending); !alive {
			break
		}
		s.compare()
	}
	return steps
}

// missed returns a function of in that was not seen, or "" if there is none.
func (s *goSteps) missed(in []string) string {
	for _, name := range in {
		if s.counts[name] == 0 {
			return name
		}
	}
	return ""
}

// account makes a step and keeps account of it.
func (s *goSteps) account(signal int) (pending int, alive bool) {
	before := s.regs
	did, pending, alive := s.step(s.t, signal)
	if !alive {
		return 0, false
	}
	s.regs = arch.Registers{}
	if err := s.Registers(&s.regs); err != nil {
		s.t.Fatal(err)
	}
	pc, sp := s.regs.Value[s.arch.PC], s.regs.Value[s.arch.SP]
	switch did.kind {
	case called:
		s.calls = append(s.calls, took{cfa: did.cfa, ra: did.ra, regs: before})
	case signalled:
		s.calls = append(s.calls, took{cfa: before.Value[s.arch.SP], ra: before.Value[s.arch.PC], regs: before, signal: true},
			took{cfa: did.cfa, ra: did.ra, regs: s.regs})
	case returned:
		if len(s.calls) == 0 {
			break
		}
		top := s.calls[len(s.calls)-1]
		if top.cfa != sp || top.ra != pc {
			s.t.Fatalf("at %#x: a return to %#x with SP %#x, the last call was from %#x with %#x", before.Value[s.arch.PC], pc, sp, top.ra, top.cfa)
		}
		s.moved = s.moved || s.function(before.Value[s.arch.PC]) == "runtime.copystack"
		s.calls = s.calls[:len(s.calls)-1]
	case unsignalled:
		for len(s.calls) > 0 && !s.calls[len(s.calls)-1].signal {
			s.calls = s.calls[:len(s.calls)-1]
		}
		interrupted := s.calls[len(s.calls)-1]
		s.calls = s.calls[:len(s.calls)-1]
		if s.prepared = false; pc != interrupted.ra { // the handler has made the fault look like a call
			s.calls = append(s.calls, took{cfa: interrupted.cfa, ra: interrupted.ra, regs: interrupted.regs})
		}
	}
	switch s.function(pc) {
	case "runtime.(*sigctxt).preparePanic":
		s.prepared = true
	case "gogo": // to another goroutine, or another place in this one
		s.moved, s.calls = false, nil
	}
	return pending, true
}

// function returns the name of the Go function at an address, C if there is none.
func (s *goSteps) function(pc uint64) string {
	f, ok := s.gocode.Find(pc - s.bias)
	if !ok {
		return "C"
	}
	return f.Name()
}

// inside reports whether a function was called further in than call i.
func (s *goSteps) inside(i int, function string) bool {
	for _, c := range s.calls[i+1:] {
		if s.function(c.ra) == function {
			return true
		}
	}
	return s.function(s.regs.Value[s.arch.PC]) == function
}

// compare compares the stack with the calls.
func (s *goSteps) compare() {
	t, pc := s.t, s.regs.Value[s.arch.PC]
	key := binary.LittleEndian.AppendUint64(nil, pc)
	for i := len(s.calls) - 1; i >= 0 && i > len(s.calls)-4; i-- {
		key = binary.LittleEndian.AppendUint64(key, s.calls[i].ra)
	}
	if len(s.calls) == 0 || s.seen[string(key)] {
		return
	}
	s.seen[string(key)] = true
	name := s.function(pc)
	s.counts[name]++
	stack, err := frame.New(s, s, s.table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(0)
	moved := uint64(0) // how far the goroutine's stack was moved
	for i := len(s.calls) - 1; i >= 0; i-- {
		want := s.calls[i]
		switch {
		case f == nil:
			t.Errorf("%#x in %s: call %d of %d is missing: %v", pc, name, i, len(s.calls), err)
			return
		case want.signal && s.prepared:
			i = 0 // the kernel's record of it is being changed
			continue
		case want.signal && f.Type() != frame.SigTramp:
			t.Errorf("%#x in %s: %v in %s is of type %v, a signal has come", pc, name, f, s.function(f.PC()), f.Type())
			return
		case f.Type() == frame.OtherStack && s.inside(i, "runtime.recovery"):
			i = 0 // it has begun to make the goroutine go on elsewhere
			continue
		}
		var prev *frame.Frame
		prev, err = f.Prev()
		copying := f.Type() == frame.OtherStack && s.inside(i, "runtime.copystack")
		switch {
		case prev == nil && copying && f.StopReason() == frame.NoSavedPC:
			i = 0 // the goroutine has its new stack, and its stack pointer is still in the old one
			continue
		case prev == nil && f.StopReason() == frame.Outermost && s.inside(i, "runtime.goschedImpl"):
			i = 0 // the goroutine has been put aside
			continue
		case prev == nil:
			row := f.Row()
			t.Errorf("%#x in %s: %v in %s by %s %s: the stack ends: %v %v", pc, name, f, s.function(f.AddressInBlock()),
				f.Sniffer(), row.Format(s.arch.RegName), f.StopReason(), err)
			return
		case copying && prev.PC() == want.ra:
			i = 0
			continue
		}
		if f.Type() == frame.OtherStack && s.moved {
			moved = prev.Register(s.arch.SP).Bits - want.cfa
		}
		if !s.same(f, prev, &want, moved) {
			return
		}
		f = prev
	}
	if err := s.walker.Check(s, s); err != nil {
		t.Errorf("%#x in %s: %v", pc, name, err)
	}
}

// same compares the registers of PREVIOUS with the registers that the processor had when THIS was
// called. moved is how far the stack that they point to was moved since.
func (s *goSteps) same(f, prev *frame.Frame, want *took, moved uint64) bool {
	a := s.arch
	pc, row := s.regs.Value[a.PC], f.Row()
	where := s.function(f.AddressInBlock())
	inC := s.function(want.ra-1) == "C" || want.signal
	sp := prev.Register(a.SP)
	if prev.PC() != want.ra || sp.Bits != want.cfa+moved {
		s.t.Errorf("%#x in %s: %v in %s by %s %s: its caller has PC %#x SP %v; the processor had %#x and %#x", pc, s.function(pc), f, where,
			f.Sniffer(), row.Format(a.RegName), prev.PC(), sp, want.ra, want.cfa)
		return false
	}
	good := true
	for _, info := range a.Regs {
		r := info.Num
		if !a.CalleeSaved.Has(r) || r == a.SP {
			continue
		}
		v := prev.Register(r)
		had, known := want.regs.Get(r)
		if r == a.FP {
			had += moved
		}
		if r == a.FP && where == "runtime.cgocallback" && a.RA != a.PC && !v.Known() {
			continue // memory below SP, where it was saved, may be in other use
		}
		if known && (v.Known() && v.Bits != had || !v.Known() && (inC || r == a.FP && a.FrameRecord != 0)) {
			s.t.Errorf("%#x in %s: %v in %s by %s %s: %s of its caller is %v, it was %#x", pc, s.function(pc), f, where,
				f.Sniffer(), row.Format(a.RegName), info.Name, v, had)
			good = false
		}
	}
	return good
}

// goScenarios are the scenarios of gosteps, each with the functions that it must run.
var goScenarios = []struct {
	name string
	in   []string
}{
	{"cgo", []string{"runtime.asmcgocall", "runtime.cgocallback", "crosscall2", "C"}},
	{"runtime", []string{"runtime.systemstack"}},
	{"frames", []string{"main.large", "main.larger", "main.variadic", "runtime.call16", "callRet"}},
	{"grows", []string{"runtime.morestack"}},
	{"panics", []string{"runtime.sigpanic", "runtime.sigtramp"}},
}

// stepThrough runs a thread through a scenario one instruction at a time, and stops after limit
// instructions. It returns a function of in that the thread has not run, or "" if there is none.
func stepThrough(t *testing.T, thread stepper, in []string, limit int) (missed string) {
	t.Helper()
	s := newGoSteps(t, thread)
	steps := s.run(limit, in)
	instructions := 0
	for _, n := range s.counts {
		instructions += n
	}
	t.Logf("%d steps, %d compared, in %d functions of Go", steps, instructions, len(s.counts))
	return s.missed(in)
}
