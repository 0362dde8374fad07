//go:build amd64

package sniffer_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// A madeCall is a call that the thread has made: its return address, and where SP is when it has
// returned. It is real if the thread has returned there. A thunk's call is not: it pushes an
// address that is replaced.
type madeCall struct {
	ra, sp   uint64
	from, to int // the steps between which it was under way
	real     bool
}

// A seenFrame is a frame that the walk has found at a step.
type seenFrame struct {
	pc, sp uint64
	guess  bool
}

// returnSteps steps through a program's function, and notes the calls that the thread makes and the
// frames that the walk finds. Only later it is known which calls are real.
type returnSteps struct {
	t     *testing.T
	calls []madeCall
	pcs   []uint64
	seen  [][]seenFrame
}

// TestReturns stops at every instruction of calls and returns that compilers and linkers have made
// of other instructions. The oracle is the processor: a call is on the stack until the thread has
// returned from it.
func TestReturns(t *testing.T) {
	// gcc's tables take the call of such a thunk for one that changes the function's frame.
	inline := []string{"-mindirect-branch=thunk-inline", "-mfunction-return=thunk-inline", "-fcf-protection=none"}
	for variant, b := range []struct {
		name    string
		cc      string
		flags   []string
		guesses bool // rows may be guesses
	}{
		{"lvi", "clang", []string{"-mlvi-hardening"}, false},
		{"retpoline clang", "clang", []string{"-mretpoline"}, false},
		{"retpoline gcc", "gcc", []string{"-mindirect-branch=thunk", "-mfunction-return=thunk", "-fcf-protection=none"}, false},
		{"retpoline inline", "gcc", inline, false},
		{"retpoline inline, frame pointers", "gcc", append([]string{"-fno-omit-frame-pointer"}, inline...), false},
		{"return inline", "gcc", []string{"-mfunction-return=thunk-inline", "-fcf-protection=none"}, false},
		{"retpoline inline, SFrame", "gcc", append([]string{"-Wa,--gsframe"}, inline...), false},
		{"retpoline inline, unoptimized", "gcc", append([]string{"-O0", "-mharden-sls=all"}, inline...), false},
		{"retpoline plt", "clang", []string{"-no-pie", "-fuse-ld=lld", "-Wl,-z,lazy", "-Wl,-z,retpolineplt"}, false},
		{"retpoline plt now", "clang", []string{"-no-pie", "-fuse-ld=lld", "-Wl,-z,now", "-Wl,-z,retpolineplt"}, false},
		{"plt", "gcc", []string{"-Wl,-z,lazy"}, false},
		{"ibt plt", "gcc", []string{"-Wl,-z,lazy", "-Wl,-z,ibtplt", "-fcf-protection"}, false},
		{"lld plt", "clang", []string{"-fuse-ld=lld", "-Wl,-z,lazy"}, false},
		{"32-bit plt", "386", []string{"-fPIC", "-pie", "-Wl,-z,lazy"}, false},
		{"32-bit retpoline gcc", "386", []string{"-fPIC", "-pie", "-Wl,-z,lazy", "-mindirect-branch=thunk", "-mfunction-return=thunk"}, false},
		{"32-bit retpoline inline", "386", append([]string{"-fPIC", "-pie", "-Wl,-z,lazy"}, inline...), false},
	} {
		for _, how := range []string{"tables", "no tables", "stripped"} {
			t.Run(b.name+"/"+how, func(t *testing.T) {
				gdbtest.Share(t, variant)
				flags := append([]string{"-O2", "-fno-builtin"}, b.flags...)
				if how == "no tables" {
					flags = append(flags, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
					if slices.Contains(b.flags, inline[0]) {
						flags = append(flags, "-DNO_LABELS")
					}
				}
				cc := b.cc
				if cc == "386" {
					cc, flags = gdbtest.Compiler386(t), append(flags, gdbtest.Dynamic386...)
				}
				gdbtest.Tool(t, cc)
				if slices.Contains(flags, "-fuse-ld=lld") {
					gdbtest.Tool(t, "ld.lld")
				}
				program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "returns.c"), append([]string{cc}, flags...)...)
				lo, hi := rangeOf(t, program, "main")
				if how == "stripped" {
					stripped := filepath.Join(t.TempDir(), "returns")
					if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-o", stripped, program).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					program = stripped
				}
				s := &returnSteps{t: t}
				s.run(program, lo, hi)
				s.compare(b.guesses || how == "no tables")
			})
		}
	}
}

