package gostack

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/gomodule"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// slid is the load bias of the modules.
const slid = 0x5500_0000_0000

// openProgram opens a build of testdata/progs/delvego as if it were mapped.
func openProgram(t *testing.T, goarch string, flags ...string) (m *target.Module, a *arch.Arch, path string) {
	t.Helper()
	path = gdbtest.Build(t, "delvego", append([]string{"GOARCH=" + goarch}, flags...)...)
	return walktest.Map(path, walktest.Open(t, path), slid), arch.ByName(goarch), path
}

// What the code refers to is where the symbol table has it.
func TestReferences(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64", "s390x"} {
		m, a, path := openProgram(t, goarch)
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.Symbols()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]uint64{}
		for _, s := range symbols {
			want[s.Name] = s.Value
		}
		table, _, err := gomodule.Table(m)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]string{
			"runtime.allgadd":           {"runtime.allglock", "runtime.allgs"},
			"runtime.waitReason.String": {"runtime.waitReasonStrings"},
		} {
			fn, ok := table.Find(want[name])
			if !ok || fn.Name() != name {
				t.Fatalf("%s: at %#x is %s", goarch, want[name], fn.Name())
			}
			got := References(m, a, fn)
			for _, x := range data {
				if want[x] == 0 || !slices.Contains(got, want[x]+slid) {
					t.Errorf("%s: %s refers to %#x; %s is at %#x", goarch, name, got, x, want[x]+slid)
				}
			}
		}
	}
}

// C's programs, and other machines, have no layout.
func TestNoLayout(t *testing.T) {
	m, a, _ := openProgram(t, "amd64", "-ldflags=-s -w")
	if l, ok := FindLayout(m, a); !ok || l.PC != l.SP+8 {
		t.Errorf("layout %+v, %v", l, ok)
	}
	other := *a
	other.Name = "mips"
	m, _, _ = openProgram(t, "amd64", "-ldflags=-s -w")
	if l, ok := FindLayout(m, &other); ok {
		t.Errorf("layout %+v for %s", l, other.Name)
	}
}
