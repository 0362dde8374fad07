package goroutine

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
)

// The code refers to the addresses that the symbol table has.
func TestReferences(t *testing.T) {
	const slid = 0x5500_0000_0000 // the load bias of the module
	for _, goarch := range []string{"amd64", "arm64", "s390x"} {
		path := gdbtest.Build(t, "delvego", "GOARCH="+goarch)
		m, a := walktest.Map(path, walktest.Open(t, path), slid), arch.ByName(goarch)
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
		table, _, err := goruntime.Table(m)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]string{
			"runtime.allgadd":           {"runtime.allglock", "runtime.allgs"},
			"runtime.waitReason.String": {"runtime.waitReasonStrings"},
		} {
			got := slices.Collect(references(m, a, named(table, []string{name}), []string{name}))
			for _, x := range data {
				if want[x] == 0 || !slices.Contains(got, want[x]+slid) {
					t.Errorf("%s: %s refers to %#x; %s is at %#x", goarch, name, got, x, want[x]+slid)
				}
			}
		}
	}
}
