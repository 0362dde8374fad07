//go:build amd64

package sniffer_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestStepsSBCL runs a program of SBCL one instruction at a time. At each, the stack is the calls
// that the processor has made and that have not returned.
func TestStepsSBCL(t *testing.T) {
	limit := 4_000
	if os.Getenv("SFWALK_SOAK") == "1" {
		limit = 20_000
	}
	s := trace(t, gdbtest.Tool(t, "sbcl"), "--script", gdbtest.Testdata(t, "sbclsteps.lisp"))
	s.code = nil // all memory of Lisp is executable, and changes
	table := sniffer.Table(s.Arch())
	walkers := walktest.New(s.Modules(), table)
	var calls []took
	seen := map[[4]uint64]bool{}
	lisp := 0
	for range limit {
		var code [3]byte
		s.ReadMemory(s.regs.Rip, code[:])
		jump := bytes.Contains([]byte{0xe0, 0x63}, code[1:2]) && code[0] == 0xff || string(code[:]) == "\x41\xff\xe2" // jmp rax, [rbx-8], r10
		did, pending, alive := s.step(t, 0)
		if !alive || pending != 0 {
			t.Fatalf("the program has ended: alive %v, signal %d", alive, pending)
		}
		var regs arch.Registers
		if err := s.Registers(&regs); err != nil {
			t.Fatal(err)
		}
		pc := regs.Value[s.arch.PC]
		top := len(calls) - 1
		switch {
		case did.kind == called:
			calls = append(calls, took{cfa: did.cfa, ra: did.ra})
		case top >= 0 && calls[top].ra == pc && (did.kind == returned || jump): // SBCL may have the address in a register
			calls = calls[:top]
		case did.kind == returned && top >= 0:
			t.Fatalf("a return to %#x, the last call was from %#x", pc, calls[top].ra)
		}
		key := [4]uint64{pc}
		for i := range min(len(calls), 3) {
			key[1+i] = calls[len(calls)-1-i].ra
		}
		if len(calls) == 0 || seen[key] {
			continue
		}
		seen[key] = true
		stack, err := frame.New(s, s, table)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []uint64
		for f, err := range stack.All() {
			if err != nil {
				t.Fatal(err)
			}
			if f.Sniffer() == "sbcl" {
				lisp++
			}
			if got = append(got, f.PC()); len(got) > len(calls) {
				break
			}
		}
		want = append(want, pc)
		for _, c := range slices.Backward(calls) {
			want = append(want, c.ra)
		}
		if !slices.Equal(got, want) {
			f, _ := stack.Frame(0)
			row := f.Row()
			t.Errorf("%#x by %s %s: the stack is %#x, the calls were from %#x", pc, f.Sniffer(), row.Format(s.arch.RegName), got, want)
			if len(seen) > 100 {
				break
			}
		}
		if err := walkers.Check(s, s); err != nil {
			t.Errorf("%#x: %v", pc, err)
		}
	}
	t.Logf("%d steps, %d compared, %d frames of Lisp", limit, len(seen), lisp)
	if lisp < len(seen) {
		t.Error("there are too few frames of Lisp")
	}
}
