package stacks_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var (
	threadLine = regexp.MustCompile(`^Thread (\d+)`)
	frameLine  = regexp.MustCompile(`^#(\d+) +(?:0x[0-9a-f]+ in )?(\S+)`)
	gapLine    = regexp.MustCompile(`^    \((\d+) frames? of the standard library\)$`)
)

// shortStack is a stack of --short as it is printed.
type shortStack struct {
	levels map[int]string // of frames that are there: the text behind the level
	gaps   int            // how many frames the lines say that are left out
}

// shortStacks reads what --short prints, by thread.
func shortStacks(t *testing.T, out string) map[int]*shortStack {
	t.Helper()
	stacks := map[int]*shortStack{}
	var at *shortStack
	next := 0
	for _, line := range strings.Split(out, "\n") {
		if m := threadLine.FindStringSubmatch(line); m != nil {
			tid, _ := strconv.Atoi(m[1])
			at, next = &shortStack{levels: map[int]string{}}, 0
			stacks[tid] = at
		} else if m := gapLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			at.gaps += n
			next += n
		} else if m := frameLine.FindStringSubmatch(line); m != nil {
			if level, _ := strconv.Atoi(m[1]); level != next {
				t.Errorf("level %d where the lines before make it %d:\n%s", level, next, out)
			}
			at.levels[next] = line
			next++
		}
	}
	return stacks
}

// Of a stack of C++ or Rust, --short leaves out frames whose lines are the library's, and no
// others: gdb tells the levels and the source files.
func TestShort(t *testing.T) {
	for name, program := range map[string]struct {
		build   func(t *testing.T) string
		library *regexp.Regexp
		source  string
		gaps    int // of frames that are left out, at least
	}{
		"C++": {func(t *testing.T) string { return gdbtest.Build(t, "libraryplumbing.cc", "-g", "-O0") },
			regexp.MustCompile(`/c\+\+/\d+/|libstdc\+\+`), "libraryplumbing.cc", 60},
		"C++, optimized": {func(t *testing.T) string { return gdbtest.Build(t, "libraryplumbing.cc", "-g", "-O2") },
			regexp.MustCompile(`/c\+\+/\d+/|libstdc\+\+`), "libraryplumbing.cc", 40},
		"C++ by clang, with libc++": {func(t *testing.T) string {
			return gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "libraryplumbing.cc"), gdbtest.Tool(t, "clang++"), "-std=c++17", "-stdlib=libc++", "-g", "-O0", "-pthread")
		}, regexp.MustCompile(`/c\+\+/v1/|libc\+\+`), "libraryplumbing.cc", 40},
		"Rust": {func(t *testing.T) string {
			return gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "libraryplumbing.rs"), gdbtest.Tool(t, "rustc"), "--edition=2021", "-g")
		}, regexp.MustCompile(`library/(std|core|alloc)/|/rust/deps/`), "libraryplumbing.rs", 60},
		"Rust, optimized": {func(t *testing.T) string {
			return gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "libraryplumbing.rs"), gdbtest.Tool(t, "rustc"), "--edition=2021", "-g", "-O")
		}, regexp.MustCompile(`library/(std|core|alloc)/|/rust/deps/`), "libraryplumbing.rs", 60},
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.Start(t, program.build(t))
			pid := strconv.Itoa(p.PID)
			out, _, err := commandtest.Run("attach", pid, "--short")
			if err != nil {
				t.Fatal(err)
			}
			stacks := shortStacks(t, out)
			gaps, own := 0, 0
			for _, th := range gdbtest.Backtrace(t, p.PID) {
				stack := stacks[th.TID]
				if stack == nil {
					t.Fatalf("no thread %d in\n%s", th.TID, out)
				}
				if len(stack.levels)+stack.gaps == len(th.Frames)+1 && name == "C++, optimized" {
					continue // gdb 13 lacks a tail call to pthread_once
				}
				gaps += stack.gaps
				if len(stack.levels)+stack.gaps != len(th.Frames) {
					t.Errorf("thread %d: %d frames and %d left out, gdb has %d", th.TID, len(stack.levels), stack.gaps, len(th.Frames))
				}
				for _, f := range th.Frames {
					line, shown := stack.levels[f.Level]
					library := program.library.MatchString(f.File) || program.library.MatchString(f.Module) || strings.Contains(f.File, "gthr-default.h") ||
						f.Function == "__pthread_once_slow" || f.Function == "__rust_try"
					if !shown && (!library || f.Level == 0) {
						t.Errorf("thread %d: frame %d, %s at %s, is left out", th.TID, f.Level, f.Function, f.File)
					}
					if strings.HasSuffix(f.File, program.source) {
						if own++; !strings.Contains(line, program.source+":"+strconv.Itoa(f.Line)) {
							t.Errorf("thread %d: frame %d is %q, gdb has line %d", th.TID, f.Level, line, f.Line)
						}
					}
				}
			}
			if gaps < program.gaps || own < 20 {
				t.Errorf("%d frames are left out, %d are the program's own:\n%s", gaps, own, out)
			}
			if !strings.Contains(out, "--full prints them") {
				t.Error("nothing says how to see all")
			}

			// All frames are there without the flag, with --full, with values, and in JSON.
			whole, _, err := commandtest.Run("attach", pid)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"--full"}, {"--short=false"}, {"--short", "--args"}, {"--short", "--json"}} {
				got, _, err := commandtest.Run(append([]string{"attach", pid}, args...)...)
				if err != nil {
					t.Fatal(err)
				}
				if args[0] == "--short" && args[1] == "--json" {
					if n, want := strings.Count(got, `"level":`), strings.Count(whole, "\n#"); n != want {
						t.Errorf("%q: %d frames, want %d", args, n, want)
					}
				} else if n, want := strings.Count(got, "\n#"), strings.Count(whole, "\n#"); n != want {
					t.Errorf("%q: %d frames, want %d", args, n, want)
				}
			}

			// Equal stacks are equal by their full names, and the tree leaves out the same frames.
			for _, flag := range []string{"--merge", "--tree"} {
				got, _, err := commandtest.Run("attach", pid, "--short", flag)
				if err != nil || !strings.Contains(got, program.source) || !strings.Contains(got, "--full prints them") {
					t.Errorf("%s: %v\n%s", flag, err, got)
				}
			}
		})
	}
}

// A function of the program's may be inlined into an instance of the library's templates. Where no
// debug information tells, the frame stays.
func TestShortWithoutLines(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "libraryplumbing.cc", "-O2"))
	out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--short")
	if err != nil {
		t.Fatal(err)
	}
	stacks := shortStacks(t, out)
	for _, th := range gdbtest.Backtrace(t, p.PID) {
		for _, f := range th.Frames {
			if _, shown := stacks[th.TID].levels[f.Level]; !shown && f.Module == "" && strings.Contains(f.Function, "lambda") {
				t.Errorf("%s is left out", f.Function)
			}
		}
	}
	if !strings.Contains(out, "of the standard library)") {
		t.Errorf("nothing is left out:\n%s", out)
	}
}
