//go:build linux

package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// processMemory reads a process's memory, without stopping it.
type processMemory struct{ *os.File }

func (m processMemory) ReadMemory(addr uint64, p []byte) (int, error) {
	n, err := m.ReadAt(p, int64(addr))
	if err != nil {
		err = fmt.Errorf("%w: %w", target.ErrUnmapped, err)
	}
	return n, err
}

// processModules makes the module list of a running process.
func processModules(t testing.TB, pid int) *target.Modules {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d", pid)
	text, err := os.ReadFile(proc + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(proc + "/mem")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	maps := make(map[string][]target.Mapping)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.HasPrefix(f[5], "/") && f[5] != "[vdso]" {
			continue
		}
		var m target.Mapping
		fmt.Sscanf(f[0], "%x-%x", &m.Lo, &m.Hi)
		fmt.Sscanf(f[2], "%x", &m.Offset)
		m.Exec = f[1][2] == 'x'
		maps[f[5]] = append(maps[f[5]], m)
	}
	var modules []*target.Module
	for name, maps := range maps {
		modules = append(modules, target.NewModule(name, maps, func() (*elf.Image, error) {
			if name == "[vdso]" {
				return elf.OpenMapped(processMemory{mem}, maps[0].Lo, maps[len(maps)-1].Hi-maps[0].Lo)
			}
			im, f, err := elf.OpenFile(name)
			if err == nil {
				t.Cleanup(func() { f.Close() })
			}
			return im, err
		}))
	}
	return target.NewModules(modules, nil)
}

// Stacks of running programs have the functions, files and lines that gdb has,
// inlined calls included.
func TestStacks(t *testing.T) {
	for _, test := range []struct {
		source string
		flags  []string
		inline bool
	}{
		{"inline.c", gdbtest.Plain, true},
		{"mix.c", append(gdbtest.Plain, "-mavx2"), true},
		{"cxxwait.cc", []string{"-g", "-O2"}, false},
	} {
		p := gdbtest.Start(t, gdbtest.Build(t, test.source, test.flags...))
		threads := gdbtest.Backtrace(t, p.PID)
		ms := processModules(t, p.PID)
		s := New(Options{})
		compared, inlined := 0, 0
		for _, thread := range threads {
			var group []gdbtest.Frame
			exact := true // the PC is where the frame runs, not a return address
			for _, f := range thread.Frames {
				group = append(group, f)
				if f.Type == "inline" {
					continue
				}
				if f.Type == "normal" {
					pc := f.PC
					if !exact {
						pc--
					}
					got := ownNames(s.Locate(ms, pc))
					var ours, theirs []string
					for _, l := range got {
						ours = append(ours, fmt.Sprintf("%s at %s:%d", strings.TrimSuffix(l.Function, "@plt"), l.File, l.Line))
					}
					for _, f := range group {
						theirs = append(theirs, fmt.Sprintf("%s at %s:%d", strings.TrimSuffix(f.Function, "@plt"), f.File, f.Line))
					}
					if fmt.Sprint(ours) != fmt.Sprint(theirs) {
						t.Errorf("%s, thread %s, %#x: %q, gdb says %q", test.source, thread.Name, f.PC, ours, theirs)
					}
					compared++
					inlined += len(group) - 1
				}
				exact = f.Type == "sigtramp"
				group = nil
			}
		}
		if compared < 3 || test.inline && inlined < 3 {
			t.Errorf("%s: %d frames and %d inlined calls compared", test.source, compared, inlined)
		}
		s.Close()
	}
}

// The vDSO's functions are named, from memory.
func TestVDSO(t *testing.T) {
	ms := processModules(t, os.Getpid())
	for _, m := range ms.All() {
		if m.Path != "[vdso]" {
			continue
		}
		im, bias, err := m.Image()
		if err != nil {
			t.Fatal(err)
		}
		file, err := im.Standard()
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := file.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		s := New(Options{})
		seen := 0
		for _, sym := range symbols {
			if sym.Size == 0 || !strings.Contains(sym.Name, "gettimeofday") {
				continue
			}
			seen++
			l := s.Locate(ms, sym.Value+bias+1)[0]
			if l.Offset != 1 || !strings.Contains(l.Function, "gettimeofday") || l.Module != m {
				t.Errorf("%s: %+v", sym.Name, l)
			}
		}
		if seen == 0 {
			t.Error("no gettimeofday")
		}
		return
	}
	gdbtest.Cannot(t, "this kernel maps no vDSO")
}

