//go:build amd64

package sniffer_test

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// A thrown is a stop in the unwinder of C++, with what the walk has found.
type thrown struct {
	pc     uint64
	frames []seenFrame
}

// TestThrows steps through an unwinder that takes frames down and goes on at a handler. The
// processor says what the stack is: when the thread has come to the handler, the calls around the
// handler's function are the calls that have not returned.
func TestThrows(t *testing.T) {
	type built = func(t testing.TB, src string, flags ...string) string
	for _, v := range []struct {
		name  string
		build built
		flag  string
	}{
		{"64-bit", gdbtest.Build, "-fomit-frame-pointer"}, {"64-bit, FP", gdbtest.Build, "-fno-omit-frame-pointer"},
		{"32-bit", gdbtest.Build386, "-fomit-frame-pointer"}, {"32-bit, FP", gdbtest.Build386, "-fno-omit-frame-pointer"},
	} {
		t.Run(v.name, func(t *testing.T) {
			program := v.build(t, "unwinds.cc", "-O2", v.flag)
			x := &throws{t: t, th: trace(t, program, "")}
			lo, hi := rangeOf(t, program, "all")
			for _, m := range x.th.Modules().All() {
				if m.Path == program {
					_, bias, _ := m.Image()
					x.lo, x.hi = lo+bias, hi+bias
				}
			}
			x.unwinder = func(pc uint64) bool {
				m := x.th.Modules().Find(pc)
				return m != nil && strings.Contains(m.Path, "libgcc")
			}
			x.own = func(pc uint64) bool {
				m := x.th.Modules().Find(pc)
				return m != nil && m.Path == program
			}
			x.run()
		})
	}
	t.Run("arm64", func(t *testing.T) {
		program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "unwinds.cc"), gdbtest.Tool(t, "aarch64-linux-gnu-g++"), "-O2", "-static")
		th := guestARM64.emulate(t, program, "", "all")
		x := &throws{t: t, th: th}
		x.lo, x.hi = rangeOf(t, program, "all")
		x.unwinder = func(pc uint64) bool {
			name := x.function(pc)
			return strings.HasPrefix(name, "_Unwind_") || strings.HasPrefix(name, "uw_")
		}
		x.own = func(pc uint64) bool { // no function of libstdc++
			name := x.function(pc)
			return name == "all" || strings.HasPrefix(name, "_ZN7Cleaned") ||
				strings.HasPrefix(name, "_Z") && !strings.ContainsAny(name[2:3], "SLN")
		}
		x.between = func(pc uint64) bool {
			var code [8]byte
			th.ReadMemory(pc, code[:])
			for at := 0; at < len(code); at += 4 {
				if binary.LittleEndian.Uint32(code[at:])&^0x1f0000 == 0x8b2063ff { // add sp, sp, xN; gcc 14 has a branch before it
					return true
				}
			}
			return false
		}
		if os.Getenv("SFWALK_SOAK") == "" {
			x.enough = 6 // the stub takes a millisecond for a step
		}
		x.calls = []seenFrame{{pc: th.regs.Value[arm64.Arch.RA], sp: th.regs.Value[arm64.Arch.SP]}}
		x.run()
	})
}

// throws is a program that throws, and is stepped through.
type throws struct {
	t        *testing.T
	th       stepper
	lo, hi   uint64 // of the function that is stepped through
	unwinder func(pc uint64) bool
	own      func(pc uint64) bool // whether pc is in one of the program's own functions
	// between reports whether SP is no frame's at an instruction: no row tells it. nil if there is
	// no such instruction.
	between func(pc uint64) bool
	calls   []seenFrame // under way
	enough  int         // handlers to come to; 0 if there is no limit
}

// function names the function at pc, and the parts that the compiler has moved away from it.
func (x *throws) function(pc uint64) string {
	m := x.th.Modules().Find(pc)
	if m == nil {
		return ""
	}
	im, bias, err := m.Image()
	if err != nil {
		x.t.Fatal(err)
	}
	s, _ := im.Symbols().Find(pc - bias)
	name, _, _ := strings.Cut(im.Symbols().Name(s), ".")
	return name
}

func (x *throws) run() {
	t, th, a := x.t, x.th, x.th.Arch()
	table := sniffer.Table(a)
	check := walktest.New(th.Modules(), table)
	var regs arch.Registers
	var steps []thrown // since the unwinder was called
	known := map[uint64]int{}
	handlers, compared, unwinder := 0, 0, false
	for n := 0; n < 300_000 && (handlers < x.enough || x.enough == 0); n++ {
		did, _, alive := th.step(t, 0)
		if err := th.Registers(&regs); !alive || err != nil {
			break
		}
		pc, sp := regs.Value[a.PC], regs.Value[a.SP]
		if len(x.calls) == 0 && (pc < x.lo || pc >= x.hi) {
			if handlers > 0 {
				break
			}
			continue
		}
		was := unwinder
		unwinder = x.unwinder(pc)
		if did.kind == called {
			x.calls = append(x.calls, seenFrame{pc: did.ra, sp: did.cfa})
		}
		back := len(x.calls) > 0 && x.calls[len(x.calls)-1].pc == pc
		handler := was && !unwinder && did.kind != called && !back && x.own(pc)
		for n := len(x.calls) - 1; n >= 0; n-- {
			if last := x.calls[n]; last.sp > sp || last.sp == sp && last.pc != pc && !handler {
				break
			}
			x.calls = x.calls[:n]
		}
		if handler {
			handlers++
			clear(known)
			for _, s := range steps {
				compared++
				if why := passed(s.frames, x.calls, x.function, pc); why != "" {
					t.Errorf("%#x: on the way to %#x in %s: %s: %+v", s.pc, pc, x.function(pc), why, s.frames)
				}
			}
		}
		if !unwinder {
			if x.own(pc) {
				steps = steps[:0]
			}
			continue
		}
		if known[pc]++; known[pc] > 1 || x.between != nil && x.between(pc) {
			continue
		}
		table.Reset()
		stack, err := frame.New(th, th, table)
		if err != nil {
			t.Fatal(err)
		}
		s := thrown{pc: pc}
		for f, err := range stack.All() {
			if err == nil {
				at := f.Register(a.SP)
				s.frames = append(s.frames, seenFrame{pc: f.PC(), sp: at.Bits})
			}
		}
		steps = append(steps, s)
		if err := check.Check(th, th); err != nil {
			t.Errorf("%#x: %v", pc, err)
		}
	}
	t.Logf("%d handlers, %d instructions of the unwinder", handlers, compared)
	if handlers < 4 || compared < 1000 {
		t.Errorf("%d handlers, %d instructions of the unwinder", handlers, compared)
	}
}

// passed says why frames do not fit an unwinder that goes to a handler. calls, the outermost first,
// are the calls around the handler's function.
func passed(frames, calls []seenFrame, function func(pc uint64) string, handler uint64) string {
	outer := slices.Clone(calls)
	slices.Reverse(outer)
	at := slices.Index(frames, outer[0])
	switch {
	case at < 1:
		return "its caller is missing"
	case function(frames[at-1].pc-1) != function(handler): // before a return address, which may be the next function's
		return "its function is missing"
	case len(frames) < at+len(outer) || !slices.Equal(frames[at:at+len(outer)], outer):
		return "a caller further out is missing"
	}
	return ""
}
