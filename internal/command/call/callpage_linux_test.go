package call

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Every command of docs/calling.md runs. Its process IDs stand for these programs.
func TestCallingPage(t *testing.T) {
	gdbtest.NeedAMD64(t)
	page, err := os.ReadFile("../../../docs/calling.md")
	if err != nil {
		t.Fatal(err)
	}
	preload := gdbtest.File(t, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
	programs := map[string]func() int{
		"4242": func() int { return gdbtest.Start(t, gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")).PID },
		"4343": func() int {
			python := gdbtest.File(t, "/usr/bin/python3")
			return gdbtest.Start(t, python, "-c", "import sys; print('ready', flush=True); sys.stdin.read()").PID
		},
		"4444": func() int {
			return gdbtest.Start(t, gdbtest.Tool(t, "ruby"), "-e", "puts 'ready'; STDOUT.flush; STDIN.read").PID
		},
		"4545": func() int {
			program := gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")
			return gdbtest.Start(t, gdbtest.Tool(t, "env"), "LD_PRELOAD="+preload, program).PID
		},
	}
	pids, n := map[string]string{}, 0
	for _, m := range regexp.MustCompile(`(?m)^    sfwalk call (\d+) (.*)$`).FindAllStringSubmatch(string(page), -1) {
		n++
		if pids[m[1]] == "" {
			pids[m[1]] = strconv.Itoa(programs[m[1]]())
		}
		args := []string{pids[m[1]]}
		for _, q := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(m[2], -1) {
			args = append(args, q[1])
		}
		stdout, stderr, err := commandtest.Execute(New(nil), args...)
		if err != nil {
			t.Errorf("%s: %v %s", m[0], err, stderr)
		}
		for text, want := range map[string]string{"pow": "1024", "getenv": `"debug"`, "close": "0", "dump_state": "0", "mallctl": "0", "PyRun": "0"} {
			if strings.Contains(m[2], text) && !strings.Contains(stdout, want) {
				t.Errorf("%s: %s, want %s", m[0], stdout, want)
			}
		}
	}
	if n < 10 {
		t.Errorf("the page has %d commands", n)
	}
}

// The stack of a call that is given up goes on to where the thread was, and the process goes on.
func TestCallGivenUp(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")
	p := gdbtest.Start(t, program)
	pid := strconv.Itoa(p.PID)
	for _, c := range []struct {
		args   []string
		frames []string // functions, in order
		err    string
	}{
		{[]string{pid, "crash(16)"}, []string{"crash", "<function called from sfwalk>", "read", "main"}, "ended by SIGSEGV (address 0x10)"},
		{[]string{pid, "abort()"}, []string{"abort", "<function called from sfwalk>", "read", "main"}, "ended by SIGABRT"},
		{[]string{pid, "--timeout", "50ms", "nap(1000)"}, []string{"sleep", "nap", "<function called from sfwalk>", "read", "main"}, "not come back in time"},
		{[]string{pid, "raise(11)"}, []string{"raise", "<function called from sfwalk>", "main"}, "ended by SIGSEGV"},
		{[]string{pid, "--alone", "crash(0)"}, []string{"crash", "<function called from sfwalk>", "main"}, "ended by SIGSEGV"},
	} {
		stdout, _, err := commandtest.Execute(New(nil), c.args...)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.args, err)
		}
		rest := stdout
		for _, f := range c.frames {
			_, after, ok := strings.Cut(rest, f)
			if !ok {
				t.Errorf("%s: no %s in order in\n%s", c.args, f, stdout)
				break
			}
			rest = after
		}
	}
	stdout, _, err := commandtest.Execute(New(nil), pid, "--json", "crash(16)")
	if err == nil || !strings.Contains(stdout, `"signal":"SIGSEGV"`) || !strings.Contains(stdout, `"type":"dummy"`) {
		t.Errorf("%v: %s", err, stdout)
	}
	if stdout, _, err = commandtest.Execute(New(nil), pid, "--json", "(int) global"); err != nil || !strings.Contains(stdout, `"value":"42","type":"int"`) {
		t.Errorf("%v: %s", err, stdout)
	}
	p.Rest(t)
	if err := exec.Command("kill", "-0", pid).Run(); err != nil {
		t.Error("the process has ended")
	}
}

// Of functions of one name, the one is called that the program itself calls: a preloaded library's,
// in whatever order libraries lie in memory. Of overloaded ones none is chosen without debug
// information.
func TestCallByName(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	gcc, gxx := gdbtest.Tool(t, "gcc"), gdbtest.Tool(t, "g++")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := func(args ...string) {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for name, value := range map[string]string{"a": "1", "b": "2"} {
		build(gcc, "-shared", "-fpic", "-o", filepath.Join(dir, "lib"+name+".so"), write(name+".c", "int who(void) { return "+value+"; }\n"))
	}
	main := write("main.cc", "#include <stdio.h>\n#include <unistd.h>\nextern \"C\" int who(void);\nnamespace store { int flush(int x) { return x + 1; } double flush(double x) { return x * 2; } }\n"+
		"int main() { printf(\"ready\\n%d\\n\", who() + 0 * store::flush(1) + (int)(0 * store::flush(1.0))); fflush(stdout); char c; while (read(0, &c, 1) > 0) ; }\n")
	for _, libraries := range [][]string{{"a", "b"}, {"b", "a"}} {
		program := filepath.Join(dir, "main"+libraries[0])
		build(gxx, "-g", "-o", program, main, "-Wl,--no-as-needed", "-L"+dir, "-l"+libraries[0], "-l"+libraries[1], "-Wl,-rpath,"+dir)
		for _, preload := range []string{"", "a", "b"} {
			env := "LD_PRELOAD="
			if preload != "" {
				env += filepath.Join(dir, "lib"+preload+".so")
			}
			p := gdbtest.Start(t, gdbtest.Tool(t, "env"), env, program)
			want, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := commandtest.Execute(New(nil), strconv.Itoa(p.PID), "(int) who()"); err != nil || got != want {
				t.Errorf("%v, %s: %s, %v, the program has %s", libraries, env, got, err, want)
			}
			if got, _, err := commandtest.Execute(New(nil), strconv.Itoa(p.PID), "store::flush(1.5)"); err != nil || got != "3\n" {
				t.Errorf("%s, %v", got, err)
			}
			if got, _, err := commandtest.Execute(New(nil), strconv.Itoa(p.PID), "_ZN5store5flushEd(1.5)"); err != nil || got != "3\n" {
				t.Errorf("%s, %v", got, err)
			}
		}
	}
	bare := filepath.Join(dir, "bare")
	build(gxx, "-o", bare, main, "-Wl,--no-as-needed", "-L"+dir, "-la", "-Wl,-rpath,"+dir)
	p := gdbtest.Start(t, bare)
	if _, _, err := commandtest.Execute(New(nil), strconv.Itoa(p.PID), "store::flush(1.5)"); err == nil || !strings.Contains(err.Error(), "several functions are called store::flush") {
		t.Errorf("%v", err)
	}
}

// Mistakes, and threads that cannot call.
func TestCallRefused(t *testing.T) {
	gdbtest.NeedAMD64(t)
	pid := strconv.Itoa(gdbtest.Start(t, gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")).PID)
	for text, want := range map[string]string{
		"nowhere(1)":              `No symbol "nowhere" in current context. at column 1`,
		"dump_state(1)":           "the function takes 2 arguments, not 1 at column 1",
		"crash(1.5)":              "a value of type double is passed where the function takes",
		"global(1)":               "what is called is of type int: neither a function nor pointer to one at column 1",
		"(struct nothing) nap(1)": "No struct type named nothing. at column 2",
		"0x10(1)":                 "what is called is not the address of code",
		"$1":                      "there is no earlier expression $1",
		"nap({1})":                "a value of type int [1] is passed where the function takes",
	} {
		if _, _, err := commandtest.Execute(New(nil), pid, text); err == nil || !strings.Contains(strings.NewReplacer("a floating", "floating", "a pointer", "pointer").Replace(err.Error()), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, _, err := commandtest.Execute(New(nil), pid, "--tid", "1", "getpid()"); err == nil || !strings.Contains(err.Error(), "the process has no such thread") {
		t.Errorf("%v", err)
	}
	sleeper := gdbtest.Build(t, "goparked")
	g := strconv.Itoa(gdbtest.Start(t, sleeper).PID)
	if _, _, err := commandtest.Execute(New(nil), g, "0x400000(1)"); err == nil || !strings.Contains(err.Error(), "runs Go code, whose stack is small and moves") {
		t.Errorf("%v", err)
	}
}

// A thousand calls into a program whose fifty threads are busy.
func TestCallsIntoBusyProgram(t *testing.T) {
	gdbtest.NeedAMD64(t)
	calls := 12
	if os.Getenv("SFWALK_SOAK") != "" {
		calls = 1000
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread"), "50")
	pid := strconv.Itoa(p.PID)
	for i := range calls {
		args := []string{pid, "(int) abs(-" + strconv.Itoa(i) + ")"}
		if i%4 == 0 {
			args = append(args, "--alone")
		}
		if stdout, _, err := commandtest.Execute(New(nil), args...); err != nil || stdout != strconv.Itoa(i)+"\n" {
			t.Fatalf("%s: %s, %v", args, stdout, err)
		}
	}
	if states := p.States(t); len(states) != 51 || strings.ContainsAny(states, "tTZ") {
		t.Errorf("states %s", states)
	}
}
