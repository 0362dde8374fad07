package arm64

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

func crossLibrary(t *testing.T, name string) string {
	t.Helper()
	return gdbtest.File(t, "/usr/aarch64-linux-gnu/lib/"+name)
}

// every calls f with each instruction of a file's code, and objdump's text of it.
func every(t *testing.T, file string, f func(code []byte, at int, pc uint64, text string)) {
	t.Helper()
	_, text := processor.Instructions(t, file)
	im, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	for _, s := range im.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		code, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+size <= len(code); at += size {
			if x, ok := text[s.Addr+uint64(at)]; ok {
				f(code, at, s.Addr+uint64(at), x)
			}
		}
	}
}

// TestDecode: where control goes, and which registers that a call preserves are
// written, is what objdump's text says of every instruction of the C library.
func TestDecode(t *testing.T) {
	target := regexp.MustCompile(`\b([0-9a-f]+) <`)
	first := regexp.MustCompile(`^(\S+)\s+(?:\{)?([xwsvdqbh])(\d+|p|zr)?`)
	writesNone := regexp.MustCompile(`^(st|cmp|cmn|tst|fcmp|ccmp|ccmn|fccmp|prf|msr|dc|ic|nop|hint|svc|bti|gcs(ss1|pushm|st)|swp[ab]*l?$)`)
	branches, registers := 0, 0
	every(t, crossLibrary(t, "libc.so.6"), func(code []byte, at int, pc uint64, text string) {
		o, ops := decode(code, at, nil)
		name, args, _ := strings.Cut(text, "\t")
		flow, isBranch := values.Next, true
		switch {
		case name == "b", name == "b.al":
			flow = values.Jump
		case name == "b.ne":
			flow = values.BranchNE
		case strings.HasPrefix(name, "b."), name == "cbz", name == "cbnz", name == "tbz", name == "tbnz":
			flow = values.Branch
		case name == "bl", name == "blr":
			flow = values.Call
		case name == "br", name == "ret":
			flow = values.To
		case name == "udf", strings.HasPrefix(name, ".word"), strings.HasPrefix(name, ".inst"):
			return
		case name == "brk":
			flow = values.Stop
		default:
			isBranch = false
		}
		if isBranch {
			branches++
			if o.Flow != flow {
				t.Errorf("%#x: %s: flow %d, want %d", pc, text, o.Flow, flow)
			}
			if m := target.FindStringSubmatch(args); m != nil {
				want, _ := strconv.ParseUint(m[1], 16, 64)
				if uint64(o.Target) != want-(pc-uint64(at)) {
					t.Errorf("%#x: %s: target %#x", pc, text, o.Target)
				}
			}
			return
		}
		// What it writes: the first operand of what is no store, compare or hint.
		m := first.FindStringSubmatch(text)
		switch {
		case m == nil, writesNone.MatchString(name):
			return
		}
		r := values.None
		switch n, err := strconv.Atoi(m[3]); {
		case m[2] == "s" && m[3] == "p":
			r = rsp
		case err != nil:
			return
		case m[2] == "x" || m[2] == "w":
			r = values.Reg(n)
		default:
			r = v0 + values.Reg(n)
		}
		writes := written(&o, ops)
		if registers++; !writes.Has(r) {
			t.Errorf("%#x: %s: writes %#x", pc, text, writes)
		}
	})
	t.Logf("%d branches, %d registers", branches, registers)
	if branches < 30000 || registers < 100000 {
		t.Errorf("%d branches, %d registers", branches, registers)
	}
}

// TestDecodeNewer: words of instructions that C libraries of 2025 have, and older objdumps do
// not know: the register that binutils 2.44 writes first.
func TestDecodeNewer(t *testing.T) {
	for w, r := range map[uint32]values.Reg{
		0xd503251f: 16, // chkfeat x16
		0x04305a10: 16, // addsvl x16, x16, #16
		0x047f5fe3: 3,  // addspl x3, sp, #-1
		0x04bf5825: 5,  // rdsvl x5, #1
		0xd52b7727: 7,  // gcspopm x7
		0xd52b7768: 8,  // gcsss2 x8
	} {
		if o, _ := decode(insns(w), 0, nil); !o.Kill.Has(r) {
			t.Errorf("%#x writes %#x, not register %d", w, o.Kill, r)
		}
	}
}

// written returns the registers that an instruction writes.
func written(in *values.Inst, ops []values.Op) values.Set {
	set := in.Kill
	for _, o := range ops {
		if o.Kind != values.Compare {
			set |= o.Dst.Bit()
		}
	}
	return set
}

func TestAfterCall(t *testing.T) {
	processor.AfterCall(t, crossLibrary(t, "libc.so.6"), 1000, 0, func(text string) bool {
		name, _, _ := strings.Cut(text, "\t")
		return name == "bl" || name == "blr" || strings.HasPrefix(name, "blra")
	})
}

