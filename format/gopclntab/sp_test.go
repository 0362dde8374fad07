package gopclntab

import (
	"bufio"
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// cfaRow is a row of .debug_frame as readelf prints it.
type cfaRow struct {
	pc  uint64
	cfa int64 // from the stack pointer
}

// debugFrame returns readelf's rows of each function of a program, by the function's address.
func debugFrame(t *testing.T, path, sp string) map[uint64][]cfaRow {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "readelf"), "--debug-dump=frames-interp", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	functions := make(map[uint64][]cfaRow)
	var start uint64
	in := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) >= 6 && f[3] == "FDE":
			lo, _, _ := strings.Cut(strings.TrimPrefix(f[5], "pc="), "..")
			if start, err = strconv.ParseUint(lo, 16, 64); err != nil {
				t.Fatal(err)
			}
			in = true
		case len(f) < 2 || !in:
			in = false
		default:
			pc, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil {
				continue // the heading
			}
			off, ok := strings.CutPrefix(f[1], sp)
			cfa, err := strconv.ParseInt(off, 10, 64)
			if !ok || err != nil {
				t.Fatalf("CFA %s at %#x", f[1], pc)
			}
			functions[start] = append(functions[start], cfaRow{pc, cfa})
		}
	}
	return functions
}

// At every address, SPDelta is the stack pointer's distance from the CFA in .debug_frame, less the
// bytes that a call pushes.
func TestSPDelta(t *testing.T) {
	registers := map[string]string{"amd64": "rsp", "arm64": "sp", "s390x": "r15", "mips": "r29"}
	each(t, func(t *testing.T, p *program) {
		arch := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
		pushed := int64(0) // the return address, by the call instruction
		if arch == "amd64" {
			pushed = int64(p.table.PtrSize)
		}
		frames := debugFrame(t, p.path, registers[arch])
		compared, large := 0, false
		for _, f := range p.functions(t) {
			rows := frames[f.Lo]
			if len(rows) == 0 {
				if _, _, _, ok := f.SPDelta(f.Lo); ok && !strings.HasPrefix(f.Name(), "go:") {
					t.Errorf("%s: readelf has no rows", f.Name())
				}
				continue
			}
			for pc := f.Lo; pc < f.Hi; pc += uint64(p.table.Quantum) {
				delta, lo, hi, ok := f.SPDelta(pc)
				if !ok {
					if pc <= rows[len(rows)-1].pc {
						t.Errorf("%#x, %s: no delta", pc, f.Name())
					}
					continue
				}
				if pc < lo || pc >= hi || lo < f.Lo || hi > f.Hi {
					t.Fatalf("%#x: holds for [%#x, %#x) in [%#x, %#x)", pc, lo, hi, f.Lo, f.Hi)
				}
				want := rows[0].cfa
				for _, r := range rows {
					if r.pc <= pc {
						want = r.cfa
					}
				}
				if int64(delta)+pushed != want {
					t.Errorf("%#x, %s: delta %d, readelf says CFA %s%+d", pc, f.Name(), delta, registers[arch], want)
				}
				compared++
				large = large || want > 3000
			}
		}
		if compared < 50000 || !large {
			t.Errorf("%d deltas compared, a large one: %t", compared, large)
		}
	})
}

// Finding a function and its delta is what an unwinder does for each new place.
func TestNoAllocation(t *testing.T) {
	p := build(t, "amd64")
	list := p.functions(t)
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		pc := list[i*7%len(list)].Lo + 1
		i++
		f, ok := p.table.Find(pc)
		if _, _, _, known := f.SPDelta(pc); !ok || !known {
			t.Fatalf("nothing at %#x", pc)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSPDelta(b *testing.B) {
	p := build(b, "amd64")
	list := p.functions(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f := &list[i*31%len(list)]
		pc := (f.Lo + f.Hi) / 2
		found, _ := p.table.Find(pc)
		found.SPDelta(pc)
	}
}

func BenchmarkInlined(b *testing.B) {
	p := build(b, "amd64")
	list := p.functions(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f := &list[i*31%len(list)]
		f.Inlined((f.Lo + f.Hi) / 2)
	}
}
