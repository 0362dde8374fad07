package ruby_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/ruby"
)

// rubies returns the interpreters of this machine.
func rubies(t *testing.T) (list []string) {
	t.Helper()
	gdbtest.Later(t, "ruby")
	gdbtest.Tool(t, "ruby")
	seen := map[string]bool{}
	for _, name := range strings.Fields("ruby ruby3.1 ruby3.2 ruby3.3 ruby3.4 ruby4.0") {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && !seen[real] {
			seen[real] = true
			list = append(list, path)
		}
	}
	return list
}

// command is a way to run Ruby's programs.
type command struct {
	interpreter string
	flags       []string
	compiles    bool
}

func (c *command) String() string {
	return strings.Join(append([]string{filepath.Base(c.interpreter)}, c.flags...), " ")
}

// commands returns the interpreters of this machine, and with them the ones that have YJIT.
func commands(t *testing.T) (list []command) {
	t.Helper()
	for _, interpreter := range rubies(t) {
		list = append(list, command{interpreter: interpreter})
		flags := []string{"--yjit", "--yjit-call-threshold=2"}
		if exec.Command(interpreter, append(flags, "-e", "exit RubyVM::YJIT.enabled?")...).Run() == nil {
			list = append(list, command{interpreter, flags, true})
		}
	}
	return list
}

// compiled counts the frames of compiled code, which are hidden. The stack must be whole.
func compiled(t *testing.T, d *languagetest.Thread) (n int) {
	t.Helper()
	if !d.Stack.Whole {
		t.Error("the stack is not whole")
	}
	for level, f := range d.Stack.Frames {
		if f.Sniffer() != "yjit" {
			continue
		}
		if n++; len(d.Frames()) > 0 && (d.Said.At[level] == nil || !d.Said.At[level].Hidden) {
			t.Error("a frame of YJIT's code is shown")
		}
	}
	return n
}

// moment builds the extension of testdata/moment, and returns its folder.
func moment(t *testing.T, interpreter string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/moment")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{interpreter, "extconf.rb"}, {"make"}} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); strings.Contains(string(out), "can't find header files for ruby") {
			gdbtest.Missing(t, "the headers of Ruby are needed (ruby-dev)")
		} else if err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	return dir
}

// shared is the file in which testdata/moment/moment.c answers.
type shared []byte

// What the file has, as in struct shared.
const (
	mostText    = 1 << 20
	atLength    = 8
	atText      = 12
	atNumber    = atText + mostText
	atAnnouncer = atNumber + 4
	atAnnounced = atAnnouncer + 4
	atAnnounce  = atAnnounced + 4
	sharedSize  = atAnnounce + mostText
)

// States of a moment.
const (
	idle = iota
	asked
	held
	goOn
	done
	told
)

func (s shared) word(at int) *uint32 { return (*uint32)(unsafe.Pointer(&s[at])) }

func (s shared) get(at int) int { return int(atomic.LoadUint32(s.word(at))) }

func (s shared) text(length, at int) string {
	return string(s[at : at+int(binary.NativeEndian.Uint32(s[length:]))])
}

// startBusy starts testdata/busy.rb by a command, which ends with the interpreter. The extension is
// in the folder dir.
func startBusy(t *testing.T, dir string, command ...string) (*gdbtest.Process, shared) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(sharedSize); err != nil {
		t.Fatal(err)
	}
	s, err := unix.Mmap(int(file.Fd()), 0, sharedSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(s) })
	return gdbtest.StartRunning(t, command[0], append(command[1:], absolute(t, "busy.rb"), dir, file.Name())...), s
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// withoutClass matches a function's name with a class, which Ruby's own traces have from 3.4 on.
var withoutClass = regexp.MustCompile(`((?:^|.* in ))[A-Z][\w:]*[#.]`)

// asRuby writes frames as Ruby's own traces do.
func asRuby(list []language.Placed, program string, classes bool) (lines []string) {
	for _, f := range list {
		name, quote := f.Function, "'"
		if !classes {
			name, quote = withoutClass.ReplaceAllString(name, "$1"), "`"
		}
		place := fmt.Sprintf("%s:%d", f.File, f.Line)
		if f.File == "" {
			place = program // where no code of Ruby's has called the function in C
		}
		lines = append(lines, fmt.Sprintf("%s:in %s%s'", place, quote, name))
	}
	return lines
}

