package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// TestPLTGDB stops at every instruction of calls through linkage stubs, the
// dynamic linker's resolver included.
func TestPLTGDB(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{
		{"lazy", append([]string{"-fplt", "-Wl,-z,lazy"}, gdbtest.Plain...)},
		{"ibt", append([]string{"-fplt", "-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}, gdbtest.Plain...)},
		{"now", append([]string{"-fplt", "-Wl,-z,now"}, gdbtest.Plain...)},
	} {
		t.Run(b.name, func(t *testing.T) { plt(t, gdbtest.Build(t, "plt.c", b.flags...)) })
	}
	t.Run("SFrame V3", func(t *testing.T) { plt(t, gdbtest.Testdata(t, "bin", "plt-v3")) })
}

func plt(t *testing.T, program string) {
	rec := gdbtest.RecordSteps(t, program, []string{"calls_lazy"}, 4000)
	// Most instructions are the dynamic linker's, which has no SFrame.
	for _, tt := range []struct {
		list    []string
		atLeast int
	}{{nil, 100}, {[]string{"dwarf"}, 100}, {[]string{"sframe"}, 2}} {
		t.Run(orderName(tt.list), func(t *testing.T) { compareSteps(t, rec, tt.list, tt.atLeast) })
	}
}
