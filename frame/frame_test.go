package frame_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// A stack that was another thread's before has the same frames as a new one.
func TestReset(t *testing.T) {
	const sp = stackBase
	table := frame.NewTable(amd64.Arch, everywhere{fp})
	used, err := frame.New(newFake(0x1010, sp, sp), newFake(0x1010, sp, sp), table)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fake{
		newFake(0x1010, sp, sp, sp+16, 0x1100, 0, 0),
		newFake(0x1020, sp, sp, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300, 0, 0),
		newFake(0x1030, sp, sp),
		newFake(0x1040, sp, sp, sp+32, 0x1100, sp+16, 0x1200, sp+16, 0x1300),
		newFake(0x1020, sp, sp, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300, 0, 0),
	} {
		if err := used.Reset(f, f); err != nil {
			t.Fatal(err)
		}
		fresh, err := frame.New(f, f, table.Clone())
		if err != nil {
			t.Fatal(err)
		}
		list := func(s *frame.Stack) (text string) {
			for x, err := range s.All() {
				if err != nil {
					return text + err.Error()
				}
				cfa, ok := x.CFA()
				text += fmt.Sprintln(x, cfa, ok, x.ID(), x.Type(), x.Register(amd64.RBP), x.Register(amd64.RBX), x.StopReason())
			}
			return text
		}
		if got, want := list(used), list(fresh); got != want || got == "" {
			t.Errorf("frames\n%s\na new stack has\n%s", got, want)
		}
	}
}

func TestAddressInBlock(t *testing.T) {
	interrupted := trad.Row{
		Flags: trad.Signal,
		CFA:   trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 16},
		RA:    trad.Rule{Kind: trad.Saved, Off: -8},
	}
	plain := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 8}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Same}}
	last := plain
	last.Flags = trad.Outermost
	s := &rows{name: "rows", at: map[uint64]trad.Row{
		0x1010: plain,       // frame 0 at its PC
		0x10ff: interrupted, // a caller at PC-1
		0x1200: plain,       // interrupted: at its PC
		0x12ff: last,        // a caller again
	}}
	pcs, frame3, err := unwind(t, newFake(0x1010, stackBase, 0, 0x1100, 0, 0x1200, 0x1300), s)
	if err != nil || fmt.Sprintf("%#x", pcs) != "[0x1010 0x1100 0x1200 0x1300]" {
		t.Fatalf("%#x, %v", pcs, err)
	}
	if got := frame3.Next().Next().Type(); got != frame.SigTramp {
		t.Errorf("frame 1 is %v", got)
	}
	if got := frame3.AddressInBlock(); got != 0x12ff {
		t.Errorf("address in block of frame 3 is %#x", got)
	}
}

func TestRegisters(t *testing.T) {
	// Frame 0 has saved rbx; frame 1 has not, and may have changed rax.
	saves := trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 16},
		RA:     trad.Rule{Kind: trad.Saved, Off: -8},
		FP:     trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -16}}}},
	}
	// SFrame's row of the same frame, which does not track rbx.
	less := saves
	less.Others = nil
	end := less
	end.Flags = trad.Outermost

	winner := &rows{name: "first", at: map[uint64]trad.Row{0x1010: less, 0x10ff: end}}
	f := newFake(0x1010, stackBase, 0x77, 0x1234, 0x1100, 0, 0)

	t.Run("completed by a later sniffer", func(t *testing.T) {
		_, f1, _ := unwind(t, f, winner, &rows{name: "second", at: map[uint64]trad.Row{0x1010: saves}})
		want := frame.Value{Bits: 0x1234, Addr: stackBase, Lval: frame.InMemory}
		if got := f1.Register(amd64.RBX); got != want {
			t.Errorf("rbx is %+v, want %+v", got, want)
		}
		if got := f1.Register(amd64.RAX); got.Known() || got.String() != "<not saved>" {
			t.Errorf("rax is %v", got)
		}
		if got := f1.Register(amd64.RBP); got.Bits != 0x77 || got.Lval != frame.InRegister {
			t.Errorf("rbp is %+v", got)
		}
		if got := f1.Register(amd64.RSP); got.Bits != stackBase+16 || got.Lval != frame.Computed {
			t.Errorf("rsp is %+v", got)
		}
		if f1.Next().Sniffer() != "first" {
			t.Errorf("frame 0 is unwound by %q", f1.Next().Sniffer())
		}
	})
	t.Run("not completed by one that sees another frame", func(t *testing.T) {
		other := saves
		other.CFA.Off = 24
		_, f1, _ := unwind(t, f, winner, &rows{name: "second", at: map[uint64]trad.Row{0x1010: other}})
		if got := f1.Register(amd64.RBX); got.Known() || got.String() != "<unavailable>" {
			t.Errorf("rbx is %v", got)
		}
	})
	t.Run("live in frame 0", func(t *testing.T) {
		_, f1, _ := unwind(t, f, winner)
		if got := f1.Next().Register(amd64.RAX); got.Bits != 0xa || got.Lval != frame.InRegister {
			t.Errorf("rax is %+v", got)
		}
		if got := f1.Next().Register(amd64.R9); got.Known() {
			t.Errorf("r9, which the target does not know, is %v", got)
		}
	})
}