// rangeOf returns the range of a program's function, in the file.
func rangeOf(t *testing.T, program, name string) (lo, hi uint64) {
	t.Helper()
	found := walktest.Open(t, program).Lookup(name, 1)
	if len(found) != 1 {
		t.Fatalf("%s has no function %s", program, name)
	}
	return found[0].Addr, found[0].Addr + found[0].Size
}

// run steps from the system call in which the program waits to the end of its function main, at
// [lo, hi) in the file.
func (r *returnSteps) run(program string, lo, hi uint64) {
	const limit = 20_000
	th := trace(r.t, program, "")
	table := sniffer.Table(th.arch)
	check := walktest.New(th.modules, table)
	bias := uint64(0)
	for _, m := range th.modules.All() {
		if m.Path == program {
			_, b, err := m.Image()
			if err != nil {
				r.t.Fatal(err)
			}
			bias = b
		}
	}
	inMain, known := false, map[uint64]int{}
	outermost := uint64(0) // SP in main
	for range limit {
		did, _, alive := th.step(r.t, 0)
		if !alive {
			break
		}
		pc, sp := th.regs.Rip, th.regs.Rsp
		if inMain = inMain || pc-bias >= lo && pc-bias < hi; !inMain {
			continue // in the function that waits
		}
		step, outside := len(r.pcs), pc-bias < lo || pc-bias >= hi
		if !outside {
			outermost = max(outermost, sp)
		}
		if r.account(th, step, pc, sp, did); outside && (len(r.open()) == 0 || sp > outermost) {
			return // main has returned
		}
		var frames []seenFrame
		// The dynamic linker's look-up of a symbol takes thousands of instructions of plain code.
		if known[pc]++; known[pc] <= 3 {
			table.Reset()
			stack, err := frame.New(th, th, table)
			if err != nil {
				r.t.Fatal(err)
			}
			for f, err := range stack.All() {
				if err == nil {
					at := f.Register(th.arch.SP)
					row := f.Row()
					frames = append(frames, seenFrame{f.PC(), at.Bits, row.Flags&trad.Guess != 0})
				}
			}
			if err := check.Check(th, th); err != nil {
				r.t.Errorf("%#x: %v", pc, err)
			}
		}
		r.pcs, r.seen = append(r.pcs, pc), append(r.seen, frames)
	}
	r.t.Error("main did not return")
}

// open returns the calls that are under way, as far as it is known.
func (r *returnSteps) open() (list []madeCall) {
	for _, c := range r.calls {
		if c.to < 0 {
			list = append(list, c)
		}
	}
	return list
}

// account notes the call that the thread has made, or the calls that it has come back from.
func (r *returnSteps) account(th *traced, step int, pc, sp uint64, did deed) {
	if did.kind == called {
		r.calls = append(r.calls, madeCall{ra: did.ra, sp: did.cfa, from: step, to: -1})
		return
	}
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := &r.calls[i]
		if c.to >= 0 {
			continue
		}
		b := make([]byte, th.arch.PtrSize)
		slot := c.sp - uint64(len(b))
		th.ReadMemory(slot, b)
		switch {
		case c.ra == pc && c.sp == sp:
			c.to, c.real = step, true
			for j := i + 1; j < len(r.calls); j++ {
				if r.calls[j].to < 0 {
					r.calls[j].to = step
				}
			}
		case th.arch.Word(b) != c.ra && sp <= slot:
			c.to = step // the thunk has replaced it
		}
	}
}

// compare compares the frames that were found with the calls.
func (r *returnSteps) compare(guesses bool) {
	bad, right := 0, 0
	for step, frames := range r.seen {
		if frames == nil {
			continue
		}
		why := ""
		at := 1 // the frame to look at next
		for i := len(r.calls) - 1; i >= 0 && why == ""; i-- {
			c := r.calls[i]
			if c.from > step || c.to <= step {
				continue
			}
			is := func(f seenFrame) bool { return f.pc == c.ra && f.sp == c.sp }
			switch {
			case at < len(frames) && is(frames[at]):
				if frames[at-1].guess && !guesses {
					why = fmt.Sprintf("frame %d is found by a guess", at)
				}
				at++
			case c.real:
				why = fmt.Sprintf("frame %d is not the caller, at %#x", at, c.ra)
			}
		}
		if why == "" {
			right++
			continue
		}
		if guess := slices.ContainsFunc(frames[:min(at, len(frames))], func(f seenFrame) bool { return f.guess }); guess && guesses {
			continue
		}
		if bad++; bad <= 12 {
			r.t.Errorf("%#x: %s: %#v", r.pcs[step], why, frames)
		}
	}
	r.t.Logf("%d instructions, %d right", len(r.pcs), right)
	if right < 100 {
		r.t.Error("too few instructions")
	}
}
