package amd64

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// TestSkipPrologue: where the prologue ends, the compiler's table has its last row of the straight
// code that the function begins with, and what stands before the end does set up the frame.
// Ubuntu's compilers have it touch the pages of a large frame, in a loop that the prologue ends
// before.
func TestSkipPrologue(t *testing.T) {
	for _, flags := range []string{"-O0", "-Og -fno-omit-frame-pointer", "-O2 -mavx2 -fno-shrink-wrap", "-O2 -fno-omit-frame-pointer -fcf-protection=full"} {
		file := processor.Compile(t, frames, append(strings.Fields(flags), "-fno-stack-clash-protection")...)
		pcs, text := processor.Instructions(t, file)
		im := rowtest.Open(t, file)
		seen, moved := 0, 0
		for _, f := range rowtest.FDEs(t, file) {
			code, section := im.Code(t, f.Lo, f.Hi, 0)
			if section != ".text" || f.Rows[0].CFA != "rsp+8" {
				continue
			}
			end := Machine.SkipPrologue(code, f.Lo)
			i, _ := slices.BinarySearch(pcs, f.Lo)
			e, ok := slices.BinarySearch(pcs, end)
			if !ok || end >= f.Hi {
				t.Errorf("%s: %#x: the end %#x is no instruction", flags, f.Lo, end)
				continue
			}
			// The straight code ends before last.
			last, argument := i, false
			for ; !goesAway(text[pcs[last]]); last++ {
				argument = argument || strings.HasPrefix(text[pcs[last]], "push") && !strings.Contains(text[pcs[last]], "%r")
			}
			if argument {
				continue // pushes an argument, which the table notes as well
			}
			seen++
			if e > last {
				t.Errorf("%s: %#x: the end %#x is behind a branch at %#x", flags, f.Lo, end, pcs[last])
			}
			same := func(a, b *rowtest.Row) bool { return a.CFA == b.CFA && maps.Equal(a.Regs, b.Regs) }
			// The row of an argument's push by register shows in the CFA alone. gcc 16 notes a
			// register that it has stored an instruction late.
			late := !slices.ContainsFunc(pcs[e:last], func(pc uint64) bool { return touchesStack(text[pc]) })
			if a, b := f.At(end), f.At(pcs[last]); !same(a, b) && !maps.Equal(a.Regs, b.Regs) && !late {
				t.Errorf("%s: %#x: the frame changes from %v at the end %#x to %v at %#x", flags, f.Lo, *a, end, *b, pcs[last])
			}
			if e == i {
				continue
			}
			moved++
			before := text[pcs[e-1]]
			if same(f.At(pcs[e-1]), f.At(pcs[last])) && !strings.Contains(before, "%rsp") && !strings.HasPrefix(before, "endbr64") && !strings.HasPrefix(before, "push") {
				t.Errorf("%s: %#x: %q before the end %#x sets up nothing", flags, f.Lo, before, end)
			}
		}
		if seen < 20 || moved < 15 {
			t.Errorf("%s: %d functions seen, %d with a prologue", flags, seen, moved)
		}
	}
}

// touchesStack reports whether an instruction may save a register or move the stack pointer.
func touchesStack(text string) bool {
	return strings.HasPrefix(text, "push") || strings.Contains(text, "%rsp") || strings.Contains(text, "(%rbp)")
}

func goesAway(text string) bool {
	op := strings.Fields(text)[0]
	return op[0] == 'j' || op == "call" || op == "ret" || op == "bnd" || op == "notrack"
}

// TestSkipGoPrologue: the check of the stack's limit comes before the frame.
func TestSkipGoPrologue(t *testing.T) {
	// cmp 0x10(%r14),%rsp; jbe +0x20; push %rbp; mov %rsp,%rbp; sub $0x18,%rsp; mov (%rax),%rcx
	code := []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x18, 0x48, 0x8b, 0x08}
	if end := Machine.SkipPrologue(code, 0x1000); end != 0x100e {
		t.Errorf("the prologue ends at %#x, want 0x100e", end)
	}
}

// TestEntryAgain: behind the routine that makes the stack larger a function of Go goes back to
// its entry, where all registers are the caller's as they are by every other way.
func TestEntryAgain(t *testing.T) {
	// lea -8(%rsp),%r12; cmp 0x10(%r14),%r12; jbe; push %rbp; mov %rsp,%rbp; pop %rbp; ret; call;
	// jmp to the entry
	code := []byte("\x4c\x8d\x64\x24\xf8\x4d\x3b\x66\x10\x76\x06\x55\x48\x89\xe5\x5d\xc3\xe8\x00\x01\x00\x00\xeb\xe8")
	row, _, why := Machine.ReadFrame(code, 0x1000, 0x1000)
	if rule := row.Others.Rule(R12); why != "" || rule.Kind != trad.Same {
		t.Errorf("the row at the entry is %s %q", row.Format(Arch.RegName), why)
	}
}

// TestEpilogueByFramePointer: how gcc takes down a frame whose size it does not know. By its own
// table the CFA is rbp+16 there, and rbx and r12 are saved below the frame pointer.
func TestEpilogueByFramePointer(t *testing.T) {
	// lea -0x10(%rbp),%rsp; pop %rbx; pop %r12; pop %rbp; ret
	code := []byte("\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3")
	row, out := Machine.ReadEpilogue(code, 0x1000)
	ok := out&arch.TearsDown != 0
	if got := row.Format(Arch.RegName); !ok || got != "CFA=rbp+16 RA=[CFA-8] FP=[CFA-16] rbx=[CFA-32] r12=[CFA-24] in-prologue" {
		t.Errorf("%s, %v", got, ok)
	}
}

// TestLeaves: ways out that are no plain epilogues; what is expected is what the tables of
// libtsan (gcc 12) and of a Go program say of the same code.
func TestLeaves(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"exchanges a register with memory, then restores it",
			// xchg %bl,(%r12); add $0x18,%rsp; mov %ebx,%eax; pop %rbx; pop %rbp; pop %r12; ret
			"\x41\x86\x1c\x24\x48\x83\xc4\x18\x89\xd8\x5b\x5d\x41\x5c\xc3",
			"CFA=rsp+56 RA=[CFA-8] FP=[CFA-24] rbx=[CFA-32] r12=[CFA-16] in-prologue"},
		{"exchanges a register with memory, and loses it",
			// xchg %rbx,(%rax); ret
			"\x48\x87\x18\xc3", "CFA=rsp+8 RA=[CFA-8] FP=same rbx=undefined in-prologue"},
		{"loads an argument, runtime.setg",
			// mov 0x8(%rsp),%rbx; mov %rbx,%fs:0xfffffffffffffff8; ret
			"\x48\x8b\x5c\x24\x08\x64\x48\x89\x1c\x25\xf8\xff\xff\xff\xc3",
			"CFA=rsp+8 RA=[CFA-8] FP=same rbx=[CFA] in-prologue"},
		{"loads the arguments, and begins anew with a larger stack",
			// mov 0x8(%rsp),%rax; mov 0x10(%rsp),%rbx; jmp
			"\x48\x8b\x44\x24\x08\x48\x8b\x5c\x24\x10\xe9\x34\xfd\xff\xff",
			"CFA=rsp+8 RA=[CFA-8] FP=same rbx=[CFA+8] guess in-prologue"},
	} {
		row, out := Machine.ReadEpilogue([]byte(c.code), 0x1000)
		if got := row.Format(Arch.RegName); out&arch.Leaves == 0 || got != c.want {
			t.Errorf("%s: %s, %b, want %s", c.name, got, out, c.want)
		}
	}
}
