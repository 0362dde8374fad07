package command

import (
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// frameLines returns the lines of frames in what a command prints.
func frameLines(out string) string {
	return strings.Join(regexp.MustCompile(`(?m)^#.*$`).FindAllString(out, -1), "\n")
}

// A program that has copied its code to memory of no file has the stack that gdb shows, in all
// forms in which it can be saved, too. If the copy is not what the file has, its tables are
// guesses. What is mapped once more, elsewhere, is no other file.
func TestTextCopied(t *testing.T) {
	program := gdbtest.Build(t, "textcopy.c", "-g", "-O2")
	for _, v := range []struct {
		how            string
		guessed, byGDB bool
	}{{"none", false, true}, {"all", false, true}, {"memory", false, true}, {"middle", false, true}, {"changed", true, true}, {"twice", false, false}} {
		t.Run(v.how, func(t *testing.T) {
			p := gdbtest.Start(t, program, v.how)
			got := commandtest.Take(t, p.PID, &report.Flags{})
			if v.byGDB {
				commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
			}
			dir, pid := t.TempDir(), strconv.Itoa(p.PID)
			snapshot, dump, core := filepath.Join(dir, "snapshot"), filepath.Join(dir, "dump"), filepath.Join(dir, "core")
			want := ""
			for _, args := range [][]string{
				{"attach", pid, "--save", snapshot}, {"attach", pid, "--save", dump, "--format", "minidump"},
				{"open", snapshot}, {"minidump", dump}, {"core", core},
			} {
				if args[0] == "core" {
					commandtest.GCore(t, p.PID, core)
				}
				out, said, err := command(args...)
				if err != nil || said != "" {
					t.Errorf("%q: %v\n%s", args, err, said)
				}
				frames := frameLines(out)
				if want == "" {
					want = frames
				}
				if frames != want {
					t.Errorf("%q: got\n%s\nwant\n%s", args, frames, want)
				}
			}
			if !regexp.MustCompile(`^#0 .* leaf \(.*\n#1 .* middle \(.*\n#2 .* outer \(.*\n#3 .* main \(.*textcopy.c:\d+`).MatchString(want) {
				t.Errorf("got\n%s", want)
			}
			if n := strings.Count(want, "[guess]"); v.guessed != (n > 0) {
				t.Errorf("%d guesses:\n%s", n, want)
			}
			if v.how != "twice" {
				out, said, err := command("record", pid, "--wall", "-d", "200ms", "--format", "folded", "-o", "-")
				if err != nil || !strings.Contains(out, ";main;outer;middle;leaf ") {
					t.Errorf("record: %v\n%s%s", err, said, out)
				}
			}
		})
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A file of perf's has no memory of the process: what has taken the place of a file's code is taken
// for a copy, with a word.
func TestPerfTextCopied(t *testing.T) {
	perf, program := gdbtest.Perf(t), gdbtest.Build(t, "textcopy.c", "-g", "-O2")
	for _, how := range []string{"none", "middle"} {
		file := filepath.Join(t.TempDir(), "perf.data")
		p := gdbtest.StartRunning(t, program, how)
		go io.Copy(p.Stdin, zeros{}) // each byte is read by itself, until the program ends
		if out, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock", "-F", "499", "--call-graph", "dwarf,4096", "-o", file, "-p", strconv.Itoa(p.PID), "--", "sleep", "0.5").CombinedOutput(); err != nil {
			t.Fatalf("perf record: %v\n%s", err, out)
		}
		out, said, err := command("perf", file, "--format", "folded", "-o", "-")
		if err != nil || !strings.Contains(out, ";main;outer;middle;leaf;") {
			t.Errorf("%s: %v\n%s%.2000s", how, err, said, out)
		}
		if warned := strings.Contains(said, program+": other memory than the file is"); warned != (how == "middle") {
			t.Errorf("%s: said %s", how, said)
		}
	}
}
