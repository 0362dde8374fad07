package jit

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// Each module that makes code has a list of its own, found by its symbol table or, where it
// is stripped, by its dynamic one; nm has the same addresses.
func TestDescriptors(t *testing.T) {
	var modules []*target.Module
	var want []string
	for i, flags := range [][]string{{"-O2"}, {"-O2", "-rdynamic", "-s"}, {"-O2", "-s"}, {"-O2", "-shared", "-fPIC"}} {
		path := gdbtest.Build(t, "registers.c", flags...)
		bias := uint64(i+1) << 32
		modules = append(modules, walktest.Map(path, walktest.Open(t, path), bias))
		for _, table := range []string{"--dynamic", "--debug-syms"} {
			out, _ := exec.Command(gdbtest.Tool(t, "nm"), table, path).Output() // fails where there are no symbols
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
		if m.Opened() {
			t.Errorf("%s was used", m.Path)
		}
	}
}
