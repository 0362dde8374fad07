package command

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A process whose first thread has ended, while others live on, is a process like any other for all
// commands. The program knows its functions.
func TestFirstThreadEnded(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "firstended.c", "-g", "-O2"))
	gdbtest.Await(t, "the first thread has ended, and one waits", func() bool {
		states := p.States(t)
		return strings.Contains(states, "Z") && strings.Contains(states, "S")
	})
	pid, dir := strconv.Itoa(p.PID), t.TempDir()
	snapshot := filepath.Join(dir, "snapshot")
	runs, waits := regexp.MustCompile(`busy.*\n#1 .* runs `), regexp.MustCompile(`block.*\n#\d .* waits `)
	merged := regexp.MustCompile(`runs .*\n.*start_thread`)
	for _, v := range []struct {
		args string
		want []*regexp.Regexp
	}{
		{"attach PID", []*regexp.Regexp{runs, waits}},
		{"attach PID --consistent", []*regexp.Regexp{runs, waits}},
		{"attach PID --save " + snapshot, []*regexp.Regexp{runs, waits}},
		{"open " + snapshot, []*regexp.Regexp{runs, waits}},
		{"attach PID --save " + filepath.Join(dir, "dump") + " --format minidump", []*regexp.Regexp{runs, waits}},
		{"minidump " + filepath.Join(dir, "dump"), []*regexp.Regexp{runs, waits}},
		{"attach --children PID", []*regexp.Regexp{runs, waits}},
		{"attach --name firstended --merge", []*regexp.Regexp{merged}},
		{"record PID --wall -d 300ms --format folded -o -", []*regexp.Regexp{regexp.MustCompile(`start_thread;runs;busy \d+\n`), regexp.MustCompile(`start_thread;waits;block;`)}},
		{"call PID triple(4)", []*regexp.Regexp{regexp.MustCompile(`^12\n$`)}},
		{"call PID --alone triple(5)", []*regexp.Regexp{regexp.MustCompile(`^15\n$`)}},
	} {
		out, said, err := command(strings.Fields(strings.ReplaceAll(v.args, "PID", pid))...)
		if err != nil {
			t.Errorf("%s: %v\n%s", v.args, err, said)
		}
		for _, want := range v.want {
			if !want.MatchString(out) {
				t.Errorf("%s: want %v, got\n%s%s", v.args, want, out, said)
			}
		}
	}
	if _, _, err := command("call", pid, "--tid", pid, "triple(4)"); err == nil || !strings.Contains(err.Error(), "thread "+pid+" has ended") {
		t.Errorf("call in the thread that has ended: %v", err)
	}
	if dir := procdir.Of(p.PID); !strings.HasPrefix(dir, "/proc/"+pid+"/task/") || strings.HasSuffix(dir, "/"+pid) {
		t.Errorf("its folder is %s", dir)
	}
	if !strings.Contains(p.States(t), "Z") || strings.ContainsAny(p.States(t), "Tt") {
		t.Errorf("it does not run on: %s", p.States(t))
	}
}

// Samples of such a process have their names and whole stacks.
func TestRecordFirstThreadEnded(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "firstended.c", "-g", "-O2"))
	gdbtest.Await(t, "the first thread has ended, and one waits", func() bool {
		states := p.States(t)
		return strings.Contains(states, "Z") && strings.Contains(states, "S")
	})
	out, said, err := command("record", strconv.Itoa(p.PID), "-d", "500ms", "--format", "folded", "-o", "-")
	if err != nil || !regexp.MustCompile(`(?m)start_thread;runs;busy[; ]`).MatchString(out) || strings.Contains(out, "[the stack") {
		t.Errorf("%v\n%s%s", err, out, said)
	}
}