// announced returns the trace that was announced last.
func (s shared) announced() []string { return strings.Split(s.text(atAnnounced, atAnnounce), "\n") }

// hasClasses reports whether a trace is of 3.4 or later.
func hasClasses(trace []string) bool { return !strings.Contains(trace[0], "`") }

// traced matches a line of a trace of Ruby's.
var traced = regexp.MustCompile("^(.*):(\\d+):in ['`](.*)'$")

// calls reads a trace of Ruby's.
func calls(trace []string) (list []languagetest.Call) {
	for _, text := range trace {
		if m := traced.FindStringSubmatch(text); m != nil {
			line, _ := strconv.Atoi(m[2])
			list = append(list, languagetest.Call{Function: m[3], File: m[1], Line: line})
		}
	}
	return list
}

// stopAnnounced stops a process where it has just announced a trace. It returns the number of that.
func stopAnnounced(t *testing.T, p *gdbtest.Process, s shared) (number int) {
	t.Helper()
	gdbtest.Await(t, "a trace is announced for long enough", func() bool {
		gdbtest.Await(t, "a trace is announced", func() bool { return s.get(atNumber)%2 == 1 })
		number = s.get(atNumber)
		p.Stop(t)
		if s.get(atNumber) == number && number%2 == 1 {
			return true
		}
		p.Continue(t)
		return false
	})
	return number
}

// TestAnnounced stops a program at random: where it has just announced its own trace, and is still
// there, each frame is as the trace has it.
func TestAnnounced(t *testing.T) {
	for _, c := range commands(t) {
		t.Run(c.String(), func(t *testing.T) {
			p, s := startBusy(t, moment(t, c.interpreter), append([]string{c.interpreter}, c.flags...)...)
			peer := languagetest.NewPeer(t)
			looks, frames, ofYJIT := 40, 0, 0
			if n, err := strconv.Atoi(os.Getenv("SFWALK_SOAK")); err == nil {
				looks = max(looks, n)
			}
			for range looks {
				stopAnnounced(t, p, s)
				all := languagetest.Attach(t, p.PID, ruby.Decorator{}, nil)
				want := s.announced()
				d := all[s.get(atAnnouncer)]
				if d == nil {
					t.Fatal("the thread is missing")
				}
				got := asRuby(d.Frames(), absolute(t, "busy.rb"), hasClasses(want))
				if !slices.Equal(got, want) {
					t.Errorf("got:\n%s\nRuby says:\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), d.Warnings())
				}
				frames += len(got)
				peer.Compare(calls(want), calls(got), peer.Calls(t, p.PID, s.get(atAnnouncer)))
				checkPlaces(t, d)
				ofYJIT += compiled(t, d)
				if w := d.Warnings(); len(w) > 0 {
					t.Errorf("%q", w)
				}
				p.Continue(t)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d stops, %d frames, %d of YJIT's code", looks, frames, ofYJIT)
			if c.compiles != (ofYJIT > 0) {
				t.Error("whether code was compiled is not as wanted")
			}
		})
	}
}

// checkPlaces holds the places of the extension's functions against its code: each is looked for
// between two calls of the evaluator alone, so that the runs around it are in their places, too.
func checkPlaces(t *testing.T, d *languagetest.Thread) {
	t.Helper()
	for level, f := range d.Stack.Frames {
		p := d.Said.At[level]
		if p == nil {
			continue
		}
		for _, x := range p.Frames {
			in := f.Module() != nil && filepath.Base(f.Module().Path) == "moment.so"
			if of := strings.HasPrefix(x.Function, "Moment."); of != in {
				t.Errorf("%s stands at level %d, in %v", x.Function, level, f.Module())
			}
		}
	}
}

// TestMoments stops threads at any moment, and has Ruby itself tell their frames in the handler of
// a signal: by rb_profile_frames, which tells blocks of methods by their methods' names.
func TestMoments(t *testing.T) {
	for _, c := range commands(t) {
		t.Run(c.String(), func(t *testing.T) {
			p, s := startBusy(t, moment(t, c.interpreter), append([]string{c.interpreter}, c.flags...)...)
			looks, frames, more, ofYJIT := 60, 0, 0, 0
			if n, err := strconv.Atoi(os.Getenv("SFWALK_SOAK")); err == nil {
				looks = max(looks, n)
			}
			for range looks {
				tid := anyThread(t, p.PID)
				atomic.StoreUint32(s.word(4), uint32(tid))
				atomic.StoreUint32(s.word(0), asked)
				if err := unix.Tgkill(p.PID, tid, syscall.SIGPROF); err != nil {
					t.Fatal(err)
				}
				gdbtest.Await(t, "the thread is held", func() bool { return s.get(0) == held })
				d := languagetest.Attach(t, p.PID, ruby.Decorator{}, nil)[tid]
				atomic.StoreUint32(s.word(0), goOn)
				gdbtest.Await(t, "Ruby tells the frames", func() bool { return s.get(0) == told })
				want := s.text(atLength, atText)
				n, dropped, err := profiled(d.Frames(), want)
				if frames, more = frames+n, more+dropped; err != nil {
					t.Fatalf("%v\ngot:\n%s\nRuby says:\n%s\n%q", err, strings.Join(asRuby(d.Frames(), "", true), "\n"), want, d.Warnings())
				}
				ofYJIT += compiled(t, d)
				if w := d.Warnings(); len(w) > 0 {
					t.Errorf("%q", w)
				}
			}
			t.Logf("%d stops, %d frames, %d more of Ruby's, %d of YJIT's code", looks, frames, more, ofYJIT)
			if c.compiles != (ofYJIT > 0) {
				t.Error("whether code was compiled is not as wanted")
			}
			if frames < looks || more > frames/4 {
				t.Error("too many frames are missing")
			}
		})
	}
}

// anyThread returns a thread of a process, but not the one that serves.
func anyThread(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for {
		tid, err := strconv.Atoi(tasks[rand.N(len(tasks))].Name())
		if err != nil {
			t.Fatal(err)
		}
		if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid)); strings.HasPrefix(string(comm), "busy") && tid != pid || rand.N(20) == 0 && tid == pid {
			return tid
		}
	}
}

