package jit

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// Each module that makes code has a list of its own. Its symbol table, or if it is stripped its
// dynamic one, tells where; nm has the same addresses.
func TestDescriptors(t *testing.T) {
	var modules []*target.Module
	var want []string
	for i, flags := range [][]string{{"-O2"}, {"-O2", "-rdynamic", "-s"}, {"-O2", "-s"}, {"-O2", "-shared", "-fPIC"}} {
		path := gdbtest.Build(t, "registers.c", flags...)
		bias := uint64(i+1) << 32
		modules = append(modules, walktest.Map(path, walktest.Open(t, path), bias))
		for _, table := range []string{"--dynamic", "--debug-syms"} {
			out, _ := exec.Command(gdbtest.Tool(t, "nm"), table, path).Output() // nm fails if there are no symbols
			var addr uint64
			for line := range strings.Lines(string(out)) {
				if strings.HasSuffix(line, " "+descriptorSymbol+"\n") {
					fmt.Sscanf(line, "%x", &addr)
				}
			}
			if addr != 0 {
				want = append(want, fmt.Sprintf("%s %#x", path, addr+bias))
				break
			}
		}
	}
	modules = append(modules, walktest.Map("/no/jit", walktest.Open(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...)), 9<<32))
	var got []string
	for _, d := range descriptors(target.NewModules(modules, nil)) {
		got = append(got, fmt.Sprintf("%s %#x", d.module.Path, d.addr))
	}
	if len(got) != 3 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("descriptors\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, m := range modules {
		if m.ImageUsed() {
			t.Errorf("%s was used", m.Path)
		}
	}
}

// changing is memory whose list is torn the first times that it is read.
type changing struct {
	memory
	torn int
}

func (c *changing) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr == entriesAt+32 && c.torn > 0 {
		c.torn--
		return 0, target.ErrUnmapped
	}
	return c.memory.ReadMemory(addr, p)
}

// A torn list is read again. If it stays torn, a warning says what is lost.
func TestTornLists(t *testing.T) {
	data := fixture(t)
	for torn := range maxAttempts + 1 {
		mem := process([2]uint64{objectAt, uint64(len(data))}, [2]uint64{objectAt, uint64(len(data))})
		mem[objectAt] = data
		path := gdbtest.Build(t, "registers.c", "-O2", "-static", "-no-pie")
		im := walktest.Open(t, path)
		s := im.Lookup(descriptorSymbol, 1)
		mem[s[0].Addr] = mem[descriptorAt]
		modules := target.NewModules([]*target.Module{walktest.Map(path, im, 0)}, []target.Mapping{{Lo: 1 << 46, Hi: 1 << 47, Exec: true}})
		var warnings []string
		Register(modules, &changing{mem, torn}, amd64.Arch, func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) })
		modules.Find(1 << 46)
		lost := torn == maxAttempts
		if n := len(modules.Registered().Objects); n != 2 && !lost || n != 1 && lost || len(warnings) > 0 != lost {
			t.Errorf("torn %d times: %d objects, warnings %q", torn, n, warnings)
		}
	}
}
