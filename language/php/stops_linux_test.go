package php_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/php"
	"github.com/sfwalk/sfwalk/trad"
)

// TestStops interrupts a program at random moments, which does all that PHP can do. PHP itself says
// what is called at each moment: all frames are there, each with its line, in their order.
func TestStops(t *testing.T) {
	stops := 100
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 3000
	}
	extension := oracle(t)
	for name, settings := range map[string][]string{
		"interpreted": {"opcache.enable_cli=0"},
		"optimised":   {"opcache.enable_cli=1", "opcache.jit=off"},
		"functions":   {"opcache.enable_cli=1", "opcache.jit=function", "opcache.jit_buffer_size=64M"},
		"traces":      {"opcache.enable_cli=1", "opcache.jit=tracing", "opcache.jit_buffer_size=64M"},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, t.TempDir(), extension, settings...)
			var seen tally
			peer := languagetest.NewPeer(t)
			for range stops {
				p.run(t, rand.N(100))
				text, ok := p.ask(t)
				if !ok {
					// A signal's handler may not ask in all moments, and compilers have faults.
					if seen.Ended++; seen.Ended > 1+stops/50 {
						t.Fatalf("PHP has ended %d times", seen.Ended)
					}
					p = begin(t, t.TempDir(), extension, settings...)
					continue
				}
				thread := languagetest.Attach(t, p.PID, php.Decorator{}, nil)[p.PID]
				seen.compare(t, thread, parseOracle(t, text))
				seen.exception(t, thread, text)
				peer.Compare(calls(parseOracle(t, text), compiles(t, settings)), languagetest.Calls(thread.Frames()), peer.Calls(t, p.PID, p.PID))
				if t.Failed() {
					for _, f := range thread.Stack.Frames {
						start, _ := f.Function()
						t.Logf("%v, of the function at %#x, by %s", f, start, f.Sniffer())
					}
					t.Fatalf("all frames:\n%s\nPHP says:\n%s", list(thread.Frames()), text)
				}
				p.goOn(t)
			}
			t.Logf("%+v", seen)
			if seen.Made == 0 && compiles(t, settings) {
				t.Error("no stack had code of PHP's compiler")
			}
		})
	}
}

// compiles reports whether PHP's compiler works with some settings.
func compiles(t *testing.T, settings []string) bool {
	t.Helper()
	var arguments []string
	for _, s := range settings {
		arguments = append(arguments, "-d", s)
	}
	arguments = append(arguments, "-r", `echo function_exists("opcache_get_status") && (opcache_get_status(false)["jit"]["on"] ?? false) ? "on" : "off";`)
	out, err := exec.Command(gdbtest.Tool(t, "php"), arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out) == "on"
}

// interrupts is the signal for which the extension answers: glibc's SIGRTMIN+5.
const interrupts = syscall.Signal(39)

// oracle builds the extension that says what is called.
func oracle(t *testing.T) string {
	t.Helper()
	gdbtest.Later(t, "php")
	out, err := exec.Command(gdbtest.Tool(t, "php-config"), "--includes").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "oracle.so")
	arguments := append(strings.Fields(string(out)), "-shared", "-fPIC", "-O1", "-w", "-o", path, "testdata/oracle.c")
	if out, err := exec.Command("cc", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// The file by which the extension and the test speak begins with three numbers of four bytes.
const (
	writtenAt = 0
	readAt    = 4
	lengthAt  = 8
	textAt    = 12
)

// program runs testdata/calls.php, and says what is called.
type program struct {
	*gdbtest.Process
	said *os.File
}

// begin starts the program in a folder, in which it leaves its core file.
func begin(t *testing.T, dir, extension string, settings ...string) *program {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "calls.php"))
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(dir, "oracle")
	t.Setenv("ORACLE", shared)
	arguments := []string{"-c", `cd "$1"; shift; ulimit -c unlimited; exec "$@"`, "sh", dir, gdbtest.Tool(t, "php"), "-d", "extension=" + extension, "-d", "opcache.file_update_protection=0", "-d", "pcre.jit=0"}
	for _, s := range settings {
		arguments = append(arguments, "-d", s)
	}
	p := &program{Process: gdbtest.StartRunning(t, "/bin/sh", append(arguments, script)...)}
	if p.said, err = os.OpenFile(shared, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.said.Close() })
	return p
}

func (p *program) number(t *testing.T, at int64) uint32 {
	t.Helper()
	var b [4]byte
	if _, err := p.said.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	return binary.NativeEndian.Uint32(b[:])
}

// run lets the program run for as long as it takes to look at it n times.
func (p *program) run(t *testing.T, n int) {
	t.Helper()
	for range n {
		os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID)) // it may have ended
	}
}

// ask interrupts the program, which then stands still, and returns what PHP says.
// ok is false if the program has ended.
func (p *program) ask(t *testing.T) (said string, ok bool) {
	t.Helper()
	syscall.Kill(p.PID, interrupts)
	ended := func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		return err != nil || bytes.Contains(state, []byte(") Z "))
	}
	gdbtest.Await(t, "PHP says what is called", func() bool { return p.number(t, writtenAt) != p.number(t, readAt) || ended() })
	if ended() {
		return "", false
	}
	text := make([]byte, p.number(t, lengthAt))
	if _, err := p.said.ReadAt(text, textAt); err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// goOn lets the program go on.
func (p *program) goOn(t *testing.T) {
	t.Helper()
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], p.number(t, writtenAt))
	if _, err := p.said.WriteAt(b[:], readAt); err != nil {
		t.Fatal(err)
	}
}

// expected is a frame as PHP says it.
type expected struct {
	function, file string
	lines          []int // one of them; none for a function of C
	unknown        bool  // file and line are not said
	perhaps        bool  // it may be over
}

