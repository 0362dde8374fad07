package arm64

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

func crossLibrary(t *testing.T, name string) string {
	t.Helper()
	return gdbtest.File(t, "/usr/aarch64-linux-gnu/lib/"+name)
}

// TestSkipPrologue: the prologue ends where gdb, which has no line table, puts a breakpoint; but
// gdb counts what stores arguments on the stack, too, and stops at what it does not know: large
// frames, scheduled instructions. Ubuntu's compilers, unless told not to, have prologues touch the
// pages of a large frame, where each of the two ends it elsewhere.
func TestSkipPrologue(t *testing.T) {
	cc, gdb := gdbtest.Tool(t, "aarch64-linux-gnu-gcc"), gdbtest.Tool(t, "gdb-multiarch")
	dir := t.TempDir()
	src := filepath.Join(dir, "frames.c")
	if err := os.WriteFile(src, []byte(testSource), 0o600); err != nil {
		t.Fatal(err)
	}
	gdbOnly := regexp.MustCompile(`^(str[bh]?|stp|stur)\s+[xwdsqv]\d+, .*\[(sp|x29)|^mov\s+[xw]\d+, |^add\s+x(\d|1\d|2[0-8]), (sp|x\d+), #`)
	oursOnly := regexp.MustCompile(`^(str|stp)\s+(x19|x2\d|x30|d\d+),.*\[sp|^sub\s+sp, sp|^(mov|add)\s+x29, sp`)
	for _, flags := range []string{"-O0", "-O1", "-O2", "-Os", "-O0 -mbranch-protection=standard", "-O2 -mbranch-protection=standard"} {
		out := filepath.Join(dir, "frames")
		if msg, err := exec.Command(cc, append(strings.Fields(flags), "-fno-stack-clash-protection", "-w", "-o", out, src)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"leaf", "use", "calls", "many", "big", "huge", "page", "dynamic", "vla", "floats", "tail", "shrink", "noreturn_end", "variadic", "jumps", "aligned"}
		args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off"}
		for _, n := range names {
			args = append(args, "-ex", "break "+n)
		}
		said, err := exec.Command(gdb, append(args, out)...).CombinedOutput()
		if err != nil {
			t.Fatalf("gdb: %v\n%s", err, said)
		}
		at := regexp.MustCompile(`Breakpoint (\d+) at 0x([0-9a-f]+)`).FindAllStringSubmatch(string(said), -1)
		if len(at) != len(names) {
			t.Fatalf("gdb: %s", said)
		}
		equal, explained := 0, 0
		_, text := processor.Instructions(t, out)
		im := rowtest.Open(t, out)
		for i, m := range at {
			theirs := rowtest.ParseHex(t, m[2])
			s := symbols[slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == names[i] })]
			code, _ := im.Code(t, s.Value, s.Value+s.Size, 0)
			ours := Machine.SkipPrologue(code, s.Value)
			// What stands before the later end made the difference.
			last := text[max(ours, theirs)-size]
			switch {
			case ours == theirs:
				equal++
			case ours < theirs && gdbOnly.MatchString(last), ours > theirs && oursOnly.MatchString(last):
				explained++
			default:
				t.Errorf("%s %s at %#x: the prologue ends at %#x, gdb says %#x: %s", flags, names[i], s.Value, ours, theirs, last)
			}
		}
		f.Close()
		t.Logf("%s: %d of %d equal, %d explained", flags, equal, len(names), explained)
	}
}

// TestLayout: offsets of the kernel's structures, by a compiler that reads its
// headers.
func TestLayout(t *testing.T) {
	const source = `#include <signal.h>
#include <ucontext.h>
#include <stddef.h>
#include <asm/sigcontext.h>
#include <sys/user.h>
struct rt_sigframe { siginfo_t info; ucontext_t uc; };
int values[] = {
	offsetof(struct rt_sigframe, uc),
	offsetof(ucontext_t, uc_mcontext),
	offsetof(mcontext_t, regs),
	offsetof(mcontext_t, sp),
	offsetof(mcontext_t, pc),
	offsetof(mcontext_t, __reserved),
	offsetof(struct fpsimd_context, vregs),
	offsetof(ucontext_t, uc_stack.ss_sp),
	offsetof(ucontext_t, uc_stack.ss_size),
	sizeof(struct user_regs_struct),
	sizeof(struct user_fpsimd_struct),
};
`
	src := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gdbtest.Tool(t, "aarch64-linux-gnu-gcc"), "-S", "-w", "-o", "-", src).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s+\.word\s+(\d+)$`).FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	want := fmt.Sprint([]int{rtSigframeUContext, ucontextSigcontext, sigcontextX0, sigcontextSP, sigcontextPC, sigcontextRecords, fpsimdV0,
		Arch.UContext.StackBase, Arch.UContext.StackSize, Arch.KernelRegs[0].Size, Arch.KernelRegs[1].Size})
	if fmt.Sprintf("[%s]", strings.Join(got, " ")) != want {
		t.Errorf("offsets %v, the headers have %s", want, got)
	}
	if Arch.UContext.SP != ucontextSigcontext+sigcontextSP {
		t.Error("SP in the ucontext")
	}
}

func TestDWARFNumbers(t *testing.T) {
	processor.DWARFNumbers(t, "ret", func(r arch.RegInfo) string {
		if r.Num == PC {
			return "" // 4.1 has it, binutils has no name for it
		}
		if r.Num == TPIDR {
			return "r36" // 4.1 has it, too
		}
		return fmt.Sprintf("r%d (%s)", r.Num, strings.Replace(r.Name, "d", "v", 1))
	})
}
