//go:build linux

package gdbtest

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"testing"
)

//go:embed crash.py
var crashPy string

// A CrashPoint is an instruction of a program where it is to crash.
type CrashPoint struct {
	Function string `json:"function"` // a name that the linker knows
	Calls    int    `json:"calls"`    // how many of its calls pass before
	Steps    int    `json:"steps"`    // how many instructions follow, what it calls among them
	Argument string `json:"argument"` // the program's, without blanks
	// Frames are gdb's at that instruction, by all tables that there are; nil if the program has
	// ended before.
	Frames []Frame `json:"-"`
}

// Crash runs the program once for each point and has it die there of SIGSEGV, as if that
// instruction had failed. gdb has let go of the program then, so that it may trace itself. gdb
// takes no separate debug information: what it knows of libraries is the same on all machines.
func Crash(t testing.TB, program string, points []CrashPoint) {
	t.Helper()
	NeedAMD64(t)
	nowhere := filepath.Join(t.TempDir(), "none")
	for _, record := range runGDB(t, crashPy, map[string]any{"points": points},
		"-iex", "set debug-file-directory "+nowhere, "--args", program) {
		var r struct {
			Point  int
			Frames []Frame
		}
		if err := json.Unmarshal(record, &r); err != nil {
			t.Fatalf("gdb's answer for %s: %v", program, err)
		}
		points[r.Point].Frames = r.Frames
	}
}

// BuildCrashing builds testdata/progs/breakpad/crashing.cc with Breakpad's client for Linux, whose
// sources are fetched. compiler is a C++ compiler's name (c++, or i686-linux-gnu-g++, for which
// -static is among the flags or [Dynamic386]).
func BuildCrashing(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	NeedAMD64(t)
	if compiler == compilerXX {
		Need386(t)
	}
	cmd := []string{Tool(t, compiler), "-std=c++17"}
	source := BreakpadSource(t)
	client := Compile(t, Testdata(t, "progs", "breakpad", "client.cc"), append(cmd, "-O1", "-w", "-c",
		"-I"+filepath.Join(source, "src"), "-I"+source)...)
	return Compile(t, Testdata(t, "progs", "breakpad", "crashing.cc"), append(append(cmd, flags...), client)...)
}
