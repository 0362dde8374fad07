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

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
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
	rowtest.Lines(t, func(line string) {
		if s, ok := strings.CutPrefix(line, "function 0x"); ok {
			function = rowtest.ParseHex(t, s)
		} else if m := answer.FindStringSubmatch(line); m != nil {
			at[function] = rowtest.ParseHex(t, m[1])
		}
	}, gdb, "-nx", "-batch", "-x", name, file)
	return at
}

// TestSkipPrologue: the prologue ends where gdb says, but that gdb counts whatever sets r11 or
// makes room by alloca, goes on behind branches that it does not know, and knows only stores as a
// way to save a register. Ubuntu's compilers, unless told not to, have prologues touch the pages of
// a large frame, where each of the two ends it elsewhere.
func TestSkipPrologue(t *testing.T) {
	gdbOnly := regexp.MustCompile(`^(\S+\s+%r11,|sgr\s+%r15,)`)
	unknown := regexp.MustCompile(`^cl?g?[ir]j`) // compare and branch
	oursOnly := regexp.MustCompile(`^(ldgr\s|std\s+%f(8|9|1.),|std\s+%f\d,0\(%r15\))`)
	for _, flags := range []string{"-O0", "-O0 -mbackchain", "-O2 -mbackchain", "-O2 -fno-omit-frame-pointer", "-O2", "-Os -march=z13"} {
		file := processor.Compile(t, frames, append(strings.Fields(flags), "-fno-stack-clash-protection")...)
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
		pcs, text := processor.Instructions(t, file)
		im := rowtest.Open(t, file)
		equal, moved := 0, 0
		for _, s := range symbols {
			code, _ := im.Code(t, s.Value, s.Value+s.Size, 0)
			ours, gdb := Machine.SkipPrologue(code, s.Value), theirs[s.Value]
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
			case ours < gdb && (gdbOnly.MatchString(last) || unknown.MatchString(text[ours])), ours > gdb && oursOnly.MatchString(last):
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

// TestSkipGoPrologue: the check of the stack's limit comes before the frame.
func TestSkipGoPrologue(t *testing.T) {
	const (
		limit = "\xe3\xa0\xd0\x10\x00\x04" // lg %r10,16(%r13)
		check = "\xec\xaf\x00\x63\xa0\x65" // clgrjnl %r10,%r15
		below = "\xe3\xbf\x0f\x00\xff\x71" // lay %r11,-256(%r15)
		large = "\xec\xab\x00\x63\xa0\x65" // clgrjnl %r10,%r11
		save  = "\xe3\xe0\xff\xb8\xff\x24" // stg %r14,-72(%r15)
		lower = "\xe3\xff\x0f\xb8\xff\x71" // lay %r15,-72(%r15)
		again = "\xe3\xe0\xf0\x00\x00\x24" // stg %r14,0(%r15)
	)
	for _, p := range [][]byte{code(limit, check, save, lower, again, ltgrR2), code(limit, below, large, save, lower, again, ltgrR2)} {
		if end, want := Machine.SkipPrologue(p, 0x1000), 0x1000+uint64(len(p))-10; end != want {
			t.Errorf("% x: the prologue ends at %#x, want %#x", p, end, want)
		}
	}
	// lgr %r5,%r14; brasl morestack; j to the entry
	p := code(limit, "\xec\xaf\x00\x11\xa0\x65", save, lower, ltgrR2, "\xe3\xe0\xf0\x00\x00\x04\xa7\xfb\x00\x48", br14, "\xb9\x04\x00\x5e", call, "\xa7\xf4\xff\xe7")
	row, _, why := Machine.ReadFrame(p, 0x1000, 0x1000+24)
	if want := at(-232); why != "" || row.RA != want || row.CFA != in(R15, 232) || row.Flags&trad.Guess != 0 {
		t.Errorf("the frame of a Go function: %s %q", row.Format(Arch.RegName), why)
	}
	for pc := range uint64(len(p)) {
		if row, _, why := Machine.ReadFrame(p, 0x1000, 0x1000+pc); why != "" || row.Flags&trad.Guess != 0 {
			t.Errorf("%d: %s %q", pc, row.Format(Arch.RegName), why)
		}
	}
}