// addr2line has the same chains of inlined calls.
func TestAddr2line(t *testing.T) {
	dir := sources(t)
	for _, file := range []string{
		compile(t, dir, "cc", "calls.c", "-O2", "-g", "-Iinc", "-no-pie"),
		compile(t, dir, "c++", "names.cc", "-std=c++17", "-O2", "-g", "-no-pie"),
	} {
		addresses := textAddresses(t, file, ".text", 5)
		var in strings.Builder
		for _, a := range addresses {
			fmt.Fprintf(&in, "%#x\n", a)
		}
		c := exec.Command(gdbtest.Tool(t, "addr2line"), "-a", "-i", "-f", "-e", file)
		c.Stdin = strings.NewReader(in.String())
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		ms, _ := mapped(t, file)
		s := New(Options{})
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		chains, same := 0, 0
		for i := 0; i < len(lines); {
			var addr uint64
			fmt.Sscanf(lines[i], "0x%x", &addr)
			var theirs []string
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "0x"); i += 2 {
				name := demangleFunction(lines[i])
				if j := strings.LastIndex(name, "::"); j >= 0 {
					name = name[j+2:]
				}
				place, _, _ := strings.Cut(lines[i+1], " (discriminator")
				theirs = append(theirs, name+" "+filepath.Base(place))
			}
			if len(theirs) < 2 || strings.HasSuffix(theirs[0], ":?") {
				continue
			}
			var ours []string
			for _, l := range s.Locate(ms, addr) {
				name := l.Function
				if j := strings.LastIndex(name, "::"); j >= 0 {
					name = name[j+2:]
				}
				ours = append(ours, fmt.Sprintf("%s %s:%d", name, filepath.Base(l.File), l.Line))
			}
			if chains++; fmt.Sprint(ours) == fmt.Sprint(theirs) {
				same++
			} else if len(ours) != len(theirs) || fmt.Sprint(ours[1:]) != fmt.Sprint(theirs[1:]) && strings.HasSuffix(file, ".c") {
				t.Errorf("%s: %#x: %q, addr2line says %q", file, addr, ours, theirs)
			}
		}
		t.Logf("%s: %d chains, %d the same", file, chains, same)
		// The innermost line may differ: addr2line does not care for is_stmt.
		if chains < 30 || same < chains*2/3 {
			t.Errorf("%s: %d chains, %d of them the same", file, chains, same)
		}
	}
}

// Many goroutines may ask at once, before anything is loaded.
func TestConcurrent(t *testing.T) {
	file := compile(t, sources(t), "c++", "names.cc", "-std=c++17", "-O2", "-g")
	ms, bias := mapped(t, file)
	addresses := textAddresses(t, file, ".text", 17)
	alone := New(Options{})
	var want []string
	for _, a := range addresses {
		want = append(want, fmt.Sprint(alone.Locate(ms, a+bias)))
	}
	s := New(Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, a := range addresses {
				if got := fmt.Sprint(s.Locate(ms, a+bias)); got != want[i] {
					t.Errorf("%#x: %s, want %s", a, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

// An address that is not mapped, or whose module has no file, still has a Location.
func TestNothingKnown(t *testing.T) {
	m := target.NewModule("/gone", []target.Mapping{{Lo: 0x1000, Hi: 0x2000, Exec: true}}, nil)
	ms := target.NewModules([]*target.Module{m}, nil)
	s := New(Options{})
	if got := s.Locate(ms, 0x1800); len(got) != 1 || got[0] != (Location{Module: m}) {
		t.Errorf("no file: %+v", got)
	}
	if w := s.Warnings(m); len(w) != 1 {
		t.Errorf("no file: warnings %v", w)
	}
	if got := s.Locate(ms, 0x5000); len(got) != 1 || got[0] != (Location{}) {
		t.Errorf("not mapped: %+v", got)
	}
}

// SymbolsOnly leaves lines and inlined calls out.
func TestSymbolsOnly(t *testing.T) {
	file := compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc")
	ms, bias := mapped(t, file)
	s := New(Options{SymbolsOnly: true})
	for _, a := range addressesOf(t, file, 1, func(name string) bool { return name == "calls_split" }) {
		if got := s.Locate(ms, a+bias); len(got) != 1 || got[0].Function != "calls_split" || got[0].Line != 0 || got[0].Args != ArgsUnknown {
			t.Fatalf("%#x: %+v", a, got)
		}
	}
}
