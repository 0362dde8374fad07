//go:build linux

package goruntime

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// source is a program. Go's linker links it alone; with C, another linker does.
const source = `package main

%s

//go:noinline
func work(n int) int { return outer(n) }

func outer(n int) int { return inner(n) + 1 }
func inner(n int) int { return n * n }

//export answer
func answer() int { return 42 }

func main() { println(work(len("abc"))) }
`

// build builds the program, with the cgo lines if cgo is not empty.
func build(t *testing.T, cgo string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": fmt.Sprintf(source, cgo), "go.mod": "module prog\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "prog")
	c := exec.Command(gdbtest.Tool(t, "go"), append(append([]string{"build"}, args...), "-o", out)...)
	c.Dir = dir
	enabled := "CGO_ENABLED=0"
	if cgo != "" {
		enabled = "CGO_ENABLED=1"
	}
	c.Env = append(os.Environ(), enabled, "GOFLAGS=", "GOWORK=off")
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, msg)
	}
	return out
}

const bias = 0x5555_0000_0000

// module maps a file as the kernel does.
func module(t testing.TB, path string) *target.Module {
	t.Helper()
	im, slide := walktest.Open(t, path), uint64(0)
	if im.Type == elf.ET_DYN {
		slide = bias
	}
	return mapped(im, slide)
}

func mapped(im *elfimage.Image, slide uint64) *target.Module { return walktest.Map("/prog", im, slide) }

// run is a command that must not fail.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if msg, err := exec.Command(gdbtest.Tool(t, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, msg)
	}
}

// withoutSections takes away the section headers, as sstrip does.
func withoutSections(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[0x28:0x30]) // e_shoff
	clear(data[0x3a:0x40]) // e_shentsize, e_shnum, e_shstrndx
	if err := os.WriteFile(path, data, 0o777); err != nil {
		t.Fatal(err)
	}
}

// symbols returns the addresses of the functions of a file with symbols.
func symbols(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addresses := make(map[string]uint64)
	for _, s := range list {
		addresses[s.Name] = s.Value
	}
	return addresses
}

const (
	useC    = `import "C"`
	staticC = "// static int one(void) { return 1; }\n" + useC + "\n\nvar one = C.one()"
)

// However a program was built and stripped, its functions are found at the addresses that the
// symbols of the whole program give, with their inlined calls.
func TestBuilds(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, test := range []struct {
		name, cgo string
		args      []string
	}{
		{"plain", "", nil},
		{"pie", "", []string{"-buildmode=pie"}},
		{"external", staticC, []string{"-ldflags=-linkmode=external"}},
		{"external-pie", staticC, []string{"-buildmode=pie", "-ldflags=-linkmode=external"}},
		{"internal-cgo", staticC, []string{"-ldflags=-linkmode=internal"}},
		{"c-shared", useC, []string{"-buildmode=c-shared"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole := build(t, test.cgo, test.args...)
			want := symbols(t, whole)
			check(t, "whole", module(t, whole), want)
			if test.cgo == "" { // the Go linker leaves code where it is
				check(t, "-s -w", module(t, build(t, "", append(test.args, "-ldflags=-s -w")...)), want)
			}
			for _, how := range [][]string{{"-g"}, {"-s"}, {"-s", "-R", ".note.go.buildid", "-R", ".go.buildinfo"}} {
				stripped := filepath.Join(t.TempDir(), "prog")
				run(t, "strip", append(how, "-o", stripped, whole)...)
				check(t, "strip "+strings.Join(how, " "), module(t, stripped), want)
				if how[0] == "-s" {
					withoutSections(t, stripped)
					check(t, "without sections", module(t, stripped), want)
				}
			}
		})
	}
}

