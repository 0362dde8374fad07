package stacks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// goWaits is a process of testdata/progs/gowaits.
type goWaits struct {
	pid    string
	cmd    *exec.Cmd
	stderr bytes.Buffer
	facts  []string // what it says of its goroutines
}

func startGoWaits(t *testing.T, exe string, args ...string) *goWaits {
	t.Helper()
	p := &goWaits{cmd: exec.Command(exe, args...)}
	p.cmd.Env = append(p.cmd.Environ(), "GOTRACEBACK=system")
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	p.pid = strconv.Itoa(p.cmd.Process.Pid)
	for s := bufio.NewScanner(out); s.Scan() && s.Text() != "end"; {
		p.facts = append(p.facts, s.Text())
	}
	if len(p.facts) < 2 || p.facts[0] != "ready" {
		t.Fatalf("%s says %q", exe, p.facts)
	}
	(&gdbtest.Process{PID: p.cmd.Process.Pid}).Rest(t)
	return p
}

// goroutinesText returns the part of a text that is about goroutines: without lines about the
// process and its modules.
func goroutinesText(text string) string {
	text = regexp.MustCompile(`^(Process .*\n)?(Linux .*\n)?`).ReplaceAllString(text, "")
	text, _, _ = strings.Cut(text, "\nModules:\n")
	return strings.TrimSpace(text)
}

