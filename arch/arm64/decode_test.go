package arm64

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// eachInstruction calls f with each instruction of a file's code, and objdump's text of it.
func eachInstruction(t *testing.T, file string, f func(code []byte, at int, pc uint64, text string)) {
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
	eachInstruction(t, crossLibrary(t, "libc.so.6"), func(code []byte, at int, pc uint64, text string) {
		o, ops := decode(code, at, nil)
		name, args, _ := strings.Cut(text, "\t")
		flow, isBranch := dataflow.Next, true
		switch {
		case name == "b", name == "b.al":
			flow = dataflow.Jump
		case name == "b.ne":
			flow = dataflow.BranchNE
		case strings.HasPrefix(name, "b."), name == "cbz", name == "cbnz", name == "tbz", name == "tbnz":
			flow = dataflow.Branch
		case name == "bl", name == "blr":
			flow = dataflow.Call
		case name == "br", name == "ret":
			flow = dataflow.To
		case name == "udf", strings.HasPrefix(name, ".word"), strings.HasPrefix(name, ".inst"):
			return
		case name == "brk":
			flow = dataflow.Stop
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
		r := dataflow.None
		switch n, err := strconv.Atoi(m[3]); {
		case m[2] == "s" && m[3] == "p":
			r = rsp
		case err != nil:
			return
		case m[2] == "x" || m[2] == "w":
			r = dataflow.Reg(n)
		default:
			r = v0 + dataflow.Reg(n)
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
	for w, r := range map[uint32]dataflow.Reg{
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
func written(in *dataflow.Inst, ops []dataflow.Op) dataflow.Set {
	set := in.Kill
	for _, o := range ops {
		if o.Kind != dataflow.Compare {
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
