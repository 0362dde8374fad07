package commandtest

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

// StartJIT starts internal/bench/programs/jit.c. On its stack, functions of the file alternate with
// 3 frames of machine code, which only plugintest's "jit" can unwind.
func StartJIT(t *testing.T) (pid string) {
	t.Helper()
	gdbtest.NeedAMD64(t)
	path := gdbtest.Testdata(t, "..", "internal", "bench", "programs", "jit.c")
	p := gdbtest.Start(t, gdbtest.Compile(t, path, gdbtest.Tool(t, "cc"), "-O2", "-g"), "3", "3")
	return strconv.Itoa(p.PID)
}

// PluginDir puts plug-ins into a folder that is searched for plug-ins.
func PluginDir(t *testing.T, modes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, mode := range modes {
		if err := plugintest.Copy(filepath.Join(dir, "sniffer-"+mode)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SFWALK_PLUGIN_PATH", dir)
	return dir
}

// CheckJIT compares a document of StartJIT's process with the program's source.
func CheckJIT(t *testing.T, out string) {
	t.Helper()
	var got struct {
		Threads []struct {
			Stop   string
			Frames []struct {
				Function, File, Sniffer string
				Offset                  uint64
				Line                    int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.Threads[0].Frames {
		switch {
		case strings.HasPrefix(f.Function, "jitted"):
			i, _ := strconv.Atoi(f.Function[len("jitted"):])
			// push, sub and mov have 8 bytes, the call has 2.
			if f.File != "jitted.js" || f.Line != i+1 || f.Offset != 10 || f.Sniffer != "jit" {
				t.Errorf("frame %+v", f)
			}
			names = append(names, f.Function)
		case f.Function == "down":
			names = append(names, f.Function)
		}
	}
	want := "down jitted1 down jitted2 down jitted0 down" // of depths 0, 1, 2, 3, modulo 3
	if x := strings.Join(names, " "); got.Threads[0].Stop != "outermost" || x != want {
		t.Errorf("stop %q, frames %q, want %q", got.Threads[0].Stop, x, want)
	}
}

// PIDOf parses the number of a process.
func PIDOf(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
