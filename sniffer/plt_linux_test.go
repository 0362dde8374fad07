package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPLTGDB stops at every instruction of calls through linkage stubs, the
// dynamic linker's resolver included.
func TestPLTGDB(t *testing.T) {
	for variant, b := range []struct {
		name  string
		flags []string
	}{
		{"lazy", append([]string{"-fplt", "-Wl,-z,lazy"}, gdbtest.Plain...)},
		{"ibt", append([]string{"-fplt", "-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}, gdbtest.Plain...)},
		{"now", append([]string{"-fplt", "-Wl,-z,now"}, gdbtest.Plain...)},
	} {
		t.Run(b.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			plt(t, gdbtest.Build(t, "plt.c", b.flags...))
		})
	}
	t.Run("SFrame V3", func(t *testing.T) { plt(t, gdbtest.Testdata(t, "bin", "plt-v3")) })
}

func plt(t *testing.T, program string) {
	rec := gdbtest.RecordSteps(t, program, []string{"calls_lazy"}, 4000)
	// SFrame's rows of stubs that begin with endbr64 disagree with the code.
	for _, tt := range []struct {
		list    []string
		atLeast int
	}{{nil, 100}, {[]string{"dwarf"}, 100}, {[]string{"sframe"}, 70}} {
		t.Run(orderName(tt.list), func(t *testing.T) { compareSteps(t, rec, tt.list, tt.atLeast) })
	}
}

// TestPLTWithoutTables stops in linkage stubs without tables and symbols, in a program that
// promises frame pointers: stubs keep none.
func TestPLTWithoutTables(t *testing.T) {
	for _, flags := range [][]string{{"-fplt", "-Wl,-z,lazy"}, {"-fplt", "-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}} {
		program := gdbtest.Build(t, "plt.c", append(flags, "-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe")...)
		rec := gdbtest.RecordSteps(t, program, []string{"calls_lazy"}, 4000)
		rec.States = slices.DeleteFunc(rec.States, func(s gdbtest.StepState) bool {
			return s.Expected[0].Module != "" // of a library
		})
		promised := gdbtest.PromiseFP(t, program)
		objcopy(t, promised, "-R", ".eh_frame", "-R", ".eh_frame_hdr")
		compareStepsIn(t, newRecordedFrom(t, rec, promised), rec, nil, 100)
	}
}
