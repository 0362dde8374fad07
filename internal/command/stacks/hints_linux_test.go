package stacks_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// hintsOf runs a command and returns its hints: as it prints them, and the same of its JSON. It
// leaves out hints of locks, for which threads that run wait only at some moments.
func hintsOf(t *testing.T, args ...string) []string {
	t.Helper()
	return hintsBut(t, isOfLocks, args...)
}

func isOfLocks(hint string) bool { return strings.Contains(hint, "--consistent") }

// hintsBut is hintsOf with what is left out.
func hintsBut(t *testing.T, leaveOut func(string) bool, args ...string) []string {
	t.Helper()
	_, stderr, err := commandtest.Run(args...)
	if err != nil && !errors.Is(err, exit.ErrEarly) {
		t.Fatalf("%q: %v %s", args, err, stderr)
	}
	var list []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "sfwalk: hint: "); ok {
			list = append(list, strings.TrimSpace(text))
		}
	}
	list = slices.DeleteFunc(list, leaveOut)
	out, stderr, err := commandtest.Run(append(args, "--json")...)
	if err != nil && !errors.Is(err, exit.ErrEarly) || strings.Contains(stderr, "hint:") {
		t.Fatalf("%q --json: %v %s", args, err, stderr)
	}
	for line := range strings.Lines(out) { // one document a process
		var doc struct{ Hints []string }
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		doc.Hints = slices.DeleteFunc(doc.Hints, leaveOut)
		if strings.Join(doc.Hints, "\n") != strings.Join(list, "\n") {
			t.Errorf("%q: hints %q, in JSON %q", args, list, doc.Hints)
		}
	}
	return list
}

// wantHint fails if there is not one hint that has these texts.
func wantHint(t *testing.T, list []string, texts ...string) {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("hints %q, want one with %q", list, texts)
	}
	for _, text := range texts {
		if !strings.Contains(list[0], text) {
			t.Errorf("hint %q, want %q in it", list[0], text)
		}
	}
}

// A program without symbols: gdb has no names, either. The hint is the same for one process and for
// two, and there is none for the same program with its symbols.
func TestHintStripped(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	program := gdbtest.Build(t, "recurse.c", "-O1")
	p := gdbtest.Start(t, program, "3")
	if list := hintsOf(t, "attach", strconv.Itoa(p.PID)); len(list) > 0 {
		t.Errorf("with symbols: %q", list)
	}
	stripped := gdbtest.Build(t, "recurse.c", "-O1", "-s")
	pids := []string{"attach"}
	for range 2 {
		p := gdbtest.Start(t, stripped, "3")
		for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
			if f.Module == "" && f.Function != "" && f.File == "" {
				t.Fatalf("gdb has names: %+v", f)
			}
		}
		pids = append(pids, strconv.Itoa(p.PID))
		wantHint(t, hintsOf(t, pids...), filepath.Base(stripped)+" has no symbols", "-g", "--debug-dir")
	}
	wantHint(t, hintsOf(t, append(pids[:2:2], "--merge")...), "has no symbols")
	other := gdbtest.Build(t, "chain.c", "-O1", "-s")
	_, stderr, err := commandtest.Run(append(pids, strconv.Itoa(gdbtest.Start(t, other).PID))...)
	if want := "sfwalk: hint: " + filepath.Base(stripped) + ", " + filepath.Base(other) + " have no symbols"; err != nil || strings.Count(stderr, "hint:") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%v: %q, want %q in it", err, stderr, want)
	}
}

// A core file whose program is not here.
func TestHintMissingFile(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	text, err := os.ReadFile(gdbtest.Build(t, "recurse.c", "-O1"))
	if err != nil {
		t.Fatal(err)
	}
	program, moved := filepath.Join(t.TempDir(), "server"), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, program, "3")
	core := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, p.PID, core)
	if list := hintsOf(t, "core", core); len(list) > 0 {
		t.Errorf("with the program: %q", list)
	}
	commandtest.Move(t, program, moved)
	wantHint(t, hintsOf(t, "core", core), program, "give it by --exe FILE")
	if list := hintsOf(t, "core", core, "--exe", moved); len(list) > 0 {
		t.Errorf("with --exe: %q", list)
	}
}

