package gopclntab_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// releaseTable opens the table of a program in testdata/releases.
func releaseTable(t *testing.T, name string) *gopclntab.Table {
	t.Helper()
	f, err := os.Open("testdata/releases/" + name + ".xz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var data []byte
	r, err := xz.NewReader(f)
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var maps []target.Mapping
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD {
			maps = append(maps, target.Mapping{Lo: p.Vaddr, Hi: p.Vaddr + p.Memsz, Offset: p.Off, Exec: p.Flags&elf.PF_X != 0})
		}
	}
	table, _, err := goruntime.Table(target.NewModule(name, maps, func() (*elfimage.Image, error) { return im, nil }))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Tables of other releases agree with the output of those releases' own runtimes and compilers.
func TestReleases(t *testing.T) {
	for name, version := range map[string]gopclntab.Version{
		"go1.15": gopclntab.Go12, "go1.17": gopclntab.Go116, "go1.19": gopclntab.Go118,
		"go1.21": gopclntab.Go120, "go1.26": gopclntab.Go120, // the header without text's start
	} {
		t.Run(name, func(t *testing.T) {
			table := releaseTable(t, name)
			if table.Version != version {
				t.Fatalf("version %d, want %d", table.Version, version)
			}
			functions := make(map[string]gopclntab.Func)
			for i := range table.Len() {
				if f, ok := table.Func(i); ok {
					functions[f.Name()] = f
				}
			}
			base := functions["main.base"].Lo
			text, err := os.Open("testdata/releases/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			defer text.Close()
			counts := make(map[string]int)
			next := base // the address that the line before holds up to
			var said string
			for lines := bufio.NewScanner(text); lines.Scan(); {
				kind, rest, _ := strings.Cut(lines.Text(), " ")
				counts[kind]++
				var offset uint64
				switch kind {
				case "line":
					fmt.Sscan(rest, &offset)
					for ; said != "" && next < base+offset; next++ {
						got := lineOf(table, next)
						// Since Go 1.17 the runtime leaves names of functions in a second module
						// empty. It takes the last byte before a function for a part of that
						// function.
						if strings.HasPrefix(said, " ") {
							_, got, _ = strings.Cut(got, " ")
							got = " " + got
						}
						if f, ok := table.Find(next + 1); got != said && (!ok || f.Lo != next+1) {
							t.Fatalf("%#x: %s, the runtime says %s", next-base, got, said)
						}
					}
					_, said, _ = strings.Cut(rest, " ")
					next = base + offset
				case "stack":
					fmt.Sscan(rest, &offset)
					f, _ := table.Find(base + offset)
					var got []string
					for _, c := range f.Inlined(base + offset) {
						got = append(got, fmt.Sprintf("%s %s:%d", c.Function, c.File, c.Line))
					}
					_, want, _ := strings.Cut(rest, " ")
					if !strings.HasPrefix(want+" ", strings.Join(got, " ")+" main.main ") || len(got) == 0 {
						t.Errorf("%#x: %q, the runtime says %s", offset, got, want)
					}
				case "frame":
					var function string
					var size, locals uint64
					fmt.Sscanf(rest, "%s %d %x", &function, &size, &locals)
					f, ok := functions[function]
					if !ok {
						counts[kind]-- // the linker left it out: it is inlined everywhere
						continue
					}
					checkFrame(t, f, size, int64(locals))
				}
			}
			if counts["line"] < 40 || counts["stack"] != 3 || counts["frame"] < 4 {
				t.Errorf("the fixture has %v", counts)
			}
		})
	}
}

// lineOf returns the innermost function, the file and the line, as the oracle has them.
func lineOf(table *gopclntab.Table, pc uint64) string {
	f, ok := table.Find(pc)
	if !ok {
		return "none"
	}
	file, line, ok := f.Line(pc)
	if !ok {
		file = "?"
	}
	return fmt.Sprintf("%s %s:%d", f.Inlined(pc)[0].Function, file, line)
}

// checkFrame checks that the deltas of a function begin with 0, reach its frame's size,
// and are known for its whole code, no less and no more.
func checkFrame(t *testing.T, f gopclntab.Func, size uint64, frame int64) {
	t.Helper()
	largest := int64(-1)
	for pc := f.Lo; pc < f.Hi; pc++ {
		delta, _, _, ok := f.SPDelta(pc)
		if ok != (pc < f.Lo+size) {
			t.Fatalf("%s+%#x of %#x: delta %d, %t", f.Name(), pc-f.Lo, size, delta, ok)
		}
		if pc == f.Lo && delta != 0 {
			t.Errorf("%s begins with delta %d", f.Name(), delta)
		}
		largest = max(largest, int64(delta))
	}
	if largest != frame {
		t.Errorf("%s has deltas up to %d, the compiler's frame has %d bytes", f.Name(), largest, frame)
	}
}
