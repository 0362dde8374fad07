package command

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Rows of symbol files and of SFrame that we make are true where gcc's table is not: at each
// instruction of functions into which gcc has put thunks, and of their callers. The oracle is the
// processor: at a function's first instruction, its return address is at SP.
func TestThunkRows(t *testing.T) {
	for variant, flags := range [][]string{nil, {"-fno-omit-frame-pointer"}, {"-O0", "-mharden-sls=all"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			gdbtest.Share(t, variant)
			program := gdbtest.Build(t, "returns.c", append([]string{"-O2", "-fno-builtin", "-no-pie",
				"-mindirect-branch=thunk-inline", "-mfunction-return=thunk-inline", "-fcf-protection=none"}, flags...)...)
			dir := t.TempDir()
			symbols, section := filepath.Join(dir, "sym"), filepath.Join(dir, "sframe")
			if _, stderr, err := commandtest.Run("symbols", "dump", program, "-o", symbols); err != nil {
				t.Fatal(err, stderr)
			}
			if _, stderr, err := commandtest.Run("sframe", "gen", program, "-o", section); err != nil {
				t.Fatal(err, stderr)
			}
			cfi, sframes := cfiRows(t, symbols), sframeRows(t, section)
			all := functionsOf(t, program)
			var open []enteredFunction
			byCFI, bySFrame := 0, 0
			for _, s := range gdbtest.RecordSteps(t, program, []string{"all"}, 4000).States {
				pc, sp := s.Regs[16], s.Regs[7]
				f := slices.IndexFunc(all, func(f codeRange) bool { return pc >= f.lo && pc < f.hi })
				entered := f >= 0 && pc == all[f].lo
				for len(open) > 0 && (sp > open[len(open)-1].sp || entered && sp == open[len(open)-1].sp) {
					open = open[:len(open)-1]
				}
				if entered {
					open = append(open, enteredFunction{all[f], sp})
				}
				if len(open) == 0 || f < 0 || all[f] != open[len(open)-1].codeRange {
					continue // in a library
				}
				now := func() *machine {
					return &machine{&s, pc, map[string]uint64{"$rsp": sp, "$rbp": s.Regs[6], "$rbx": s.Regs[3], "$r10": s.Regs[10],
						"$r12": s.Regs[12], "$r13": s.Regs[13]}}
				}
				byCFI += now().unwind(t, cfi, open)
				if entered { // sniffers that use SFrame read the code of a thunk
					bySFrame += now().unwind(t, sframes, open)
				}
				if t.Failed() {
					return
				}
			}
			if byCFI < 300 || bySFrame < 20 {
				t.Errorf("%d frames by the symbol file, %d by SFrame", byCFI, bySFrame)
			}
			t.Logf("%d frames by the symbol file, %d by SFrame", byCFI, bySFrame)
		})
	}
}

type codeRange struct{ lo, hi uint64 }

// enteredFunction is a function that has been entered with a stack pointer.
type enteredFunction struct {
	codeRange
	sp uint64
}

// functionsOf returns the functions of a program.
func functionsOf(t *testing.T, program string) (list []codeRange) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			list = append(list, codeRange{s.Value, s.Value + s.Size})
		}
	}
	return list
}

// rowsOf returns the CFA and PREVIOUS's registers by the row of an address; ok is false if there is
// none.
type rowsOf func(m *machine, at uint64) (cfa uint64, previous map[string]uint64, ok bool)

// machine is what is known of a frame.
type machine struct {
	memory *gdbtest.StepState
	pc     uint64
	regs   map[string]uint64
}

func (m *machine) Register(name string) (v uint64, ok bool) {
	v, ok = m.regs[name]
	return v, ok
}

func (m *machine) Word(addr uint64) (uint64, error) {
	b := make([]byte, 8)
	_, err := m.memory.ReadMemory(addr, b)
	v := uint64(0)
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v, err
}

// unwind goes outward by rows, and compares with the functions that were entered. It returns how
// many frames it has found.
func (m *machine) unwind(t *testing.T, rows rowsOf, open []enteredFunction) (n int) {
	t.Helper()
	innermost := m.pc
	for at := m.pc; len(open) > 0; at = m.pc - 1 {
		f := open[len(open)-1]
		cfa, previous, ok := rows(m, at)
		if !ok {
			break
		}
		ra, _ := m.Word(f.sp)
		switch own := previous[".ra"] >= f.lo && previous[".ra"] < f.hi && cfa < f.sp; {
		case own: // in a thunk that was called
		case cfa != f.sp+8 || previous[".ra"] != ra:
			t.Errorf("%#x, frame at %#x: CFA %#x, return address %#x, want %#x, %#x",
				innermost, at, cfa, previous[".ra"], f.sp+8, ra)
			return n
		default:
			n, open = n+1, open[:len(open)-1]
		}
		m.pc, previous["$rsp"] = previous[".ra"], cfa
		m.regs = previous
	}
	return n
}

// cfiRows returns the rows of a symbol file.
func cfiRows(t *testing.T, path string) rowsOf {
	t.Helper()
	f, err := breakpad.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	const load = 0x400000 // of programs that are not position-independent
	return func(m *machine, at uint64) (uint64, map[string]uint64, bool) {
		found, err := f.CFI(at - load)
		if err != nil || found == nil {
			t.Fatalf("%#x: %v", at, err)
		}
		rules := map[string]breakpad.Expr{}
		texts := []string{found.Rules}
		for _, c := range found.Changes {
			if c.Address <= at-load {
				texts = append(texts, c.Rules)
			}
		}
		for _, text := range texts {
			list, err := breakpad.ParseRules(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				rules[r.Register] = r.Expr
			}
		}
		cfa, err := rules[breakpad.CFA].Eval(m, 64)
		if err != nil {
			t.Fatalf("%#x: %v", at, err)
		}
		m.regs[breakpad.CFA] = cfa
		previous := map[string]uint64{}
		for name, v := range m.regs {
			if name[0] == '$' {
				previous[name] = v
			}
		}
		for name, x := range rules {
			if v, err := x.Eval(m, 64); err == nil {
				previous[name] = v
			}
		}
		return cfa, previous, true
	}
}

// sframeRows returns the rows of a file's SFrame, which some functions lack.
func sframeRows(t *testing.T, path string) rowsOf {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	sections, err := object.Read(f, about.Size())
	if err != nil || len(sections) != 1 {
		t.Fatal(len(sections), err)
	}
	return func(m *machine, at uint64) (cfa uint64, previous map[string]uint64, ok bool) {
		row, err := sections[0].Find(at)
		if err != nil || row.CFA.Kind != sframe.RuleInReg || row.CFA.Reg != 6 && row.CFA.Reg != 7 {
			return 0, nil, false
		}
		cfa = m.regs[map[uint16]string{6: "$rbp", 7: "$rsp"}[row.CFA.Reg]] + uint64(int64(row.CFA.Off))
		ra, _ := m.Word(cfa - 8)
		previous = map[string]uint64{".ra": ra, "$rbp": m.regs["$rbp"]}
		if row.FP.Kind == sframe.RuleSaved {
			previous["$rbp"], _ = m.Word(cfa + uint64(int64(row.FP.Off)))
		}
		return cfa, previous, true
	}
}
