package rowtest

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// A Processor is a processor whose reader of code is tested.
type Processor struct {
	Machine *dataflow.Machine
	Arch    *arch.Arch
	CC      string   // its compiler
	Objdump []string // and its objdump, with arguments
	Entry   string   // the CFA at a function's entry, as readelf has it: "rsp+8"
	Call    string   // how objdump begins a call: "call"
	// LeaveOut says why a function cannot be compared, given its instructions by objdump; "" if it
	// can.
	LeaveOut func(f *FDE, lines []string) (why string)
	Padding  func(in *Instruction) bool // it is never run
	Returns  func(in *Instruction) bool // it returns to the caller
	// Differs says where a row is wrong that was read in state s: in what every frame needs, and
	// in other registers. unlike is true where its CFA cannot be compared.
	Differs func(s *dataflow.State, row *trad.Row, want *Row, f *FDE) (bad, other []string, unlike bool)
	// Unwound says that the CFA at each return is Entry: a table that says otherwise is wrong.
	Unwound bool
	// Refutes, if any, reports whether the code refutes a table that a difference in another
	// register is about.
	Refutes func(f *FDE, difference string, lines []string) bool
}

// Instructions returns the address of each instruction, ascending, and the text of each.
func (p *Processor) Instructions(t testing.TB, file string) (pcs []uint64, text map[uint64]string) {
	t.Helper()
	return Instructions(t, file, p.Objdump[0], p.Objdump[1:]...)
}

// A function is one that a file's tables describe.
type function struct {
	*FDE
	section string
	code    []byte
	pcs     []uint64 // its instructions'
	lines   []string // and their text
}

// functions returns the functions of a file, in the order of its tables, each with up to extra
// bytes more of code.
func (p *Processor) functions(t testing.TB, file string, extra uint64) (list []*function) {
	t.Helper()
	pcs, text := p.Instructions(t, file)
	im := Open(t, file)
	for _, fde := range FDEs(t, file) {
		f := &function{FDE: fde}
		lo, _ := slices.BinarySearch(pcs, f.Lo)
		hi, _ := slices.BinarySearch(pcs, f.Hi)
		if f.code, f.section = im.Code(t, f.Lo, f.Hi, extra); f.code == nil || lo == hi {
			continue
		}
		f.pcs = pcs[lo:hi]
		f.PCs = f.pcs
		for _, pc := range f.pcs {
			f.lines = append(f.lines, text[pc])
		}
		list = append(list, f)
	}
	return list
}

// judgement counts instructions.
type judgement struct{ total, sure int }

// judge compares a row with the oracle's, unless it is a guess.
func (p *Processor) judge(t *testing.T, j *judgement, where string, s *dataflow.State, row trad.Row, pc uint64, f *FDE) {
	t.Helper()
	if row.Flags&trad.Guess != 0 {
		return
	}
	j.sure++
	if bad, other, _ := p.Differs(s, &row, f.At(pc), f); len(bad)+len(other) > 0 || row.Lo != pc {
		t.Errorf("%s: row %s, oracle %v: %v %v", where, row.Format(p.Arch.RegName), *f.At(pc), bad, other)
	}
}

// Split demands for every instruction of functions whose cold part is elsewhere, in either
// part, that a row that is not a guess is right by the compiler's table.
func (p *Processor) Split(t *testing.T, builds ...string) {
	for _, flags := range builds {
		file := filepath.Join(t.TempDir(), "cold.so")
		args := append(strings.Fields(flags), "-DALONE", "-shared", "-nostdlib", "-fPIC", "-freorder-blocks-and-partition", "-o", file, "../../testdata/progs/cold.c")
		if out, err := exec.Command(gdbtest.Tool(t, p.CC), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.CC, err, out)
		}
		addr := addresses(t, file)
		functions := map[uint64]*function{}
		for _, f := range p.functions(t, file, 0) {
			functions[f.Lo] = f
		}
		j := judgement{}
		for name, at := range addr {
			of, ok := strings.CutSuffix(name, ".cold")
			if !ok {
				continue
			}
			hot, cold := functions[addr[of]], functions[at]
			split := arch.NewSplitFunction(hot.code, hot.Lo, cold.code, cold.Lo)
			a := p.Machine.Analyse(split.Code, split, false)
			for _, f := range []*function{hot, cold} {
				for i, pc := range f.pcs {
					text := f.lines[i]
					if strings.Contains(text, "nop") || strings.HasPrefix(text, ".") {
						continue
					}
					where := fmt.Sprintf("%s: %s: %#x %s", flags, name, pc, text)
					j.total++
					row, _, why := p.Machine.ReadSplit(split, pc)
					off, _ := split.Offset(pc)
					s, reached := a.At(off)
					if why != "" || !reached {
						t.Errorf("%s: %s", where, why)
						continue
					}
					p.judge(t, &j, where, s, row, pc, f.FDE)
				}
			}
		}
		if j.total < 100 || j.sure*10 < j.total*9 {
			t.Errorf("%s: %d of %d instructions have a row that is no guess", flags, j.sure, j.total)
		}
	}
}

// addresses returns the addresses of a file's symbols.
func addresses(t *testing.T, file string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addr := map[string]uint64{}
	for _, s := range symbols {
		addr[s.Name] = s.Value
	}
	return addr
}

// Trap replaces each call of a file by bytes that are no instruction, as code that aborts may have:
// by the compiler's table, the state before it is unchanged.
func (p *Processor) Trap(t *testing.T, name, file string, traps ...string) {
	j := judgement{}
	for _, f := range p.functions(t, file, 0) {
		for i, pc := range f.pcs {
			if !strings.HasPrefix(f.section, ".text") || f.Rows[0].CFA != p.Entry || !strings.HasPrefix(f.lines[i], p.Call) {
				continue
			}
			for _, trap := range traps {
				where := fmt.Sprintf("%s: %#x: %q", name, pc, trap)
				trapped := slices.Clone(f.code)
				copy(trapped[pc-f.Lo:], trap)
				a := p.Machine.Analyse(trapped, nil, false)
				j.total++
				row, why := a.Row(f.Lo, int32(pc-f.Lo))
				if why != "" {
					t.Errorf("%s: %s", where, why)
					continue
				}
				s, _ := a.At(int32(pc - f.Lo))
				p.judge(t, &j, where, s, row, pc, f.FDE)
			}
		}
	}
	if j.total < 100 || j.sure*5 < j.total*4 {
		t.Errorf("%s: %d of %d traps have a row that is no guess", name, j.sure, j.total)
	}
}