// TestDecodeStructures: instructions of several vector registers move their base on by as much as
// they load or store. The words are the assembler's.
func TestDecodeStructures(t *testing.T) {
	as := gdbtest.Tool(t, "aarch64-linux-gnu-gcc")
	var text strings.Builder
	var want []int32
	for _, name := range []string{"ld", "st"} {
		for regs := int32(1); regs <= 4; regs++ {
			for _, kind := range []struct {
				name string
				size int32
			}{{"16b", 16}, {"8b", 8}, {"2d", 16}, {"4h", 8}} {
				for _, n := range []int32{1, regs} { // ld1 of so many registers, ld2 to ld4
					fmt.Fprintf(&text, "%s%d {", name, n)
					for i := range regs {
						fmt.Fprintf(&text, "v%d.%s", 4+i, kind.name+map[bool]string{true: "}, ", false: ", "}[i == regs-1])
					}
					fmt.Fprintf(&text, "[sp], #%d\n", regs*kind.size)
					want = append(want, regs*kind.size)
				}
			}
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x.s", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(as, "-c", "-o", dir+"/x.o", dir+"/x.s").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f, err := elf.Open(dir + "/x.o")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil || len(code) != len(want)*size {
		t.Fatalf("%d bytes, %v", len(code), err)
	}
	lines := strings.Split(text.String(), "\n")
	for i, n := range want {
		o, _ := decode(code, i*size, nil)
		if sp, ok := behind(code[i*size:][:size]); !ok || sp != n {
			t.Errorf("%s: sp becomes CFA%+d, %v", lines[i], sp, ok)
		}
		if load := strings.HasPrefix(lines[i], "ld"); o.Kill.Has(v0+4) != load {
			t.Errorf("%s: writes %#x", lines[i], o.Kill)
		}
	}
	if sp, ok := behind(insns(0x4cc2a3e4)); ok { // ld1 {v4.16b-v5.16b}, [sp], x2
		t.Errorf("by a register: sp becomes CFA%+d", sp)
	}
}

// behind returns what sp is behind an instruction that a function begins with, as a distance
// from the CFA.
func behind(instruction []byte) (sp int32, ok bool) {
	s, ok := Machine.Analyse(slices.Concat(instruction, insns(ret)), nil, false).At(size)
	if !ok {
		return 0, false
	}
	return s.Reg(rsp).Distance()
}

// TestStubs: every instruction of the linkage table of a program, plain and with
// branch protection: what stands on the stack is what its own instructions put there.
func TestStubs(t *testing.T) {
	cc := gdbtest.Tool(t, "aarch64-linux-gnu-gcc")
	src := filepath.Join(t.TempDir(), "stubs.c")
	if err := os.WriteFile(src, []byte("#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { puts(v[0]); printf(\"%d\", rand()); return atoi(v[0]); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-z,lazy", "-z,lazy,-z,force-bti"} {
		out := filepath.Join(t.TempDir(), "stubs")
		if msg, err := exec.Command(cc, "-O2", "-mbranch-protection=bti", "-Wl,"+flags, "-o", out, src).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		_, text := processor.Instructions(t, out)
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		plt := f.Section(".plt")
		code, err := plt.Data()
		if err != nil {
			t.Fatal(err)
		}
		depth, start, seen, epilogues := int32(0), uint64(0), 0, 0
		for at := uint64(0); at < uint64(len(code)); at += size {
			x := text[plt.Addr+at]
			if strings.HasPrefix(x, "nop") && !strings.HasPrefix(text[plt.Addr+at+size], "br\t") { // which stands for an add
				start, depth = at+size, 0
				continue
			}
			n, ok := stubFrame(code[start:], plt.Addr+start, plt.Addr+at)
			if !ok || n != depth {
				t.Errorf("%s %#x: %s: %d, %v, want %d", flags, plt.Addr+at, x, n, ok, depth)
			}
			row, out := Machine.ReadEpilogue(code[at:], plt.Addr+at)
			ok = out&arch.TearsDown != 0
			switch {
			case ok && depth == 0 && row.Format(Arch.RegName) != "CFA=sp RA=same FP=same in-prologue":
				t.Errorf("%s %#x: %s: row %s", flags, plt.Addr+at, x, row.Format(Arch.RegName))
			case ok && depth == 0:
				epilogues++
			}
			seen++
			switch {
			case strings.Contains(x, "[sp, #-16]!"):
				depth += 16
			case strings.HasPrefix(x, "br\t"):
				start, depth = at+size, 0
			}
		}
		t.Logf("%s: %d instructions, %d of them by the epilogue reader", flags, seen, epilogues)
		if seen < 20 || epilogues < seen/2 {
			t.Errorf("%s: only %d instructions, %d of them by the epilogue reader", flags, seen, epilogues)
		}
	}
}

// TestStubPageStart: the stub of a slot that begins a page, as binutils 2.47 links TestStubs'
// program: there is nothing to add, and a nop stands there. A nop before a branch by x17 is no
// stub elsewhere.
func TestStubPageStart(t *testing.T) {
	stub := insns(0xd503245f, 0x90000110, 0xf9400211, 0xd503201f, 0xd61f0220, 0xd503201f) // objdump: bti c; adrp x16; ldr x17, [x16]; nop; br x17; nop
	for off := uint64(0); off < 5*size; off += size {
		if n, ok := stubFrame(stub, 0x750, 0x750+off); !ok || n != 0 {
			t.Errorf("+%d: %d, %v", off, n, ok)
		}
	}
	if row, out := Machine.ReadEpilogue(stub[size:], 0x754); out&arch.TearsDown == 0 || row.Format(Arch.RegName) != "CFA=sp RA=same FP=same in-prologue" {
		t.Errorf("behind its bti: %s, %v", row.Format(Arch.RegName), out)
	}
	if _, ok := stubFrame(stub, 0x750, 0x750+5*size); ok {
		t.Error("the padding behind it is part of it")
	}
	for _, other := range [][]byte{stub[3*size:], insns(0x90000110, 0xf9400611, 0xd503201f, 0xd61f0220)} { // nop; br x17, and a slot 8 bytes on
		if inStub(other) {
			t.Errorf("%x is taken for a stub", other)
		}
	}
}

// TestSkipPrologue: the prologue ends where gdb, which has no line table, puts a
// breakpoint; but gdb counts what stores arguments on the stack, too, and stops at
// what it does not know: large frames, scheduled instructions. Ubuntu's compilers, unless told not to, have
// prologues touch the pages of a large frame, where each of the two ends it elsewhere.
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
		return fmt.Sprintf("r%d (%s)", r.Num, strings.Replace(r.Name, "d", "v", 1))
	})
}
