package stacks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// goroutinesOf are the documents that TestGoroutines reads.
type goroutinesOf struct {
	Threads    []struct{}
	Goroutines []struct {
		Number         uint64
		Status, Reason string
		Stop           string
		Stack          int
		Created        *struct {
			Function  string
			Line      int
			Goroutine uint64
		}
	}
	Stacks []struct {
		Count      int
		Goroutines []uint64
		Frames     []frameOf
	}
}

type frameOf struct {
	Function, File string
	Line           int
}

// lines returns for each goroutine what a traceback of Go says in two lines: its state, and what
// created it.
func (d *goroutinesOf) lines() map[uint64]string {
	list := map[uint64]string{}
	for _, g := range d.Goroutines {
		text := g.Status
		if g.Reason != "" {
			text = g.Reason
		}
		if g.Created != nil && g.Number != 1 { // the runtime's assembly has created the first one
			text += fmt.Sprintf("; created by %s in goroutine %d", g.Created.Function, g.Created.Goroutine)
		}
		list[g.Number] = text
	}
	return list
}

var header = regexp.MustCompile(`(?m)^goroutine (\d+)(?: gp=\S+ m=.*?)? \[([^],]+)`)

var createdLine = regexp.MustCompile(`(?m)^created by (\S+) in goroutine (\d+)`)

// quit has a Go program print its goroutines and end, and returns what lines returns.
func quit(t *testing.T, pid int, stderr *bytes.Buffer, wait func() error) map[uint64]string {
	t.Helper()
	syscall.Kill(pid, syscall.SIGQUIT)
	wait()
	list := map[uint64]string{}
	for _, part := range strings.Split(stderr.String(), "\n\n") {
		m := header.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		n, _ := strconv.ParseUint(m[1], 10, 64)
		text := m[2]
		if c := createdLine.FindStringSubmatch(part); c != nil {
			text += fmt.Sprintf("; created by %s in goroutine %s", c[1], c[2])
		}
		if n != 0 {
			list[n] = text
		}
	}
	return list
}

// TestGoroutines compares the goroutines of a stripped program with its own traceback: of the
// process, and of a core file that gdb has written.
func TestGoroutines(t *testing.T) {
	exe := gdbtest.Build(t, "goparked", "-ldflags=-s -w")
	cmd := exec.Command(exe, "300")
	cmd.Env = append(cmd.Environ(), "GOTRACEBACK=system")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	core := filepath.Join(t.TempDir(), "core")
	if out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", pid, "-ex", "generate-core-file "+core).CombinedOutput(); err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	got := map[string]map[uint64]string{}
	for name, args := range map[string][]string{"attach": {"attach", pid}, "core": {"core", core, "--exe", exe}} {
		text, _, err := commandtest.Run(append(args, "--goroutines", "--json")...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "attach" {
			commandtest.InPage(t, "sfwalk attach", text)
		}
		var doc goroutinesOf
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		got[name] = doc.lines()
		most := doc.Stacks[0]
		var functions []string
		for _, f := range most.Frames {
			functions = append(functions, f.Function)
		}
		if all := strings.Join(functions, " "); most.Count != 300 || len(most.Goroutines) != 300 || !regexp.MustCompile(`^runtime\.gopark .*main\.wait .*runtime\.goexit$`).MatchString(all) || len(doc.Threads) != 0 {
			t.Errorf("%s: most have this stack: %d, %s", name, most.Count, all)
		}
		for _, g := range doc.Goroutines {
			if g.Stop != "outermost" {
				t.Errorf("%s: goroutine %d: stack ends: %s", name, g.Number, g.Stop)
			}
		}
	}
	text, _, err := commandtest.Run("attach", pid, "--goroutines")
	if err != nil || !regexp.MustCompile(`^300 goroutines \[chan receive\]: (\d+, ){11}\d+ and 288 more\n  wait to receive from the channel 0x[0-9a-f]+: unbuffered, waiting: 300 to receive\n#0  runtime\.gopark `).MatchString(text) || !regexp.MustCompile(`\ncreated by main\.main in goroutine 1 at .*main\.go:\d+\n\n3 goroutines \[syscall\]: `).MatchString(text) {
		t.Errorf("error %v, text\n%s", err, text)
	}
	want := quit(t, cmd.Process.Pid, &stderr, cmd.Wait)
	if len(want) < 300 {
		t.Fatalf("SIGQUIT shows %d goroutines:\n%s", len(want), stderr.String())
	}
	for name, list := range got {
		for n, text := range want {
			if own := regexp.MustCompile(`^(running|runnable|GC |finalizer|sleep|select \(no)|created by runtime\.`); own.MatchString(text) {
				continue // the runtime's own move
			}
			if list[n] != text {
				t.Errorf("%s: goroutine %d is %q, SIGQUIT: %q", name, n, list[n], text)
			}
		}
		if len(list) > len(want)+2 || len(list) < len(want)-2 {
			t.Errorf("%s: %d goroutines, SIGQUIT shows %d", name, len(list), len(want))
		}
	}
}

// A program without goroutines has none.
func TestNoGoroutines(t *testing.T) {
	p := commandtest.StartDemo(t)
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--goroutines"); err == nil || !strings.Contains(err.Error(), "--goroutines") {
		t.Errorf("error %v", err)
	}
	if _, _, err := commandtest.Run("attach", "1", "--goroutines", "--tid", "1"); !isUsage(err) {
		t.Errorf("--tid: error %v, want a usage error", err)
	}
}

// A goroutine whose thread is on the runtime's own stack has the frames on its own stack, too, of
// the same moment.
func TestGoroutineOnSystemStack(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gosystemstack"))
	there := regexp.MustCompile(`(?m)^#\d+ +(?:0x\w+ in )?runtime\.systemstack \(.*\n(?:#.*\n)*?#\d+ .*main\.lists .*\n(?:#.*main\.asks .*\n){6}#.*main\.main `)
	found := 0
	gdbtest.Await(t, "the goroutine is on the runtime's stack ten times", func() bool {
		text, errs, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--goroutines")
		// A collection of garbage may go on while its goroutine is read.
		main := regexp.MustCompile(`(?m)^(?:#.*\n)*#.*main\.main .*\n`).FindString(text)
		if err != nil || main == "" || strings.Contains(main, "[moved on]") {
			t.Fatalf("%v\n%s%s", err, errs, text)
		}
		if there.MatchString(text) {
			found++
		}
		return found == 10
	})
}