// A row that leads to no code gives way to a later one that does.
func TestLookBack(t *testing.T) {
	wrong := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 8}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Same}}
	right := wrong
	right.CFA.Off = 16
	f := newFake(0x1010, stackBase, 0, 0x55, 0x1100, 0, 0)
	pcs, _, _ := unwind(t, f,
		&rows{name: "wrong", at: map[uint64]trad.Row{0x1010: wrong}},
		&rows{name: "right", at: map[uint64]trad.Row{0x1010: right}})
	if fmt.Sprintf("%#x", pcs) != "[0x1010 0x1100]" {
		t.Errorf("PCs %#x", pcs)
	}
	guess := right
	guess.Flags = trad.Guess
	pcs, _, _ = unwind(t, f,
		&rows{name: "wrong", at: map[uint64]trad.Row{0x1010: wrong}},
		&rows{name: "guess", at: map[uint64]trad.Row{0x1010: guess}})
	if fmt.Sprintf("%#x", pcs) != "[0x1010 0x55]" {
		t.Errorf("a guess was believed: PCs %#x", pcs)
	}
}

func TestRowsAreCached(t *testing.T) {
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}}
	words := []uint64{stackBase + 16, 0x1100, stackBase + 32, 0x1100, stackBase + 48, 0x1100, 0, 0}
	table := frame.NewTable(amd64.Arch, s)
	walk := func(f *fake) {
		stack, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		if f3, err := stack.Frame(3); err != nil || f3.PC() != 0x1100 {
			t.Fatalf("%v, %v", f3, err)
		}
	}
	f := newFake(0x1010, stackBase, stackBase, words...)
	walk(f)
	if s.asked != 2 {
		t.Errorf("asked %d times for 2 PCs", s.asked)
	}
	walk(f)
	if s.asked != 2 {
		t.Errorf("asked again for another stack: %d times", s.asked)
	}
	walk(newFake(0x1010, stackBase, stackBase, words...)) // other modules, another generation
	if s.asked != 4 {
		t.Errorf("rows outlive their modules: asked %d times, want 4", s.asked)
	}
}

// keeper is a sniffer whose rows change when the target has run.
type keeper struct{ rows }

func (k *keeper) Forget() { k.at[0x10ff] = trad.Row{Flags: trad.Outermost, CFA: fp.CFA} }

// When the target has run, rows are asked for anew.
func TestForget(t *testing.T) {
	k := &keeper{rows{name: "keeper", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}}}
	table := frame.NewTable(amd64.Arch, &rows{name: "another"}, k)
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, stackBase+32, 0x1100, stackBase+48, 0x1100, 0, 0)
	depth := func() (n int) {
		stack, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		for range stack.All() {
			n++
		}
		return n
	}
	if before := depth(); before < 4 || depth() != before || k.asked != 2 {
		t.Errorf("%d frames, asked %d times", before, k.asked)
	}
	table.Forget()
	if n := depth(); n != 2 || k.asked != 4 {
		t.Errorf("%d frames, asked %d times: want 2, 4", n, k.asked)
	}
}

func TestTableOrder(t *testing.T) {
	table := frame.NewTable(amd64.Arch, &rows{name: "b"})
	table.Append(&rows{name: "d"})
	table.Prepend(&rows{name: "a"})
	if err := table.Before("d", &rows{name: "c"}); err != nil {
		t.Fatal(err)
	}
	if err := table.Before("nobody", &rows{}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("error %v", err)
	}
	var names string
	for _, s := range table.Sniffers() {
		names += s.Name()
	}
	if names != "abcd" {
		t.Errorf("order is %s", names)
	}
}