// told by rb_profile_frames: a line, a function, a file.
type profile struct {
	line           int
	function, file string
}

// ofBlock are the words before the name of a method, of code that belongs to it.
var ofBlock = regexp.MustCompile(`^(?:(?:block|block \(\d+ levels\)|rescue|ensure) in )+`)

// anonymous matches what rb_profile_frames has for a class without a name.
var anonymous = regexp.MustCompile(`#<.*>[#.]`)

// profiled compares frames with what rb_profile_frames tells, which has more of them than Ruby's
// own traces have: blocks in C, as the function that has made them; from 3.4 on a rescue clause's
// method, twice; from 4.0 on what Ruby's own methods call. It returns how many frames are equal,
// and how many more it has. [TestAnnounced] sees to it that no function in C is missing.
func profiled(list []language.Placed, text string) (n, more int, err error) {
	var want []profile
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		line, _ := strconv.Atoi(f[0])
		want = append(want, profile{line, anonymous.ReplaceAllString(f[1], ""), f[2]})
	}
	for i := range list {
		f := &list[i]
		for {
			if len(want) == 0 {
				return n, more, fmt.Errorf("Ruby has no frame like %s:%d", f.Function, f.Line)
			}
			w := want[0]
			want = want[1:]
			name := f.Function == w.function || ofBlock.ReplaceAllString(f.Function, "") == w.function
			place := w.line == f.Line && (w.file == f.File || strings.HasPrefix(f.File, "(eval")) || w.line == 0 || strings.HasPrefix(w.file, "<internal:")
			if name && place {
				break
			}
			twice := i > 0 && ofBlock.ReplaceAllString(list[i-1].Function, "") == ofBlock.ReplaceAllString(w.function, "")
			if native := w.line == 0; !twice && !native && !strings.HasPrefix(w.file, "<internal:") {
				return n, more, fmt.Errorf("Ruby has %s:%d, not %s:%d", w.function, w.line, f.Function, f.Line)
			}
			more++
		}
		n++
	}
	for _, w := range want {
		if more++; w.line != 0 {
			return n, more, fmt.Errorf("Ruby has %s:%d, too", w.function, w.line)
		}
	}
	return n, more, nil
}