// A program of the system's whose symbols are not installed: the hint is for the system that
// os-release names.
func TestHintSystem(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	program := gdbtest.Tool(t, "sleep")
	sleep := exec.Command(program, "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sleep.Process.Kill(); sleep.Wait() })
	p := &gdbtest.Process{PID: sleep.Process.Pid}
	p.Rest(t)
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		if f.Module == "" && f.Function != "" && f.Function != "_start" {
			gdbtest.Cannot(t, "the symbols of sleep are installed")
		}
	}
	release, _ := os.ReadFile("/etc/os-release")
	want := "set DEBUGINFOD_URLS=https://"
	switch text := string(release); {
	case strings.Contains(text, "\nID=debian\n"):
		want = "or set DEBUGINFOD_URLS=https://debuginfod.debian.net"
	case strings.Contains(text, "\nID=ubuntu\n"):
		want = "or set DEBUGINFOD_URLS=https://debuginfod.ubuntu.com"
	}
	pid := strconv.Itoa(p.PID)
	wantHint(t, hintsOf(t, "attach", pid), "functions of sleep have no names: ", want)
	t.Setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
	wantHint(t, hintsOf(t, "attach", pid, "--no-debuginfod"), "without --no-debuginfod")
}

// Interpreters, and compilers at run time, without and with the flag that the hint names.
func TestHintRuntimes(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	dir := t.TempDir()
	source := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		tool string
		args []string // "ready" is printed when the functions run
		want string   // "" for no hint
	}{
		"Node.js":          {"node", []string{source("spin.js", "function spin() { for (;;) Math.sqrt(Date.now()) }\nconsole.log('ready')\nspin()\n")}, ""},
		"Node.js, idle":    {"node", []string{source("idle.js", "setTimeout(() => {}, 1000000)\nconsole.log('ready')\n")}, ""},
		"Node.js, its map": {"node", []string{"--perf-basic-prof", "--interpreted-frames-native-stack", "--no-logfile-per-isolate", "--logfile=" + filepath.Join(dir, "v8.log"), filepath.Join(dir, "spin.js")}, ""},
		"Python":           {"/usr/bin/python3", []string{source("wait.py", "import sys\ndef f():\n  print('ready', flush=True)\n  sys.stdin.read()\nf()\n")}, ""},
		"Java":             {"java", []string{source("Spin.java", "public class Spin { public static void main(String[] a) { System.out.println(\"ready\"); for (;;) Math.sqrt(System.nanoTime()); } }\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, test.tool), test.args...)
			if strings.Contains(name, "idle") {
				p.Rest(t)
			}
			pid := strconv.Itoa(p.PID)
			t.Cleanup(func() { os.Remove("/tmp/perf-" + pid + ".map") })
			list := hintsOf(t, "attach", pid)
			var of []string
			for _, text := range list {
				if strings.Contains(text, "'s functions have") || strings.Contains(text, "'s methods have") {
					of = append(of, text)
				}
			}
			if test.want == "" {
				if len(of) > 0 {
					t.Errorf("hints %q", of)
				}
				return
			}
			wantHint(t, of, test.want)
		})
	}
}

// A process with a root folder of its own: the hint is for the system that is there.
func TestHintContainer(t *testing.T) {
	gdbtest.NeedRoot(t)
	t.Setenv("DEBUGINFOD_URLS", "")
	text, err := os.ReadFile(gdbtest.Build(t, "recurse.c", "-O1", "-s", "-static", "-Wl,--build-id=sha1"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, content := range map[string][]byte{"usr/bin/server": text, "etc/os-release": []byte("NAME=\"Alpine Linux\"\nID=alpine\n")} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command("/usr/bin/server", "3")
	server.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	stdin, err := server.StdinPipe() // the server ends when it is closed, as when nobody refers to it
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); server.Process.Kill(); server.Wait() })
	p := &gdbtest.Process{PID: server.Process.Pid}
	p.Rest(t)
	wantHint(t, hintsOf(t, "attach", strconv.Itoa(p.PID)), "functions of server have no names: 'apk add'", "in its container")
}
