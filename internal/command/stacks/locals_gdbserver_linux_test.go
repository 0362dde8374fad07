package stacks_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestLocalsAtGDBServerAsGDB compares what `sfwalk remote --locals` prints at a gdbserver with
// gdb's bt full of the process.
func TestLocalsAtGDBServerAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, tt := range []struct {
		program valuetest.Program
		flag    string
	}{{valuetest.C(8), "-O2"}, {valuetest.CXX(9), "-O1"}} {
		t.Run(tt.program.Name, func(t *testing.T) {
			b := valuetest.Build{Compiler: "gcc", Flags: []string{tt.flag, "-g", "-pthread"}}
			program := valuetest.Compile(t, tt.program, b)
			p := gdbtest.Start(t, program)
			want := valuetest.Parse(t, gdbtest.Full(t, p.PID, ""))
			counts := valuetest.Tally{Constants: valuetest.ByteConstants(t, program)}
			out, lost := locals(t, []string{"--raw"}, "remote", "localhost:"+commandtest.GDBServer(t, p.PID))
			counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, out)), lost)
			counts.Log(t)
		})
	}
}
