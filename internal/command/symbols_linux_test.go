package command

import (
	"bufio"
	"debug/elf"
	hexadecimal "encoding/hex"
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
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSymbols: with a folder of symbol files, a stripped program has the names and lines that gdb has for the same
// program with debug information, wherever it is loaded.
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

			store := symbolStore(t, program, nmFunctions)
			without := gdbtest.Start(t, stripped)
			named := 0
			for _, th := range take(t, without.PID, &report.Flags{Choice: sniffers.Choice{SymbolDirs: store}}).Threads {
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
			for _, th := range take(t, without.PID, &report.Flags{}).Threads {
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
	store := symbolStore(t, program, nmFunctions)
	files, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("MODULE Linux x86_64 ABC0 chain\nFUNC 0 ffffff 0 wrong\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, program)
	out, stderr, err := command("attach", strconv.Itoa(p.PID), "--symbols", store)
	if err != nil || strings.Contains(out, "wrong") || !strings.Contains(stderr, files[0]+": it has the symbols of ABC0") {
		t.Errorf("%v\n%s\n%s", err, out, stderr)
	}
	for dir, want := range map[string]string{files[0]: "want a folder", filepath.Join(store, "none"): "want a folder"} {
		if _, _, err := command("attach", strconv.Itoa(p.PID), "--symbols", dir); err == nil || !strings.Contains(err.Error(), want) {
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
			store := symbolStore(t, program, readelfCFI)
			got := take(t, p.PID, &report.Flags{Explain: true, Choice: sniffers.Choice{SymbolDirs: store, Order: []string{"sigtramp", "breakpad"}}})
			compare(t, got, gdbtest.Backtrace(t, p.PID))
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

// symbolStore makes a folder with a program's symbol file, which has the records that describe makes.
func symbolStore(t *testing.T, program string, describe func(t *testing.T, program string, base uint64) []breakpad.Record) string {
	t.Helper()
	notes, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(notes), "Build ID: ")
	text, _, _ = strings.Cut(text, "\n")
	id, err := hexadecimal.DecodeString(text)
	if err != nil || len(id) == 0 {
		t.Fatalf("build ID %q: %v", text, err)
	}
	base := uint64(0x400000) // where ld puts programs that are linked for one address
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	if file.Close(); file.Type == elf.ET_DYN {
		base = 0
	}
	module := breakpad.Module{OS: "Linux", Arch: "x86_64", ID: breakpad.BuildIDIdentifier(id), Name: filepath.Base(program)}
	records := append([]breakpad.Record{module}, describe(t, program, base)...)
	var lines []byte
	for _, r := range records {
		if lines, err = r.AppendText(lines); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, '\n')
	}
	inside, err := module.StorePath()
	if err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(store, inside)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, inside), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	return store
}

// nmFunctions makes a program's functions by nm, and their lines by addr2line.
func nmFunctions(t *testing.T, program string, base uint64) (records []breakpad.Record) {
	t.Helper()
	files := make(map[string]int)
	nm, err := exec.Command(gdbtest.Tool(t, "nm"), "-S", "--defined-only", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(nm)) {
		f := strings.Fields(line)
		if len(f) != 4 || !strings.EqualFold(f[2], "t") {
			continue
		}
		start, _ := strconv.ParseUint(f[0], 16, 64)
		size, _ := strconv.ParseUint(f[1], 16, 64)
		records = append(records, breakpad.Func{Address: start - base, Size: size, Name: f[3]})
		for i, where := range addr2line(t, program, start, size) {
			file, number, _ := strings.Cut(where, ":")
			n, err := strconv.Atoi(number)
			if err != nil {
				continue // no line
			}
			if _, ok := files[file]; !ok {
				files[file] = len(files)
				records = append(records, breakpad.SourceFile{Number: files[file], Name: file})
			}
			records = append(records, breakpad.Line{Address: start - base + uint64(i), Size: 1, Line: n, File: files[file]})
		}
	}
	return records
}

// addr2line returns file:line of each address in [start, start+size).
func addr2line(t *testing.T, program string, start, size uint64) []string {
	t.Helper()
	var addrs strings.Builder
	for i := range size {
		fmt.Fprintf(&addrs, "%#x\n", start+i)
	}
	cmd := exec.Command(gdbtest.Tool(t, "addr2line"), "-e", program)
	cmd.Stdin = strings.NewReader(addrs.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		where, _, _ := strings.Cut(lines.Text(), " (discriminator")
		all = append(all, where)
	}
	return all
}
