//go:build linux

package command

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// TestMoreContainersAsGDB compares containers of other elements, and broken ones, with what libstdc++'s printers for gdb make of them.
func TestMoreContainersAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	for variant, source := range []string{"morecontainers.cc", "brokencontainers.cc"} {
		t.Run(source, func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts tally
			localsAsGDB(t, gdbtest.Build(t, source, "-g", "-O0", "-std=c++20"), "", &counts, nil, gdbtest.WithScripts())
			counts.log(t)
		})
	}
}
