package goroutine

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// traceback is a goroutine as the runtime itself prints it, with GOTRACEBACK=system.
type traceback struct {
	number  uint64
	g, m    uint64 // addresses of the structs; g is 0 where the release does not say so
	status  string
	frames  []line
	elided  int // number of frames left out behind frames[:head]
	head    int
	created string
}

// line is one frame of a traceback, or an inlined call, which has no pc and no sp.
type line struct {
	function, file string
	line           int
	pc, sp         uint64
}

var (
	headLine   = regexp.MustCompile(`^goroutine (\d+)(?: gp=(0x[0-9a-f]+) m=(?:nil|\d+(?: mp=(0x[0-9a-f]+))?))? \[([^],]*(?:\([^)]*\))?)[^]]*\]:$`)
	fileLine   = regexp.MustCompile(`^\t(.*):(\d+)(?: \+0x[0-9a-f]+)?(?: fp=0x[0-9a-f]+ sp=(0x[0-9a-f]+) pc=(0x[0-9a-f]+))?$`)
	elidedLine = regexp.MustCompile(`^\.\.\.(\d+) frames elided\.\.\.$`)
	createdBy  = regexp.MustCompile(`^created by (.*?)(?: in goroutine \d+)?$`)
)

// readTracebacks reads the tracebacks of goroutines that a process has written, by number. It skips
// other output.
func readTracebacks(t testing.TB, r io.Reader) map[uint64]*traceback {
	t.Helper()
	all := map[uint64]*traceback{}
	var now *traceback
	function, created := "", false
	s := bufio.NewScanner(r)
	for s.Scan() {
		text := s.Text()
		if f := headLine.FindStringSubmatch(text); f != nil {
			now = &traceback{number: number(t, f[1]), g: number(t, f[2]), m: number(t, f[3]), status: f[4]}
			if now.number == 0 || all[now.number] != nil { // of a thread, or added by its signal handler
				now = nil
				continue
			}
			all[now.number] = now
			created = false
			continue
		}
		switch {
		case strings.HasPrefix(text, "goroutine ") && strings.HasSuffix(text, ":"):
			t.Fatalf("%q is not understood", text)
		case now == nil:
		case text == "":
			now = nil
		case elidedLine.MatchString(text):
			now.head, now.elided = len(now.frames), int(number(t, elidedLine.FindStringSubmatch(text)[1]))
		case strings.HasPrefix(text, "created by "):
			now.created, created = createdBy.FindStringSubmatch(text)[1], true
		case strings.HasPrefix(text, "\t"):
			f := fileLine.FindStringSubmatch(text)
			if f == nil {
				t.Fatalf("%q is not understood", text)
			}
			if !created {
				now.frames = append(now.frames, line{function, strings.TrimPrefix(f[1], "./"), int(number(t, f[2])), number(t, f[4]), number(t, f[3])})
			}
		case strings.HasSuffix(text, ")"):
			function = text[:openParenthesis(text)]
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// openParenthesis returns the index at which the arguments of a call begin: f.(*T).g(0x1, {0x2}).
func openParenthesis(call string) int {
	depth := 0
	for i := len(call) - 1; i > 0; i-- {
		switch call[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(call)
}

func number(t testing.TB, text string) uint64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// plainName returns a function's name as the runtime prints it: without type arguments.
func plainName(name string) string {
	i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if i < 0 || j < i {
		return name
	}
	return name[:i] + "[...]" + name[j+1:]
}

func (l line) String() string {
	return fmt.Sprintf("%s %s:%d pc=%#x sp=%#x", l.function, l.file, l.line, l.pc, l.sp)
}
