package stacks_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// goAsleep returns what is said of a process or a core file.
func goAsleep(t *testing.T, args ...string) *goroutines.Asleep {
	t.Helper()
	out, stderr, err := commandtest.Run(append(args, "--goroutines", "--json")...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if args[0] == "attach" {
		commandtest.InPage(t, "sfwalk attach", out)
	}
	var doc struct{ Asleep *goroutines.Asleep }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Asleep
}

// TestAsleep: where all goroutines wait for each other, that is said, also where Go's runtime does
// not notice it: in programs with C in them, and where one waits for signals. Go's runtime tells of
// the same program that it is so.
func TestAsleep(t *testing.T) {
	plain, withC := gdbtest.Build(t, "goasleep"), gdbtest.Build(t, "goasleep", "CGO_ENABLED=1")
	if said, err := exec.Command(plain).CombinedOutput(); err == nil || !strings.Contains(string(said), "all goroutines are asleep - deadlock!") {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, tt := range []struct {
		name, exe string
		args      []string
		want      *goroutines.Asleep
		text      string
	}{
		{"cgo", withC, nil, &goroutines.Asleep{Goroutines: 5}, "\nall goroutines are asleep: the program's 5 wait for each other, and for no timer, file or system call\n"},
		{"signal", plain, []string{"signal"}, &goroutines.Asleep{Goroutines: 5, Signals: true}, "system call; none can go on unless a signal comes, for which one waits (os/signal)\n"},
		{"foreign", withC, []string{"foreign"}, &goroutines.Asleep{Goroutines: 5, Threads: 1}, "system call; none can go on unless a thread that is not Go's calls Go\n"},
		{"timer", plain, []string{"timer"}, nil, ""},
		{"timer and cgo", withC, []string{"timer"}, nil, ""},
		{"read", plain, []string{"read"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := startGoWaits(t, tt.exe, tt.args...)
			if tt.want == nil {
				for range 5 {
					if a := goAsleep(t, "attach", p.pid); a != nil {
						t.Fatalf("%+v", a)
					}
				}
				return
			}
			// The runtime's threads take some time until they rest.
			a := goAsleep(t, "attach", p.pid)
			for n := 0; a == nil && n < 500; n++ {
				a = goAsleep(t, "attach", p.pid)
			}
			if a == nil || a.Goroutines != tt.want.Goroutines || a.Signals != tt.want.Signals || a.Threads != tt.want.Threads {
				t.Fatalf("%+v, want %+v", a, tt.want)
			}
			snapshot := filepath.Join(t.TempDir(), "snapshot")
			for _, args := range [][]string{{"attach", p.pid, "--goroutines", "--save", snapshot}, {"open", snapshot, "--goroutines"}} {
				out, stderr, err := commandtest.Run(args...)
				if err != nil || !strings.HasSuffix(out, tt.text) {
					t.Errorf("%v: %v %s\n%s\nwant at its end %s", args[0], err, stderr, out, tt.text)
				}
			}
			core := filepath.Join(t.TempDir(), "core")
			commandtest.GCore(t, p.cmd.Process.Pid, core)
			if a := goAsleep(t, "core", core); a == nil || a.Goroutines != tt.want.Goroutines || a.Signals != tt.want.Signals || a.Threads != tt.want.Threads {
				t.Errorf("core: %+v, want %+v", a, tt.want)
			}
		})
	}
	t.Run("runs", func(t *testing.T) {
		p := gdbtest.StartRunning(t, plain, "runs")
		if a := goAsleep(t, "attach", strconv.Itoa(p.PID)); a != nil {
			t.Errorf("%+v", a)
		}
	})
}
