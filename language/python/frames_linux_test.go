package python_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
)

// pythons returns the interpreters of this machine, one a release.
func pythons(t *testing.T) (list []string) {
	t.Helper()
	gdbtest.Later(t, "python3")
	names := []string{gdbtest.Tool(t, "python3")}
	for minor := 8; minor < 16; minor++ {
		for _, variant := range []string{"", "t", "-dbg"} {
			names = append(names, fmt.Sprintf("python3.%d%s", minor, variant))
		}
	}
	names = append(names, "/usr/bin/python3")
	if root, err := exec.Command("pyenv", "root").Output(); err == nil {
		names = append(names, gdbtest.Glob(t, filepath.Join(strings.TrimSpace(string(root)), "versions", "3.*", "bin", "python3"))...)
	}
	seen := map[string]bool{}
	for _, name := range names {
		out, err := exec.Command(name, "-c", "import sys, ctypes, sqlite3; print(sys.executable); print(sys.version); print(sys.hexversion >> 16)").Output()
		if err != nil {
			continue // pyenv has names of releases that are not chosen
		}
		lines := strings.Split(string(out), "\n")
		minor, _ := strconv.ParseUint(lines[len(lines)-2], 10, 32)
		if version := strings.Join(lines[:len(lines)-2], " "); !seen[version] && minor >= first && minor < 0x310 {
			seen[version] = true
			list = append(list, lines[0])
		}
	}
	return list
}

// first is the first release whose frames are known: 3.8.
const first = 0x308

// walk decorates the stacks of all threads of a process, and returns what is said by the address of
// the thread's own storage, which faulthandler calls the thread.
func walk(t *testing.T, pid int) map[uint64]*decorated { return decorateAll(t, pid, false) }

// decorateAll is walk, with the frames' variables if they are wanted.
func decorateAll(t *testing.T, pid int, locals bool) map[uint64]*decorated {
	t.Helper()
	all := map[uint64]*decorated{}
	for _, d := range languagetest.Attach(t, pid, python.Decorator{}, func(s *language.Stack) { s.Locals = locals }) {
		pointer := d.Stack.Arch.ThreadPointer[0]
		all[d.Stack.Frames[0].Register(pointer).Bits] = &decorated{d}
	}
	return all
}

type decorated struct{ *languagetest.Thread }

// placed is a frame of Python.
type placed = language.Placed

// frames returns Python's frames of a thread as faulthandler writes them, the innermost first.
func (d *decorated) frames() (list []string) {
	for _, f := range d.Frames() {
		name := f.Function[strings.LastIndexByte(f.Function, '.')+1:]
		list = append(list, fmt.Sprintf("%s:%d in %s", f.File, f.Line, name))
	}
	return list
}

var (
	threadLine = regexp.MustCompile(`^(?:Current t|T)hread 0x([0-9a-f]+)`)
	frameLine  = regexp.MustCompile(`^  File "(.*)", line (\d+|\?\?\?) in (.*)$`)
)

// dumped is what faulthandler says of a thread.
type dumped struct {
	frames []string
	cut    bool // the outer frames are left out
}

// equal reports whether frames are the ones that faulthandler says, as far as it says them.
func (w *dumped) equal(frames []string) bool {
	if w.cut {
		frames = frames[:min(len(frames), len(w.frames))]
	}
	return slices.Equal(frames, w.frames)
}

// faulthandler has a process print its threads, up to the current one, which is the last.
func faulthandler(t *testing.T, p *gdbtest.Process) map[uint64]*dumped {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for current := false; ; {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(line)
		current = current || strings.HasPrefix(line, "Current")
		if current && strings.HasSuffix(line, " in <module>\n") {
			all, _ := parseFaulthandler(text.String())
			return all
		}
	}
}

// parseFaulthandler reads what faulthandler writes of threads. whole is false if it has given up
// before it came to all threads, at one that just began or ended.
func parseFaulthandler(text string) (all map[uint64]*dumped, whole bool) {
	all, whole = map[uint64]*dumped{}, true
	thread, lines := &dumped{}, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := threadLine.FindStringSubmatch(line); m != nil {
			id, _ := strconv.ParseUint(m[1], 16, 64)
			thread, lines = &dumped{}, 0
			// What is said of it once more is of a later moment. A thread that is about to begin
			// has the ID of the one that starts it, and no frames.
			if all[id] == nil || len(all[id].frames) == 0 {
				all[id] = thread
			}
			continue
		}
		m := frameLine.FindStringSubmatch(line)
		if m != nil {
			if lines++; lines == 50 { // it stops at 100, and counts entries without a line, too
				thread.cut = true
			}
		}
		switch {
		case m != nil && (m[1] == "<shim>" || m[1] == m[3]): // the interpreter's own code
		case m != nil:
			name, number := unescape(m[3]), strings.TrimLeft(m[2], "?")
			thread.frames = append(thread.frames, fmt.Sprintf("%s:%s in %s", unescape(m[1]), cmp.Or(number, "0"), name[strings.LastIndexByte(name, '.')+1:]))
		case line == "  <invalid frame>": // where a class was called (3.13 on)
			thread.cut = true
		case line == "...", strings.HasPrefix(line, "<"):
			whole = false
		}
	}
	return all, whole
}

// unescape undoes what faulthandler does to characters that are not ASCII.
func unescape(text string) string {
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		return plain
	}
	return text
}

// TestFrames holds the frames of each release against what faulthandler says of the same threads.
func TestFrames(t *testing.T) {
	program, err := filepath.Abs("testdata/frames.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.Start(t, interpreter, program)
			got := walk(t, p.PID)
			want := faulthandler(t, p)
			if len(got) != len(want) || len(want) < 5 {
				t.Errorf("%d threads, faulthandler has %d", len(got), len(want))
			}
			for thread, w := range want {
				d := got[thread]
				if d == nil {
					t.Errorf("thread %#x is missing", thread)
					continue
				}
				if have := d.frames(); !w.equal(have) {
					t.Errorf("thread %#x:\n%s\nfaulthandler:\n%s", thread, strings.Join(have, "\n"), strings.Join(w.frames, "\n"))
				}
				if d.Said != nil && len(d.Said.Warnings) > 0 {
					t.Errorf("thread %#x: %v", thread, d.Said.Warnings)
				}
			}
		})
	}
}

// freeThreaded reports whether an interpreter has no GIL.
func freeThreaded(t *testing.T, interpreter string) bool {
	t.Helper()
	return asked(t, interpreter, "bool(sysconfig.get_config_var('Py_GIL_DISABLED'))")
}

// asked returns what an interpreter says of a condition.
func asked(t *testing.T, interpreter, condition string) bool {
	t.Helper()
	out, err := exec.Command(interpreter, "-c", "import sys, sysconfig; print("+condition+")").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "True"
}