func TestBase(t *testing.T) {
	f := newFake(0x1010, stackBase, stackBase, 0, 0)
	table := frame.NewTable(amd64.Arch, everywhere{fp})
	s, _ := frame.New(f, f, table)
	f0, _ := s.Frame(0)
	b := table.Base(f0)
	base, err1 := b.ThisBase(f0)
	locals, err2 := b.ThisLocals(f0)
	args, err3 := b.ThisArgs(f0)
	if errors.Join(err1, err2, err3) != nil || base != stackBase || locals != stackBase || args != stackBase+16 {
		t.Errorf("%#x %#x %#x %v", base, locals, args, errors.Join(err1, err2, err3))
	}
}

func TestID(t *testing.T) {
	stack := func(s uint64) frame.ID { return frame.ID{Stack: s, Has: frame.HasStack} }
	code := func(s, c uint64) frame.ID { return frame.ID{Stack: s, Code: c, Has: frame.HasStack | frame.HasCode} }
	// The function's code is at 0x100 to 0x1ff. Inlined in it is the call at 0x120 to 0x12f, and in
	// that 0x124 to 0x127.
	function := code(8, 0x100)
	first, second, beside := function.Inlined(1, 0x120), function.Inlined(2, 0x124), function.Inlined(1, 0x140)
	atStart, elsewhere := function.Inlined(1, 0x100), code(8, 0x200).Inlined(1, 0x220)
	special := function
	special.Special, special.Has = 3, special.Has|frame.HasSpecial
	jumped, before := function.TailCalled(2, 0x300), function.TailCalled(1, 0x150) // the outer one has jumped from the function, which is called again
	within := func(inner, outer uint64) bool {
		switch outer {
		case 0x100:
			return inner>>8 == 1
		case 0x120:
			return inner>>4 == 0x12
		}
		return inner == outer
	}
	for _, tt := range []struct {
		a, b         frame.ID
		equal, inner bool
	}{
		{frame.ID{}, frame.ID{}, false, false},
		{stack(8), frame.ID{}, false, false},
		{stack(8), stack(8), true, false},
		{stack(8), stack(16), false, true},
		{stack(16), stack(8), false, false},
		{stack(8), code(8, 1), true, false}, // an unknown code address matches any
		{code(8, 2), code(8, 1), false, false},
		{first, function, false, true}, // the inlined call is the inner one
		{function, first, false, false},
		{second, function, false, true},
		{second, first, false, true},
		{first, second, false, false},
		{second, beside, false, false}, // deeper, but elsewhere in the function
		{first, beside, false, false},
		{atStart, function, false, true},
		{elsewhere, function, false, false}, // in another function at the same place
		{first, stack(8), false, false},
		{first, special, false, false},
		{first, code(16, 0x100), false, true}, // the stack tells
		{function, code(16, 0x100).Inlined(1, 0x120), false, true},
		{function, jumped, false, true}, // its caller, if it were not for the jump
		{second, jumped, false, true},
		{jumped, function, false, false},
		{jumped, second, false, false},
		{jumped, before, false, true},
		{before, jumped, false, false},
		{before, function, false, false}, // though it is in the function's code
		{function, before, false, true},
		{jumped, function.TailCalled(2, 0x300), true, false},
		{jumped, function.TailCalled(2, 0x310), false, false},
		{jumped, code(16, 0x100), false, true},
	} {
		if got := tt.a.Equal(tt.b); got != tt.equal {
			t.Errorf("%v equal to %v: %v", tt.a, tt.b, got)
		}
		if got := tt.a.Inner(tt.b, amd64.Arch, within); got != tt.inner {
			t.Errorf("%v inner to %v: %v", tt.a, tt.b, got)
		}
	}
	if first.Inner(function, amd64.Arch, nil) || !atStart.Inner(function, amd64.Arch, nil) {
		t.Error("who knows nothing of inlined calls cannot tell, but of one at its function's start")
	}
}

func BenchmarkStack(b *testing.B) {
	for _, depth := range []int{30, 1000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			var words []uint64
			for i := range depth {
				words = append(words, stackBase+uint64(i+1)*16, 0x1100+uint64(i%64))
			}
			words[2*depth-2], words[2*depth-1] = 0, 0
			f := newFake(0x1010, stackBase, stackBase, words...)
			table := frame.NewTable(amd64.Arch, everywhere{fp})
			b.ReportAllocs()
			for b.Loop() {
				s, err := frame.New(f, f, table)
				if err != nil {
					b.Fatal(err)
				}
				if x, _ := s.Frame(depth + 1); x != nil {
					b.Fatal(x)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/frame")
		})
	}
}
