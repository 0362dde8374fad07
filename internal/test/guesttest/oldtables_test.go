//go:build linux

package guesttest

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestOldTables steps through functions with tables that leave epilogues out, like old compilers'
// tables. gdb has seen the same code with all of its tables.
func TestOldTables(t *testing.T) {
	for variant, s := range []struct {
		name  string
		guest func(*testing.T) *Guest
	}{
		{"arm64/no frame pointer", bare(ARM64, "steps.c", "-O2", "-fno-shrink-wrap", "-fomit-frame-pointer")},
		{"arm64/branch protection", bare(ARM64, "steps.c", "-O2", "-fno-shrink-wrap", "-mbranch-protection=standard")},
		{"s390x/O2", bare(S390X, "steps.c", "-O2", "-fno-shrink-wrap")},
	} {
		t.Run(s.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			t.Parallel()
			g := s.guest(t)
			sp := map[string]uint64{"arm64": 31, "s390x": 15}[g.GOARCH]
			old := gdbtest.OldTables(t, g.Path, sp, 10)
			stepAll(t, g, g.Steps(t, gdbtest.Functions(t, g.Path, "step_")), view{old, []walk{{nil, false, 100}}})
		})
	}
}
