//go:build linux

package s390x

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// breakpoints returns where gdb puts a breakpoint on each function of file,
// which has no line table: behind what its own prologue analysis understands.
func breakpoints(t *testing.T, file string, functions []elf.Symbol) map[uint64]uint64 {
	t.Helper()
	gdb := gdbtest.Tool(t, "gdb-multiarch")
	var script strings.Builder
	script.WriteString("set pagination off\nset debuginfod enabled off\n")
	for _, f := range functions {
		fmt.Fprintf(&script, "echo function %#x\\n\nbreak %s\n", f.Value, f.Name)
	}
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	at := map[uint64]uint64{}
	function := uint64(0)
	answer := regexp.MustCompile(`^Breakpoint \d+ at 0x([0-9a-f]+)`)
	lines(t, func(line string) {
		if s, ok := strings.CutPrefix(line, "function 0x"); ok {
			function = parseHex(t, s)
		} else if m := answer.FindStringSubmatch(line); m != nil {
			at[function] = parseHex(t, m[1])
		}
	}, gdb, "-nx", "-batch", "-x", name, file)
	return at
}

// TestSkipPrologue: the prologue ends where gdb says, but that gdb counts
// whatever sets r11 or makes room by alloca, goes on behind branches that it does
// not know, and knows only stores as a way to save a register.
func TestSkipPrologue(t *testing.T) {
	gdbOnly := regexp.MustCompile(`^(\S+\s+%r11,|sgr\s+%r15,)`)
	oursOnly := regexp.MustCompile(`^(ldgr\s|std\s+%f(8|9|1.),|std\s+%f\d,0\(%r15\))`)
	for _, flags := range []string{"-O0", "-O0 -mbackchain", "-O2 -mbackchain", "-O2 -fno-omit-frame-pointer", "-O2", "-Os -march=z13"} {
		file := compile(t, strings.Fields(flags)...)
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		symbols = slices.DeleteFunc(symbols, func(s elf.Symbol) bool {
			return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || strings.Contains(s.Name, ".")
		})
		theirs := breakpoints(t, file, symbols)
		pcs, text := readBoundaries(t, file)
		im := openImage(t, file)
		equal, moved := 0, 0
		for _, s := range symbols {
			code, _ := im.code(t, s.Value, s.Value+s.Size, 0)
			ours, gdb := skipPrologue(code, s.Value), theirs[s.Value]
			if ours != s.Value {
				moved++
			}
			// What stands before the later end made the difference.
			i, ok := slices.BinarySearch(pcs, max(ours, gdb))
			last := ""
			if ok && i > 0 {
				last = text[pcs[i-1]]
			}
			switch {
			case ours == gdb:
				equal++
			case ours < gdb && gdbOnly.MatchString(last), ours > gdb && oursOnly.MatchString(last):
			default:
				t.Errorf("%s: %s at %#x: the prologue ends at %#x, gdb says %#x: %s", flags, s.Name, s.Value, ours, gdb, last)
			}
		}
		t.Logf("%s: %d of %d equal, %d have a prologue", flags, equal, len(symbols), moved)
		if equal*2 < len(symbols) || strings.HasPrefix(flags, "-O0") && equal*10 < len(symbols)*9 || moved*10 < len(symbols)*8 {
			t.Errorf("%s: only %d of %d equal, %d have a prologue", flags, equal, len(symbols), moved)
		}
	}
}
