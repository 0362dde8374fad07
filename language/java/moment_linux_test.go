package java_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// A busy is a process that runs testdata/Busy.java under testdata/moment.c.
type busy struct {
	*gdbtest.Process
	ask    *os.File
	answer *bufio.Reader
}

// command sends a command to the agent and returns the lines of its answer.
func (b *busy) command(t *testing.T, format string, args ...any) (lines []string) {
	t.Helper()
	fmt.Fprintf(b.ask, format+"\n", args...)
	for {
		line, err := b.answer.ReadString('\n')
		if err != nil {
			t.Fatalf("the agent does not answer: %v", err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			return lines
		}
		lines = append(lines, line)
	}
}

// startBusy starts the program. The agent and the classes are in the folder dir.
func startBusy(t *testing.T, dir string, flags ...string) *busy {
	t.Helper()
	fifos := t.TempDir()
	for _, name := range []string{"ask", "answer"} {
		if err := syscall.Mkfifo(filepath.Join(fifos, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	agent := filepath.Join(dir, "libmoment.so")
	args := append(slices.Clone(flags), "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx256m", "-Xlog:disable", "-agentpath:"+agent+"="+fifos, "-cp", dir, "Busy", agent)
	b := &busy{Process: gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), args...)}
	var err error
	if b.ask, err = os.OpenFile(filepath.Join(fifos, "ask"), os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	answer, err := os.Open(filepath.Join(fifos, "answer"))
	if err != nil {
		t.Fatal(err)
	}
	b.answer = bufio.NewReader(answer)
	t.Cleanup(func() {
		b.ask.Close()
		answer.Close()
	})
	return b
}

// threads returns the IDs of the threads that run.
func (b *busy) threads(t *testing.T) (ids []int) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", b.PID))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, _ := os.ReadFile(filepath.Join(path, "stat"))
		if id, err := strconv.Atoi(filepath.Base(path)); err == nil && strings.Contains(string(stat), " (busy ") && strings.Contains(string(stat), ") R ") {
			ids = append(ids, id)
		}
	}
	return ids
}

// A look is what is seen of a thread that the agent holds.
type look struct {
	frames   []string // Java's, the innermost first
	inner    int      // how many of them stand for the innermost of the compiled code, if that is innermost
	guess    bool     // a frame is a guess
	leaf     bool     // what Java has called runs, without a frame that the machine knows of
	physical []string // all
	warnings []string
}

// lookAt walks a thread.
func lookAt(t *testing.T, pid, tid int) (l look) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, runtimes := findIn(t, tg)
	if len(runtimes) != 1 {
		t.Fatalf("%d virtual machines", len(runtimes))
	}
	for _, th := range threads {
		if th.ID() != tid {
			continue
		}
		stack, err := frame.New(tg, th, sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		s := &language.Stack{Arch: tg.Arch(), Thread: th, Memory: target.MemoryOf(tg, th), Whole: true}
		for f, err := range stack.All() {
			if err != nil {
				l.warnings = append(l.warnings, err.Error())
				break
			}
			s.Frames = append(s.Frames, f)
		}
		l.warnings = append(l.warnings, fmt.Sprint(s.Frames[len(s.Frames)-1].StopReason()))
		d := language.Decorate(s, runtimes)
		if d != nil {
			l.warnings = append(l.warnings, d.Warnings...)
		}
		for level, f := range s.Frames {
			note := ""
			if f.Sniffer() != "dwarf" && f.Sniffer() != "hotspot" {
				note = fmt.Sprint(" ", f.Claim())
			}
			if d != nil && d.At[level] != nil {
				note += " " + d.At[level].Name
			}
			l.physical = append(l.physical, fmt.Sprintf("#%d %#x %s%s", level, f.PC(), f.Sniffer(), note))
			if d == nil || d.At[level] == nil {
				l.leaf = l.leaf || level > 0 && len(l.frames) == 0 && s.Frames[level-1].Type() == frame.SigTramp
				continue
			}
			first := len(l.frames) == 0
			for _, in := range d.At[level].Frames {
				if l.guess = l.guess || in.Guess; first && (in.Kind == "compiled" || in.Kind == "inlined") {
					l.inner++
				}
				l.frames = append(l.frames, shortly(&in.Frame))
				l.physical = append(l.physical, "    "+in.Kind+" "+shortly(&in.Frame))
			}
		}
	}
	return l
}

func shortly(f *language.Frame) string {
	if f.Kind == "native" || f.Line <= 0 {
		return f.Function
	}
	return f.Function + ":" + strconv.Itoa(f.Line)
}

var hidden = regexp.MustCompile(`[.+](0x[0-9a-f]+)$`)

// asTold writes a frame of the agent's as shortly does.
func asTold(t *testing.T, line string) string {
	f := strings.Fields(line)
	if len(f) != 4 {
		t.Fatalf("the agent says %q", line)
	}
	class := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(f[0], "L"), ";"), "/", ".")
	name := hidden.ReplaceAllString(class, "/$1") + "." + f[1]
	if line, _ := strconv.Atoi(f[2]); line > 0 {
		name += ":" + f[2]
	}
	return name
}