// check compares a module's table with the symbols of the program that it was made from.
func check(t *testing.T, name string, m *target.Module, want map[string]uint64) {
	t.Helper()
	table, bias, err := Table(m)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if _, b, _ := m.Image(); b != bias {
		t.Errorf("%s: bias %#x, want %#x", name, bias, b)
	}
	found := 0
	for i := range table.Len() {
		f, ok := table.Func(i)
		if !ok {
			continue
		}
		addr, ok := want[f.Name()]
		if other, both := want[f.Name()+".abi0"]; ok && addr != f.Lo && both {
			addr = other
		}
		if ok && addr != f.Lo && !strings.HasPrefix(f.Name(), "_") && strings.Contains(f.Name(), ".") {
			t.Errorf("%s: %s is at %#x, the symbol at %#x", name, f.Name(), f.Lo, addr)
		}
		if ok {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("%s: %d functions are symbols", name, found)
	}
	work, ok := table.Find(want["main.work"])
	if !ok {
		t.Errorf("%s: main.work is not found", name)
		return
	}
	for pc := work.Lo; pc < work.Hi; pc++ {
		var chain []string
		for _, c := range work.Inlined(pc) {
			chain = append(chain, c.Function)
		}
		if slices.Equal(chain, []string{"main.inner", "main.outer", "main.work"}) {
			return
		}
	}
	t.Errorf("%s: main.inner is not inlined in main.work", name)
}

// Without the runtime's own description, the table is used if another source gives the address
// where its text begins, and refused if that would be a guess.
func TestWithoutModuleData(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, test := range []struct {
		name  string
		cgo   string
		args  []string
		strip bool
		ok    bool
	}{
		{"symbols", "", nil, false, true},
		{"entry point", "", nil, true, true},
		{"symbols, linked by another", staticC, []string{"-ldflags=-linkmode=external"}, false, true},
		{"linked by another", staticC, []string{"-ldflags=-linkmode=external"}, true, false},
	} {
		path := build(t, test.cgo, test.args...)
		want := symbols(t, path)
		if test.strip {
			run(t, "strip", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		clear(data[f.Section(".go.module").Offset:][:8])
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		table, _, err := Table(mapped(im, 0))
		if !test.ok {
			if errors.Is(err, ErrNotGo) || !errors.Is(err, errTextStart) {
				t.Errorf("%s: error %v, want %v", test.name, err, errTextStart)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if work, ok := table.Find(want["main.work"]); !ok || work.Name() != "main.work" || work.Lo != want["main.work"] {
			t.Errorf("%s: at %#x is %s [%#x, %#x)", test.name, want["main.work"], work.Name(), work.Lo, work.Hi)
		}
	}
}

// A process's memory has the table, too, for a file that cannot be had. There the dynamic linker
// has done the relocations.
func TestMemory(t *testing.T) {
	for _, flags := range [][]string{nil, {"-buildmode=pie"}} {
		path := gdbtest.Build(t, "gotarget", flags...)
		p := gdbtest.StartRunning(t, path)
		mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
		if err != nil {
			t.Fatal(err)
		}
		defer mem.Close()
		file := module(t, path)
		want, _, err := Table(file)
		if err != nil {
			t.Fatal(err)
		}
		base := firstMapping(t, p.PID, path)
		im, err := elfimage.OpenMapped(processMemory{mem}, base, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		fileImage, _, _ := file.Image()
		got, _, err := Table(mapped(im, base-fileImage.Progs[slices.IndexFunc(fileImage.Progs, func(p elf.ProgHeader) bool { return p.Type == elf.PT_LOAD })].Vaddr))
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text || got.Len() != want.Len() || got.Text == 0 || got.FuncData == nil {
			t.Errorf("%q: text %#x, %d functions; the file has %#x, %d", flags, got.Text, got.Len(), want.Text, want.Len())
		}
	}
}

// firstMapping returns where a process has the first page of a file.
func firstMapping(t *testing.T, pid int, path string) (base uint64) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), path) {
			fmt.Sscanf(line, "%x-", &base)
			return base
		}
	}
	t.Fatalf("%s is not mapped:\n%s", path, maps)
	return 0
}

type processMemory struct{ *os.File }

func (m processMemory) ReadMemory(addr uint64, p []byte) (int, error) {
	return m.ReadAt(p, int64(addr))
}

// A C library has no table. It is not read from end to end to find that, and not twice.
func TestC(t *testing.T) {
	f, err := os.ReadFile(gdbtest.Testdata(t, "bin", "plt-v3"))
	if err != nil {
		t.Fatal(err)
	}
	r := &counter{bytes.NewReader(f), 0}
	im, err := elfimage.Open(r, int64(len(f)))
	if err != nil {
		t.Fatal(err)
	}
	m := mapped(im, bias)
	r.n = 0
	for range 2 {
		if _, _, err := Table(m); !errors.Is(err, ErrNotGo) {
			t.Errorf("error %v, want %v", err, ErrNotGo)
		}
	}
	if r.n != 0 {
		t.Errorf("%d bytes of the file were read", r.n)
	}
}

// counter counts the bytes that are read.
type counter struct {
	r *bytes.Reader
	n int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.n += len(p)
	return c.r.ReadAt(p, off)
}
