package goruntime

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// slid is the load bias of the modules.
const slid = 0x5500_0000_0000

// openProgram opens a build of testdata/progs/delvego as if it were mapped.
func openProgram(t *testing.T, goarch string, flags ...string) (m *target.Module, a *arch.Arch) {
	t.Helper()
	path := gdbtest.Build(t, "delvego", append([]string{"GOARCH=" + goarch}, flags...)...)
	return walktest.Map(path, walktest.Open(t, path), slid), arch.ByName(goarch)
}

// C programs, and other processors, have no layout.
func TestNoLayout(t *testing.T) {
	m, a := openProgram(t, "amd64", "-ldflags=-s -w")
	if l, ok := FindLayout(m, a); !ok || l.PC != l.SP+8 {
		t.Errorf("layout %+v, %v", l, ok)
	}
	other := *a
	other.Go = nil
	m, _ = openProgram(t, "amd64", "-ldflags=-s -w")
	if l, ok := FindLayout(m, &other); ok {
		t.Errorf("layout %+v for a processor of which nothing is known", l)
	}
}
