package bash_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/bash"
	"github.com/sfwalk/sfwalk/target/core"
)

// coreOf has gdb write the core file of a process, and decorates its only thread.
func coreOf(t *testing.T, pid int) *languagetest.Thread {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	gdbtest.Batch(t, nil, "attach "+strconv.Itoa(pid), "generate-core-file "+path, "detach")
	tg, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	return languagetest.All(t, tg, bash.Decorator{}, nil)[pid]
}

// TestRest holds a script that stands still, and its core file, against what the builtin caller has
// said.
func TestRest(t *testing.T) {
	p := gdbtest.StartRunning(t, shell(t), script(t, "rest.sh"), oracle(t))
	var want []string
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "end\n" {
			break
		}
		want = append(want, strings.TrimSpace(line))
	}
	p.Rest(t)
	for _, d := range []*languagetest.Thread{languagetest.Attach(t, p.PID, bash.Decorator{}, nil)[p.PID], coreOf(t, p.PID)} {
		var got []string
		for _, f := range d.Frames()[1:] { // the first one has said it
			got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Function, f.File))
		}
		if !slices.Equal(got, want) || len(d.Warnings()) > 0 {
			t.Errorf("%q, %q, want %q\n%s", got, d.Warnings(), want, dump(d))
		}
	}
}

// TestState holds what a shell is said to wait for against the system's list of its children.
func TestState(t *testing.T) {
	for _, c := range []struct{ function, comm, state string }{
		{"process", "cat", "waits for process %d: cat"},
		{"pipeline", "tail", "waits for process %d: tail -n 5"},
		{"subshell", "bash", "waits for process %d: ( cat; : )"},
		{"substitution", "", "waits for a command substitution"},
		{"jobs_of", "", "waits for jobs, by the builtin wait"},
		{"trapped", "cat", "runs the trap SIGUSR1, waits for process %d"},
	} {
		t.Run(c.function, func(t *testing.T) {
			p := gdbtest.StartRunning(t, shell(t), script(t, "waits.sh"), c.function)
			want, children := c.state, ""
			gdbtest.Await(t, "the child of "+c.function, func() bool {
				pid := 0
				children = fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID)
				text, err := os.ReadFile(children)
				if err != nil {
					t.Fatal(err)
				}
				for _, child := range strings.Fields(string(text)) {
					comm, _ := os.ReadFile("/proc/" + child + "/comm")
					if strings.TrimSpace(string(comm)) == c.comm {
						pid, _ = strconv.Atoi(child)
					}
				}
				if c.comm != "" {
					want = fmt.Sprintf(c.state, pid)
				}
				return len(text) > 0 && (pid != 0 || c.comm == "")
			})
			p.Rest(t)
			for _, d := range []*languagetest.Thread{languagetest.Attach(t, p.PID, bash.Decorator{}, nil)[p.PID], coreOf(t, p.PID)} {
				if d.Said == nil || d.Said.Threads[0].State != want {
					t.Errorf("%+v, want %q\n%s", d.Said, want, dump(d))
				}
				if f := d.Frames(); len(f) == 0 || f[0].Function != c.function && c.function != "trapped" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
