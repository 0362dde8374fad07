package stacks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestOuter compares the outermost frames with gdb's.
func TestOuter(t *testing.T) {
	for _, tt := range []struct {
		src  string
		args []string
	}{{"inline.c", nil}, {"threads.c", []string{"3"}}, {"recurse.c", []string{"300"}}} {
		p := commandtest.StartTarget(t, tt.src, gdbtest.Plain, tt.args)
		threads := gdbtest.Backtrace(t, p.PID)
		for _, n := range []int{1, 4, 1000} {
			for _, flags := range [][]string{nil, {"--merge"}} {
				out, _, err := commandtest.Run(append([]string{"attach", strconv.Itoa(p.PID), "--json", "--outer", strconv.Itoa(n)}, flags...)...)
				if err != nil {
					t.Fatal(err)
				}
				type frames []struct {
					Level    int
					Function string
				}
				var doc struct {
					Threads []struct {
						TID, Stack int
						Frames     frames
					}
					Stacks []struct{ Frames frames }
				}
				if err := json.Unmarshal([]byte(out), &doc); err != nil {
					t.Fatal(err)
				}
				for _, want := range threads {
					for _, th := range doc.Threads {
						if th.TID != want.TID {
							continue
						}
						got := th.Frames
						if flags != nil {
							got = doc.Stacks[th.Stack].Frames
						}
						first := max(0, len(want.Frames)-n)
						if len(got) != len(want.Frames)-first {
							t.Errorf("%s, --outer %d %v: thread %d has %d frames, gdb %d in all", tt.src, n, flags, th.TID, len(got), len(want.Frames))
							continue
						}
						for i, f := range got {
							if f.Level != first+i || f.Function != want.Frames[first+i].Function {
								t.Errorf("%s, --outer %d %v: frame %d is %s, gdb's frame %d %s", tt.src, n, flags, f.Level, f.Function, first+i, want.Frames[first+i].Function)
							}
						}
					}
				}
			}
		}
	}
}