// TestGoroutinesSaved: a snapshot, and minidumps of a process and of a core, have all goroutines,
// with deep stacks, labels, creators and times, as they were printed when they were saved. These
// are Delve's and SIGQUIT's.
func TestGoroutinesSaved(t *testing.T) {
	p := startGoWaits(t, gdbtest.Build(t, "gowaits"))
	dir := t.TempDir()
	printed := func(args ...string) string {
		t.Helper()
		text, errs, err := commandtest.Run(append(args, "--goroutines")...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs)
		}
		return goroutinesText(text)
	}
	same := func(what, got, want string) {
		t.Helper()
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range max(len(g), len(w)) {
			if i >= len(g) || i >= len(w) || g[i] != w[i] {
				t.Errorf("%s: line %d of %d is %q; of %d, it was %q", what, i, len(g), g[min(i, len(g)-1)], len(w), w[min(i, len(w)-1)])
				return
			}
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	saved := printed("attach", p.pid, "--save", file("snapshot"))
	for _, want := range []string{`(?m)^7 goroutines \[chan receive\]: `, `(?m)^  labels: \{"tenant":"blue"\}$`, `(?m)^#9001 main\.deep .*\[moved on\]$`, `(?m)^created by main\.main`} {
		if !regexp.MustCompile(want).MatchString(saved) {
			t.Errorf("no %s in\n%.5000s", want, saved)
		}
	}
	same("open", printed("open", file("snapshot")), saved)
	// Core files and minidumps have one moment. What files are is not in them, in minidumps no
	// call.
	numbers := func(text string) string {
		return regexp.MustCompile(`(?m)^(  waits? .* fd \d+):.*$`).ReplaceAllString(text, "$1")
	}
	calls := func(text string) string {
		return regexp.MustCompile(`(?m)^  waits? to read .*\n`).ReplaceAllString(text, "")
	}
	same("core", printed("core", file("snapshot")), numbers(strings.ReplaceAll(saved, " [moved on]", "")))

	// A walk of few frames saves all.
	few := printed("attach", p.pid, "--save", file("few"), "--max-frames", "2")
	same("open --max-frames", printed("open", file("few"), "--max-frames", "2"), few)
	if text := printed("open", file("few")); strings.Count(text, "main.deep") != strings.Count(saved, "main.deep") {
		t.Errorf("after --max-frames, the snapshot has %d frames of main.deep, want %d", strings.Count(text, "main.deep"), strings.Count(saved, "main.deep"))
	}

	dump := printed("attach", p.pid, "--save", file("dump"), "--format", "minidump")
	same("minidump", printed("minidump", file("dump")), calls(strings.ReplaceAll(dump, " [moved on]", "")))
	commandtest.GCore(t, p.cmd.Process.Pid, file("core"))
	ofCore := printed("core", file("core"), "--save", file("coredump"), "--format", "minidump")
	same("minidump of a core", printed("minidump", file("coredump")), calls(ofCore))

	text, _, err := commandtest.Run("open", file("snapshot"), "--goroutines", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var doc goroutinesOf
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	asDelve(t, &doc, p.pid)
	got, want := doc.lines(), quit(t, p.cmd.Process.Pid, &p.stderr, p.cmd.Wait)
	if len(want) < 40 {
		t.Fatalf("SIGQUIT shows %d goroutines:\n%s", len(want), p.stderr.String())
	}
	own := regexp.MustCompile(`^(running|runnable|GC |finalizer|force gc|GOMAXPROCS)|created by runtime\.`)
	for n, text := range want {
		if !own.MatchString(text) && got[n] != text {
			t.Errorf("goroutine %d is %q, SIGQUIT: %q", n, got[n], text)
		}
	}
	same("open, when the process is gone", printed("open", file("snapshot")), saved)
}

var delveLine = regexp.MustCompile(`(?m)^[* ] Goroutine (\d+) - (User|Go): (\S+):(\d+) (.+) \(0x[0-9a-f]+\)(?: \(thread (\d+)\))?(?: \[([^\]]*)\])?$`)

// asDelve compares goroutines with dlv's list: their reasons, threads, the places where the user's
// code is, and the go statements.
func asDelve(t *testing.T, doc *goroutinesOf, pid string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "commands")
	if err := os.WriteFile(script, []byte("goroutines -u\ngoroutines -g\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gdbtest.ModuleTool(t, "dlv"), "attach", pid, "--allow-non-terminal-interactive=true", "--init", script)
	cmd.Env = append(cmd.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader("exit\nn\n") // it asks whether to kill the process
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("dlv: %v\n%s", err, said)
	}
	at := map[uint64]int{}
	for i, g := range doc.Goroutines {
		at[g.Number] = i
	}
	users, creators := 0, 0
	for _, m := range delveLine.FindAllStringSubmatch(string(said), -1) {
		n, _ := strconv.ParseUint(m[1], 10, 64)
		i, ok := at[n]
		if !ok {
			t.Errorf("dlv: %s: no such goroutine", m[0])
			continue
		}
		g := doc.Goroutines[i]
		if m[6] == "" && (g.Status != "waiting" || g.Reason != m[7]) {
			t.Errorf("goroutine %d is %s, %q; dlv: %s", n, g.Status, g.Reason, m[0])
		}
		line, _ := strconv.Atoi(m[4])
		if m[2] == "Go" {
			if g.Created != nil && filepath.Base(m[3]) != "<autogenerated>" { // the runtime's assembly has created the first one
				creators++
				if g.Created.Function != m[5] || g.Created.Line != line {
					t.Errorf("goroutine %d was created by %+v; dlv: %s", n, *g.Created, m[0])
				}
			}
			continue
		}
		// dlv passes functions of the runtime by. It names the line of the innermost call, and the
		// function into which that is inlined.
		frames := doc.Stacks[g.Stack].Frames
		k := slices.IndexFunc(frames, func(f frameOf) bool { return f.Function == m[5] })
		place := slices.IndexFunc(frames, func(f frameOf) bool { return f.Line == line && filepath.Base(f.File) == filepath.Base(m[3]) })
		outer := slices.IndexFunc(frames, func(f frameOf) bool { return strings.HasPrefix(f.Function, "main.") })
		if !strings.HasPrefix(m[5], "runtime.") {
			users++
		}
		if place < 0 || k < place || !strings.HasPrefix(m[5], "runtime.") && outer >= 0 && k > outer {
			t.Errorf("goroutine %d is at %+v; dlv: %s", n, frames[:min(len(frames), 8)], m[0])
		}
	}
	if users < 30 || creators < 30 {
		t.Errorf("dlv shows %d goroutines of the user, and %d creators\n%.4000s", users, creators, said)
	}
}

// TestGoroutineWaits: channels and locks that goroutines wait for, with their addresses and who
// else waits, are as a stripped program itself tells of them: live, saved, and in a core.
func TestGoroutineWaits(t *testing.T) {
	exe := gdbtest.Build(t, "gowaits", "-ldflags=-s -w")
	p := startGoWaits(t, exe)
	want := map[string]int{} // goroutines, by what they wait for
	for _, fact := range p.facts[1:] {
		f := strings.Fields(fact)
		n, _ := strconv.Atoi(f[2])
		if f[0] == "chan" {
			receivers, _ := strconv.Atoi(f[4])
			senders, _ := strconv.Atoi(f[5])
			n = receivers + senders
		}
		want[fact] = n
	}
	if len(want) != 8 {
		t.Fatalf("%q", p.facts)
	}
	dir := t.TempDir()
	snapshot, core := filepath.Join(dir, "snapshot"), filepath.Join(dir, "core")
	commandtest.GCore(t, p.cmd.Process.Pid, core)
	for _, args := range [][]string{{"attach", p.pid, "--save", snapshot}, {"open", snapshot}, {"core", core, "--exe", exe}} {
		text, errs, err := commandtest.Run(append(args, "--goroutines", "--json")...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs)
		}
		if args[0] == "attach" {
			commandtest.InPage(t, "sfwalk attach", regexp.MustCompile(`"labels": *\{[^}]*\},`).ReplaceAllString(text, "")) // their names are the program's
		}
		var doc struct {
			Goroutines []struct {
				Reason   string
				WaitsFor []struct {
					Kind, Address, Op                                       string
					Len, Cap, Receivers, Senders, Waiters, Readers, Counter int
				} `json:"waits_for"`
			}
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, g := range doc.Goroutines {
			if (g.Reason == "select") != (len(g.WaitsFor) == 2) || strings.HasPrefix(g.Reason, "chan ") && len(g.WaitsFor) > 0 && "chan "+g.WaitsFor[0].Op != g.Reason {
				t.Errorf("%s: a goroutine in %q waits for %+v", args[0], g.Reason, g.WaitsFor)
			}
			for _, o := range g.WaitsFor {
				fact := fmt.Sprintf("%s %s %d", strings.ToLower(strings.TrimPrefix(o.Kind, "sync.")), o.Address, o.Waiters)
				switch o.Kind {
				case "channel":
					fact = fmt.Sprintf("chan %s %d %d %d %d", o.Address, o.Len, o.Cap, o.Receivers, o.Senders)
				case "sync.WaitGroup":
					fact += fmt.Sprintf(" %d", o.Counter)
				case "sync.RWMutex":
					if o.Readers != 1 || o.Op != "write" {
						t.Errorf("%s: %+v", args[0], o)
					}
				}
				got[fact]++
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, the program says %v", args[0], got, want)
		}
	}
	text, _, err := commandtest.Run("attach", p.pid, "--goroutines")
	if err != nil || !regexp.MustCompile(`(?m)^5 goroutines \[chan send\]: .*\n  wait to send to the channel 0x[0-9a-f]+: 3 of 3 in it, waiting: 7 to send\n#0 `).MatchString(text) {
		t.Errorf("%v\n%.3000s", err, text)
	}
}
