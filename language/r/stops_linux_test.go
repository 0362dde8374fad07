package r_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/r"
)

// program returns the path of R's own program, which Rscript starts by way of a shell, and sets the
// environment that it needs.
func program(t *testing.T) string {
	t.Helper()
	gdbtest.Tool(t, "Rscript")
	home := "/usr/lib/R"
	path := filepath.Join(home, "bin/exec/R")
	gdbtest.File(t, path)
	t.Setenv("R_HOME", home)
	t.Setenv("R_DEFAULT_PACKAGES", "datasets,utils,grDevices,graphics,stats,methods")
	return path
}

// script returns the path of a file of testdata.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// oracle compiles testdata/oracle.c.
func oracle(t *testing.T) string {
	t.Helper()
	return gdbtest.Compile(t, script(t, "oracle.c"), gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-O1")
}

// sample stops a process, calls look, and has R's profiler write the stack of the same moment.
func sample(t *testing.T, p *gdbtest.Process, look func()) {
	t.Helper()
	for range rand.N(100) {
		p.States(t) // it runs meanwhile
	}
	p.Stop(t)
	look()
	if err := unix.Tgkill(p.PID, p.PID, unix.SIGPROF); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the profiler has written", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", p.PID, p.PID))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if mask, ok := bytes.CutPrefix(line, []byte("SigPnd:\t")); ok {
				var pending uint64
				_, _ = fmt.Sscanf(string(mask), "%x", &pending)
				return pending&(1<<(unix.SIGPROF-1)) == 0
			}
		}
		return false
	})
}

// item is a name or a place in a line of Rprof's.
var item = regexp.MustCompile(`"((?:[^"]|\[\["[^"]*"\]\])*)"|(\d+)#(\d+)`)

// frames returns the frames of Rprof's line, the innermost first: "name file#line".
func frames(line string, files map[string]string) (list []string) {
	place := "#0"
	for _, m := range item.FindAllStringSubmatch(line, -1) {
		switch {
		case m[2] != "":
			place = files[m[2]] + "#" + m[3]
		case m[1] == "GC" || m[1] == "<GC>":
		default:
			list = append(list, m[1]+" "+place)
			place = "#0"
		}
	}
	return list
}

// TestStops stops a busy program at random moments. Its frames are the ones that R's own profiler
// tells at the same moment.
func TestStops(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	dir := t.TempDir()
	profile, end := filepath.Join(dir, "profile"), filepath.Join(dir, "end")
	p := gdbtest.StartRunning(t, program(t), "--no-echo", "--no-restore", "--file="+script(t, "busy.R"), "--args", profile, end, oracle(t), script(t, "sourced.R"))
	var got [][]string
	var stacks []*languagetest.Thread
	for range stops {
		sample(t, p, func() {
			d := languagetest.Attach(t, p.PID, r.Decorator{}, nil)[p.PID]
			var list []string
			for _, f := range d.Frames() {
				list = append(list, fmt.Sprintf("%s %s#%d", f.Function, f.File, f.Line))
			}
			if w := d.Warnings(); len(w) > 0 {
				t.Errorf("%q", w)
			}
			got, stacks = append(got, list), append(stacks, d)
		})
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the end of R", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/stat", p.PID))
		return err != nil
	})
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	files, samples := map[string]string{}, []string(nil)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if rest, ok := strings.CutPrefix(line, "#File "); ok {
			number, name, _ := strings.Cut(rest, ": ")
			files[number] = name
		} else if i > 0 {
			samples = append(samples, line)
		}
	}
	seen, lines, innermost := 0, 0, 0
	for i := range min(len(samples), len(got)) {
		want := frames(samples[i], files)
		if len(want) > 0 && len(got[i]) > 0 && want[0] != got[i][0] && strings.HasSuffix(got[i][0], " #0") {
			innermost++ // bytecode runs
			got[i][0] = want[0]
		}
		if !slices.Equal(got[i], want) {
			t.Fatalf("%d: R says\n%s\nand sfwalk\n%s\n%s", i, strings.Join(want, "\n"), strings.Join(got[i], "\n"), dump(stacks[i]))
		}
		for _, f := range want {
			if !strings.HasSuffix(f, "#0") {
				lines++
			}
		}
		seen += len(want)
	}
	t.Logf("%d stops, %d samples, %d frames, %d of them with lines, %d innermost ones without", len(got), len(samples), seen, lines, innermost)
	if len(samples) < stops-stops/20 || seen == 0 {
		t.Error("R's profiler has too few samples")
	}
}

func dump(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		fmt.Fprintf(&b, "#%d %#x in %#x\n", level, f.PC(), fn)
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				fmt.Fprintf(&b, "    %s %s:%d %s\n", in.Function, in.File, in.Line, in.Kind)
			}
		}
	}
	return b.String()
}