// parseOracle reads what the extension has written. An entry of PHP's trace says which function was
// called, and where: the line is the caller's.
func parseOracle(t *testing.T, text string) (frames []expected) {
	t.Helper()
	at := expected{}
	first, frameless := true, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "exception ") {
			continue
		}
		if line == "frameless" {
			frameless = true
			continue
		}
		if line == "unknown" {
			at = expected{unknown: true}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "innermost "); ok {
			words := strings.SplitN(rest, " ", 3)
			saved, _ := strconv.Atoi(words[0])
			register, _ := strconv.Atoi(words[1])
			at = expected{file: words[2], lines: []int{register, saved}}
			continue
		}
		words := strings.Split(line, "\t")
		if len(words) != 3 {
			t.Fatalf("%q", line)
		}
		at.function, first = words[0], false
		frames = append(frames, at)
		at = expected{}
		if words[1] != "" {
			n, err := strconv.Atoi(words[2])
			if err != nil {
				t.Fatalf("%q", line)
			}
			at = expected{file: words[1], lines: []int{n}}
		}
	}
	if frameless { // the innermost function of PHP has called a function of C without a record
		frames[1].lines = frames[0].lines
		frames[0] = expected{function: frames[0].function, perhaps: true}
	}
	// A generator that is just being resumed is not linked to its caller yet.
	if at.file != "" || first && text != "" {
		at.function = "{main}"
		frames = append(frames, at)
	}
	return frames
}

// calls returns what PHP says in the form in which tools are compared. In compiled code neither the
// register nor memory has the innermost line for certain.
func calls(frames []expected, compiled bool) (list []languagetest.Call) {
	for _, f := range frames {
		c := languagetest.Call{Function: f.function, File: f.file}
		if len(f.lines) > 0 {
			c.Line = f.lines[0]
			if compiled {
				c.Or = f.lines[len(f.lines)-1]
			}
		}
		list = append(list, c)
	}
	return list
}

// tally counts what was compared.
type tally struct {
	Stops, Frames, Guesses int
	// Ended counts how often PHP has crashed when it was asked.
	Ended int
	// More are functions of C that PHP leaves out of its traces, if no instruction for calls has
	// called them.
	More int
	// Twice counts where PHP has a generator twice, which is just beginning to wait for another.
	Twice int
	// Cut counts where PHP's own trace ends too early.
	Cut int
	// Exceptions counts the moments in which there was one.
	Exceptions int
	// Made counts physical frames of compiled code.
	Made int
	// Register counts where the line by the register is not the one in memory.
	Register int
}

func (n *tally) compare(t *testing.T, thread *languagetest.Thread, want []expected) {
	t.Helper()
	n.Stops++
	last := thread.Stack.Frames[len(thread.Stack.Frames)-1]
	if !thread.Stack.Whole && len(want) > 0 {
		t.Errorf("the stack ends at %v: %v", last, last.StopReason())
	}
	for _, f := range thread.Stack.Frames {
		switch by := f.Sniffer(); {
		case by == "zend":
			n.Made++
		case f != last && f.Row().Flags&trad.Guess != 0:
			t.Errorf("%v is a guess by %s", f, by)
		}
	}
	all := thread.Frames()
	got := all
	cut := len(want) > 0 && want[len(want)-1].function != "{main}"
	if w := thread.Warnings(); len(w) > 0 {
		t.Errorf("%q", w)
	}
	var innermost *expected // of a generator; nil if another frame is to be compared next
	for len(got) > 0 || len(want) > 0 {
		switch {
		case len(got) > 0 && len(want) > 0 && same(&got[0], &want[0]):
			n.Frames++
			if got[0].Guess {
				n.Guesses++
			}
			if l := want[0].lines; len(l) == 2 && l[0] != l[1] && got[0].Line == l[0] {
				n.Register++ // of the innermost frame
			}
			if innermost = nil; len(got) == len(all) && got[0].Kind == "generator" {
				innermost = &want[0]
			}
			got, want = got[1:], want[1:]
		case len(want) > 0 && want[0].perhaps:
			want = want[1:]
		case len(want) > 0 && want[0].function == "unknown":
			want = want[1:] // a record without a function: the engine has just called one
		case innermost != nil && len(want) > 0 && want[0].function == innermost.function && len(want[0].lines) == 1 && slices.Contains(innermost.lines, want[0].lines[0]):
			n.Twice++
			innermost, want = nil, want[1:]
		case len(want) == 0 && cut:
			n.Cut++
			return
		case len(got) > 0 && got[0].Kind == "native":
			n.More++
			got = got[1:]
		default:
			t.Errorf("they differ from here on:\n%s\nPHP says:\n%+v", list(got), want)
			return
		}
	}
}

// exception compares the exception in flight.
func (n *tally) exception(t *testing.T, thread *languagetest.Thread, text string) {
	t.Helper()
	want, got := "", ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "exception "); ok {
			want = strings.TrimSpace(rest)
			n.Exceptions++
		}
	}
	if thread.Said != nil {
		got = thread.Said.Threads[0].Exception
	}
	if got != want {
		t.Errorf("the exception %q, PHP says %q", got, want)
	}
}

func same(got *language.Placed, want *expected) bool {
	switch {
	case got.Function != want.function:
		return false
	case want.unknown:
		return true
	case got.File != want.file && utf8.ValidString(want.file): // else it is freed already, as of an eval that is over
		return false
	}
	for _, line := range want.lines {
		if got.Line == line {
			return true
		}
	}
	return len(want.lines) == 0 && got.Kind == "native" || got.Guess && len(want.lines) == 2
}

func list(frames []language.Placed) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s %s:%d %s\n", f.Function, f.File, f.Line, f.Kind)
	}
	return b.String()
}
