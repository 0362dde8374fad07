package stacks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSymbols: with a folder of symbol files, a stripped program has the names and lines that gdb
// has for the same program with debug information, wherever it is loaded.
func TestSymbols(t *testing.T) {
	// addr2line 2.40 takes DWARF 5's first file for the one that a header's function is in.
	for _, flags := range [][]string{{"-gdwarf-4", "-O0", "-pie", "-fPIE"}, {"-gdwarf-4", "-O0", "-no-pie"}} {
		t.Run(flags[2], func(t *testing.T) {
			program := gdbtest.Build(t, "chain.c", flags...)
			stripped := filepath.Join(t.TempDir(), filepath.Base(program))
			if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-o", stripped, program).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := make(map[string]gdbtest.Frame) // by function
			with := gdbtest.Start(t, program)
			for _, th := range gdbtest.Backtrace(t, with.PID) {
				for _, f := range th.Frames {
					if f.Module == "" && f.Line > 0 {
						want[f.Function] = f
					}
				}
			}
			if len(want) < 7 {
				t.Fatalf("gdb has %v", want)
			}

			store := commandtest.SymbolStore(t, program, commandtest.FunctionsOfNM)
			without := gdbtest.Start(t, stripped)
			named := 0
			for _, th := range commandtest.Take(t, without.PID, &report.Flags{Choice: sniffers.Choice{SymbolDirs: store}}).Threads {
				for _, f := range th.Frames {
					w, ok := want[f.Function]
					if !ok {
						continue
					}
					named++
					if f.Line != w.Line || filepath.Base(f.File) != filepath.Base(w.File) {
						t.Errorf("%s at %s:%d, gdb has %s:%d", f.Function, f.File, f.Line, w.File, w.Line)
					}
				}
			}
			if named != len(want) {
				t.Errorf("%d frames have names, gdb has %d", named, len(want))
			}
			for _, th := range commandtest.Take(t, without.PID, &report.Flags{}).Threads {
				for _, f := range th.Frames {
					if _, ok := want[f.Function]; ok {
						t.Errorf("%s has a name without symbols", f.Function)
					}
				}
			}
		})
	}
}

// TestSymbolsOfAnother: a symbol file that is of another build is not used, and a warning says so.
func TestSymbolsOfAnother(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-gdwarf-4", "-O0", "-s")
	store := commandtest.SymbolStore(t, program, commandtest.FunctionsOfNM)
	files, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("MODULE Linux x86_64 ABC0 chain\nFUNC 0 ffffff 0 wrong\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, program)
	out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--symbols", store)
	if err != nil || strings.Contains(out, "wrong") || !strings.Contains(stderr, files[0]+": it has the symbols of ABC0") {
		t.Errorf("%v\n%s\n%s", err, out, stderr)
	}
	for dir, want := range map[string]string{files[0]: "want a folder", filepath.Join(store, "none"): "want a folder"} {
		if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--symbols", dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--symbols %s: %v", dir, err)
		}
	}
}

// TestSymbolRows: a program's stacks by STACK CFI alone have gdb's frames, CFAs and registers.
func TestSymbolRows(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer"}, {"-O0"}, {"-O2", "-fno-omit-frame-pointer"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := gdbtest.Build(t, "chain.c", append(flags, "-gdwarf-4", "-static")...)
			p := gdbtest.Start(t, program)
			store := commandtest.SymbolStore(t, program, readelfCFI)
			got := commandtest.Take(t, p.PID, &report.Flags{Explain: true, Choice: sniffers.Choice{SymbolDirs: store, Order: []string{"sigtramp", "breakpad"}}})
			commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
			for _, th := range got.Threads {
				for _, f := range th.Frames[:min(8, len(th.Frames))] {
					if f.Sniffer != "breakpad" {
						t.Errorf("%s was unwound by %q", f.Function, f.Sniffer)
					}
				}
			}
		})
	}
}

// readelfCFI makes STACK CFI records of what readelf says of each row of a program's .eh_frame.
func readelfCFI(t *testing.T, program string, base uint64) (records []breakpad.Record) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "readelf"), "--debug-dump=frames-interp", program)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rule := func(cell string) string { // "rsp+16", "c-8", "s", "u"
		i := strings.LastIndexAny(cell, "+-")
		if i < 0 {
			return ""
		}
		if cell[:i] == "c" {
			return fmt.Sprintf(".cfa %s + ^", strings.TrimPrefix(cell[i:], "+"))
		}
		return fmt.Sprintf("$%s %s +", cell[:i], strings.TrimPrefix(cell[i:], "+"))
	}
	fde := regexp.MustCompile(` FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	var start, end uint64
	var columns []string
	first := false
	for line := range strings.Lines(string(out)) {
		if m := fde.FindStringSubmatch(line); m != nil {
			start, _ = strconv.ParseUint(m[1], 16, 64)
			end, _ = strconv.ParseUint(m[2], 16, 64)
			columns, first = nil, true
			continue
		}
		cells := strings.Fields(line)
		if len(cells) > 1 && cells[0] == "LOC" {
			columns = cells
			continue
		}
		if len(cells) == 0 || len(cells) != len(columns) || end == 0 {
			if strings.Contains(line, " CIE ") {
				end = 0
			}
			continue
		}
		addr, _ := strconv.ParseUint(cells[0], 16, 64)
		text := ".cfa: " + rule(cells[1])
		for i, cell := range cells[2:] {
			name := "$" + columns[i+2]
			if name == "$ra" {
				name = breakpad.RA
			}
			if r := rule(cell); r != "" {
				text += " " + name + ": " + r
			} else if name == breakpad.RA {
				text += " " + name + ": .undef"
			}
		}
		if strings.HasPrefix(text, ".cfa:  ") {
			continue // computed by an expression that readelf does not print
		}
		if first {
			records = append(records, breakpad.StackCFIInit{Address: start - base, Size: end - start, Rules: text})
			first = false
		} else {
			records = append(records, breakpad.StackCFI{Address: addr - base, Rules: text})
		}
	}
	return records
}