// TestSource compares the lines with what sed prints.
func TestSource(t *testing.T) {
	p := commandtest.StartTarget(t, "chain.c", gdbtest.Plain, nil)
	pid := strconv.Itoa(p.PID)
	file := gdbtest.Testdata(t, "progs", "chain.c")
	folder := filepath.Dir(file) // another checkout may have built the program
	out, _, err := commandtest.Run("attach", pid, "--json", "--source=2", "--source-dir", folder)
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk attach", out)
	var doc struct {
		Threads []struct {
			Frames []struct {
				File   string
				Line   int
				Source []report.SourceLine
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range doc.Threads[0].Frames {
		if filepath.Base(f.File) != "chain.c" {
			continue
		}
		compared++
		want, err := exec.Command("sed", "-n", fmt.Sprintf("%d,%dp", f.Line-2, f.Line+2), file).Output()
		var got strings.Builder
		for i, l := range f.Source {
			if fmt.Fprintln(&got, l.Text); l.Line != f.Line-2+i {
				t.Errorf("line %d, want %d", l.Line, f.Line-2+i)
			}
		}
		if err != nil || got.String() != string(want) {
			t.Errorf("%s:%d:\n%s\nsed:\n%s%v", f.File, f.Line, got.String(), want, err)
		}
	}
	if compared < 3 {
		t.Errorf("%d frames compared", compared)
	}
	text, _, _ := commandtest.Run("attach", pid, "--source", "--source-dir", folder, "--modules")
	if !regexp.MustCompile(`(?m)^#\d .* in leaf \(…\) at .*/chain\.c:\d+ \(/.*/chain\)\n +\d+: .*\n  => +\d+: .*\n +\d+: .*$`).MatchString(text) {
		t.Errorf("text\n%s", text)
	}
}

// TestSourceCompiled finds a file whose name in debug information is relative where gdb finds it:
// from the folder in which it was compiled, then from that in which the command runs; a user's
// folder comes before both.
func TestSourceCompiled(t *testing.T) {
	dir := t.TempDir()
	compiled, now, users := filepath.Join(dir, "compiled"), filepath.Join(dir, "now"), filepath.Join(dir, "users")
	header, err := os.ReadFile(gdbtest.Testdata(t, "progs", "ready.h"))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range []string{compiled, now, users} {
		if err := os.MkdirAll(filepath.Join(d, "part"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("#include \"ready.h\"\nint main (void) {\n  arm (); ready ();\n  block (); /* place %d */\n  return 0;\n}\n", i)
		if err := errors.Join(os.WriteFile(filepath.Join(d, "part", "a.c"), []byte(text), 0o600), os.WriteFile(filepath.Join(d, "part", "ready.h"), header, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cc := exec.Command(gdbtest.Tool(t, "gcc"), append(slices.Clone(gdbtest.Plain), "part/a.c", "-o", "a")...)
	cc.Dir = compiled
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := gdbtest.Start(t, filepath.Join(compiled, "a"))
	t.Chdir(now)
	pid := strconv.Itoa(p.PID)
	check := func(ours, gdb []string) {
		t.Helper()
		out, _, err := commandtest.Run(append([]string{"attach", pid, "--source=0"}, ours...)...)
		said, failed := exec.Command(gdbtest.Tool(t, "gdb"), append(append([]string{"-nx", "-batch", "-p", pid}, gdb...), "-ex", "frame function main")...).CombinedOutput()
		place := regexp.MustCompile(`place \d`)
		if want := place.FindString(string(said)); err != nil || failed != nil || place.FindString(out) != want {
			t.Errorf("%v: %v, %v: want %q\n%s\ngdb: %s", ours, err, failed, want, out, said)
		}
	}
	check(nil, nil)
	check([]string{"--source-dir", users}, []string{"-ex", "directory " + users})
	if err := os.Remove(filepath.Join(compiled, "part", "a.c")); err != nil {
		t.Fatal(err)
	}
	check(nil, nil)
	if err := os.Remove(filepath.Join(now, "part", "a.c")); err != nil {
		t.Fatal(err)
	}
	check(nil, nil) // nothing is printed
	check([]string{"--source-dir", filepath.Join(users, "part")}, []string{"-ex", "directory " + filepath.Join(users, "part")})
}

// TestSourceDir looks for the file elsewhere. What it has is escaped, and cut.
func TestSourceDir(t *testing.T) {
	text, err := os.ReadFile(gdbtest.Testdata(t, "progs", "chain.c"))
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile(gdbtest.Testdata(t, "progs", "ready.h"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	was, is := filepath.Join(dir, "was", "src"), filepath.Join(dir, "is", "src")
	for _, d := range []string{was, is} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"chain.c": text, "ready.h": header} {
		if err := os.WriteFile(filepath.Join(was, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "chain")
	if out, err := exec.Command(gdbtest.Tool(t, "gcc"), append([]string{filepath.Join(was, "chain.c"), "-o", program}, gdbtest.Plain...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := gdbtest.Start(t, program)
	if err := os.RemoveAll(was); err != nil {
		t.Fatal(err)
	}
	hostile := strings.ReplaceAll(string(text), "\n", "\x1b[31m"+strings.Repeat("x", 1000)+"\n")
	if err := os.WriteFile(filepath.Join(is, "chain.c"), []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(p.PID)
	out, _, err := commandtest.Run("attach", pid, "--source")
	if err != nil || strings.Contains(out, "=>") {
		t.Errorf("%v: the file is not there, and yet:\n%s", err, out)
	}
	for _, folder := range []string{is, filepath.Join(dir, "is")} {
		out, _, err = commandtest.Run("attach", pid, "--source", "--source-dir", folder)
		if err != nil || strings.Count(out, "=>") < 3 || strings.Contains(out, "\x1b") || !strings.Contains(out, `\033[31mxxx`) && !strings.Contains(out, `\x1b[31mxxx`) || strings.Contains(out, strings.Repeat("x", 300)) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestViewErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--outer -1", "--outer -1: want"},
		{"--outer 2 --max-frames 3", "give one"},
		{"--source=101", "want 0 to 100 lines"},
		{"--source-dir /tmp", "--source"},
		{"--source --no-lines", "--no-lines"},
		{"--source --tree", "--merge, or alone"},
		{"--source --format folded", "--merge, or alone"},
	} {
		_, stderr, err := commandtest.Run(append([]string{"attach", "1"}, strings.Fields(tt.args)...)...)
		if err == nil || !strings.Contains(stderr+err.Error(), tt.want) {
			t.Errorf("%s: %v %s", tt.args, err, stderr)
		}
	}
}
