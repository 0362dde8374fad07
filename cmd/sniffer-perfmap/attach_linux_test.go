package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// attached is what the test reads of `sfwalk attach --json`.
type attached struct {
	Threads []struct {
		Frames []struct {
			Function string `json:"function"`
			Sniffer  string `json:"sniffer"`
			Guess    bool   `json:"guess"`
		} `json:"frames"`
	} `json:"threads"`
}

// attach returns the functions of all threads, the outermost first, and whether the plug-in has
// unwound one of them.
func attach(t *testing.T, sfwalk string, pid int, args ...string) (functions []string, asked bool) {
	t.Helper()
	out, err := exec.Command(sfwalk, append([]string{"attach", strconv.Itoa(pid), "--json"}, args...)...).Output()
	if failed := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &failed) && failed.ExitCode() == 3) {
		t.Fatal(err)
	}
	var doc attached
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	for _, th := range doc.Threads {
		for _, f := range slices.Backward(th.Frames) {
			functions = append(functions, f.Function)
			asked = asked || f.Sniffer == "perfmap"
		}
	}
	return functions, asked
}

// inOrder reports whether functions have the names, in this order, behind anything that a virtual
// machine puts before them.
func inOrder(functions, names []string) bool {
	for _, f := range functions {
		if len(names) > 0 && strings.HasSuffix(f, names[0]) {
			names = names[1:]
		}
	}
	return len(names) == 0
}

// TestAttach: the functions of Node.js, Python and Java have their names in sfwalk attach without
// any flag. The plug-in beside sfwalk is asked about the first two; Java's frames need none.
func TestAttach(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Later(t, "node") // the others, too: it builds three programs
	dir := t.TempDir()
	build := exec.Command(gdbtest.Tool(t, "go"), "build", "-o", dir, "./cmd/sfwalk", "./cmd/sfwalk-full", "./cmd/sniffer-perfmap")
	build.Dir, build.Env = filepath.Dir(gdbtest.Testdata(t)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no directory of plug-ins
	sfwalk := filepath.Join(dir, "sfwalk")
	check := func(t *testing.T, pid int, names ...string) {
		t.Helper()
		t.Cleanup(func() { os.Remove("/tmp/perf-" + strconv.Itoa(pid) + ".map") })
		for _, args := range [][]string{nil, {"--no-plugins"}} {
			functions, asked := attach(t, sfwalk, pid, args...)
			if !inOrder(functions, names) || asked != (args == nil) {
				t.Errorf("%v: %q, want %q; the plug-in is asked: %v", args, functions, names, asked)
			}
		}
	}
	t.Run("node", func(t *testing.T) {
		p := startNode(t, "--perf-basic-prof", "--interpreted-frames-native-stack", filepath.Join(source, "testdata", "stack.js"), "wait")
		names := call(t, p)[:4] // as Node.js has them; it lists none of those further out
		slices.Reverse(names)
		gdbtest.Await(t, "the thread waits", func() bool {
			functions, _ := attach(t, sfwalk, p.PID)
			return slices.ContainsFunc(functions, func(f string) bool { return strings.HasSuffix(f, "~inner") })
		})
		check(t, p.PID, names...)
	})
	t.Run("python", func(t *testing.T) {
		p := gdbtest.Start(t, python(t), "-X", "perf", filepath.Join(source, "testdata", "stack.py"))
		check(t, p.PID, "Box.outer", "middle", "inner")
	})
	t.Run("java", func(t *testing.T) {
		java, jcmd := gdbtest.Tool(t, "java"), gdbtest.Tool(t, "jcmd")
		main := filepath.Join(t.TempDir(), "Spin.java")
		const program = `public class Spin {
	static volatile long sink;
	static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s += i * i % 7 + sink; return s; }
	public static void main(String[] args) { System.out.println("ready"); while (true) sink = inner(100000); }
}`
		if err := os.WriteFile(main, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		p := gdbtest.StartRunning(t, java, "-XX:-Inline", main)
		pid := strconv.Itoa(p.PID)
		t.Cleanup(func() { os.Remove("/tmp/perf-" + pid + ".map") })
		gdbtest.Await(t, "inner is compiled, and has its name", func() bool {
			if out, err := exec.Command(jcmd, pid, "Compiler.perfmap").CombinedOutput(); err != nil {
				gdbtest.Cannot(t, string(out)) // before JDK 17
			}
			functions, asked := attach(t, sfwalk, p.PID)
			return slices.Contains(functions, "long Spin.inner(int)") && !asked
		})
	})
}