// mixed has compiled code call interpreted code, and be called by it, all the time.
const mixed = "-XX:CompileCommand=quiet -XX:CompileCommand=exclude,Busy*.value -XX:CompileCommand=exclude,Busy*.inner" +
	" -XX:CompileCommand=exclude,Busy.inline -XX:CompileCommand=exclude,java.lang.Integer::* -XX:CompileCommand=exclude,java.lang.StringBuilder::*" +
	" -XX:CompileCommand=exclude,java.util.ArrayList::* -XX:CompileCommand=exclude,Busy$Loaded.step"

const (
	untold = "untold"
	differ = "differ"
)

// against compares what is seen with what the machine tells. Of the innermost frame the machine may
// tell another line: it looks into the interpreter's frame, which has what was saved at the last
// call, or behind the place to which a call returns. It does not see callers of its leaves, and it
// may end where C++ has called Java.
func (l *look) against(want []string) string {
	inner := l.inner
	if inner == 0 && len(l.frames) > 0 && len(want) > 0 {
		mine, _, _ := strings.Cut(l.frames[0], ":")
		its, _, _ := strings.Cut(want[0], ":")
		if mine == its || l.guess {
			inner = 1 // if it is a guess, its frame is not made yet
		}
	}
	same := func(end int) bool {
		if end < inner {
			return false
		}
		rest := l.frames[inner:end]
		more := len(want) - len(rest)
		return inner > 0 && (more > 0 || more == 0 && l.guess) && slices.Equal(rest, want[more:])
	}
	switch {
	case len(want) == 0:
		return untold
	case slices.Equal(l.frames, want):
		return "equal"
	case same(len(l.frames)) && l.guess:
		return "guess, rest equal"
	case same(len(l.frames)) && l.inner == 0:
		return "other bytecode, rest equal"
	case same(len(l.frames)):
		return "rest equal"
	}
	for end := range l.frames {
		if slices.Equal(l.frames[:end], want) || same(end) {
			return "told in part"
		}
	}
	if more := len(l.frames) - len(want); (l.guess && more > 0 || l.leaf && more == 1) && slices.Equal(l.frames[more:], want) {
		return "told without callers of leaves"
	}
	return differ
}

// TestMoments stops threads that are busy in many ways, at any moment, and holds each frame against
// what the virtual machine itself says of the same moment.
func TestMoments(t *testing.T) {
	gdbtest.NeedSoak(t) // where the interpreter has the return address in a register, a stack may still be cut short
	gdbtest.Later(t, "java")
	looks := 20
	if n, err := strconv.Atoi(os.Getenv("SFWALK_SOAK")); err == nil {
		looks = max(looks, n/20) // a thousand of make soak's default
	}
	run, javac, cc := gdbtest.Tool(t, "java"), gdbtest.Tool(t, "javac"), gdbtest.Tool(t, "cc")
	home, err := filepath.EvalSymlinks(run)
	if err != nil {
		t.Fatal(err)
	}
	include := filepath.Join(filepath.Dir(filepath.Dir(home)), "include")
	dir := t.TempDir()
	for _, cmd := range [][]string{
		{javac, "-d", dir, "testdata/Busy.java"},
		{cc, "-shared", "-fPIC", "-O1", "-I" + include, "-I" + include + "/linux", "-o", dir + "/libmoment.so", "testdata/moment.c"},
	} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	for i, flags := range []string{"", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-Xint", "-Xcomp", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC", mixed} {
		t.Run(flags, func(t *testing.T) {
			if i > 2 {
				gdbtest.Share(t, i)
			}
			b := startBusy(t, dir, strings.Fields(flags)...)
			counts, cut := map[string]int{}, 0
			for range looks {
				var ids []int
				gdbtest.Await(t, "a thread runs", func() bool {
					ids = b.threads(t)
					return len(ids) > 0
				})
				tid := ids[rand.IntN(len(ids))]
				held := b.command(t, "hold %d", tid)[0]
				if held == "none" {
					counts["it has not come"]++
					continue
				}
				l := lookAt(t, b.PID, tid)
				var want []string
				for _, line := range b.command(t, "go") {
					want = append(want, asTold(t, line))
				}
				what := l.against(want)
				counts[what]++
				whole := len(l.frames) > 0 && strings.HasPrefix(l.frames[len(l.frames)-1], "java.lang.Thread.run")
				if !whole {
					cut++
				}
				if what == differ || !whole {
					t.Logf("%s, %s\n%s\ntold, or why not (%s):\n%s", what, strings.Join(l.warnings, "; "), strings.Join(l.physical, "\n"), held, strings.Join(want, "\n"))
				}
			}
			t.Logf("%d cut short, %v", cut, counts)
			if counts[differ] > 0 || cut*20 > looks {
				t.Error("frames are wrong, or are missing")
			}
			if told := looks - counts[untold] - counts["it has not come"]; told*10 < looks {
				t.Errorf("the machine has told %d of %d stacks", told, looks)
			}
		})
	}
}
