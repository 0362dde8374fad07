package gopclntab

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// architectures are the architectures that the test program is built for. They have 32 and 64 bits,
// both byte orders, and instruction sizes from 1, 2 and 4 bytes.
var architectures = []string{"amd64", "arm64", "s390x", "mips"}

// program is a Go program with its table and symbols.
type program struct {
	path    string
	file    *elf.File
	table   *Table
	symbols map[string]elf.Symbol
}

// build builds testdata/prog with the go command.
func build(t testing.TB, arch string, flags ...string) *program {
	t.Helper()
	tool := gdbtest.Tool(t, "go")
	out := filepath.Join(t.TempDir(), "prog")
	c := exec.Command(tool, append(append([]string{"build"}, flags...), "-o", out, "./testdata/prog")...)
	c.Env = append(os.Environ(), "GOARCH="+arch, "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=")
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, msg)
	}
	return open(t, out)
}

// open opens a program and its table, which symbols locate.
func open(t testing.TB, path string) *program {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	p := &program{path: path, file: f, symbols: make(map[string]elf.Symbol)}
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		p.symbols[s.Name] = s
	}
	if p.table, err = Open(p.from(t, "runtime.pclntab"), p.symbols["runtime.text"].Value); err != nil {
		t.Fatal(err)
	}
	p.table.FuncData = bytes.NewReader(p.from(t, "go:func.*"))
	return p
}

// from returns the bytes from a symbol to the end of its section.
func (p *program) from(t testing.TB, name string) []byte {
	t.Helper()
	s, ok := p.symbols[name]
	if !ok {
		t.Fatalf("%s has no symbol %s", p.path, name)
	}
	section := p.file.Sections[s.Section]
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data[s.Value-section.Addr:]
}

// functions returns the functions of the table.
func (p *program) functions(t testing.TB) (list []Func) {
	t.Helper()
	for i := range p.table.Len() {
		if f, ok := p.table.Func(i); ok {
			list = append(list, f)
		}
	}
	if len(list) < 900 {
		t.Fatalf("%d functions", len(list))
	}
	return list
}

// each runs a test for each architecture.
func each(t *testing.T, test func(t *testing.T, p *program)) {
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) { test(t, build(t, arch)) })
	}
}
