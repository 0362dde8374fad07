package command

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestLocalsAtGDBServerAsGDB compares what `sfwalk remote --locals` prints at a gdbserver with gdb's bt full of the process.
func TestLocalsAtGDBServerAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, tt := range []struct {
		program valuetest.Program
		flag    string
	}{{valuetest.C(8), "-O2"}, {valuetest.CXX(9), "-O1"}} {
		t.Run(tt.program.Name, func(t *testing.T) {
			b := valuetest.Build{Compiler: "gcc", Flags: []string{tt.flag, "-g", "-pthread"}}
			program := compileValues(t, tt.program, b)
			p := gdbtest.Start(t, program)
			want := parseFull(t, gdbtest.Full(t, p.PID, ""))
			counts := tally{constants: byteConstants(t, program)}
			out, lost := locals(t, []string{"--raw"}, "remote", "localhost:"+gdbserver(t, p.PID))
			counts.add(t, gdbtest.CompareFull(want, parseFull(t, out)), lost)
			counts.log(t)
		})
	}
}
