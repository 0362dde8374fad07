package cpp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/async/cpp"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// attached lists the coroutines of a process.
func attached(t testing.TB, pid int, symbols *symbol.Symbolizer) []language.Task {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	list, err := languagetest.Tasker(t, tg, func() []procmaps.Mapping { return tg.Maps(nil) }, symbols, cpp.Decorator{}).Tasks(tg.Now())
	if err != nil {
		t.Error(err)
	}
	return list
}

// program is a program that notes where its coroutines wait.
type program struct {
	*gdbtest.Process
	notes string // the file
}

func start(t testing.TB, path string, workers, ways int) *program {
	t.Helper()
	notes := filepath.Join(t.TempDir(), "notes")
	return &program{gdbtest.StartRunning(t, path, notes, strconv.Itoa(workers), strconv.Itoa(ways)), notes}
}

// noted returns the ways that are noted, by their numbers, and which of them run: those are just
// changing.
func (p *program) noted(t testing.TB) (ways map[int]string, run []int) {
	t.Helper()
	data, err := os.ReadFile(p.notes)
	if err != nil {
		t.Fatal(err)
	}
	const workers, deep, name = 8, 24, 28
	word := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	for i := range workers {
		if n := word(8 + 4*i); n > 0 {
			run = append(run, n-1)
		}
	}
	ways = map[int]string{}
	for i := range word(4) {
		at := 8 + 4*workers + i*(4+deep*(name+4))
		var way []string
		for j := range word(at) {
			of := at + 4 + j*(name+4)
			text, _, _ := bytes.Cut(data[of:of+name], []byte{0})
			way = append(way, fmt.Sprintf("%s:%d", text, word(of+name)))
		}
		ways[i] = strings.Join(way, " ")
	}
	return ways, run
}

// own is the name of a function without namespaces, arguments and parameters.
var own = regexp.MustCompile(`(\w+|operator\(\))(<[^()]*>)?\([^()]*\)( const)?( \[clone .*)?$`)

// wayOf returns what a task tells of the functions that note where they wait.
func wayOf(x *language.Task) string {
	var way []string
	for _, f := range slices.Backward(x.Frames) {
		name := strings.ReplaceAll(f.Function, "[abi:cxx11]", "")
		if m := own.FindStringSubmatch(plain(name)); m != nil {
			name = m[1]
		}
		if filepath.Base(f.File) != "coroutines.cpp" {
			f.Line = 0
		}
		way = append(way, fmt.Sprintf("%s:%d", name, f.Line))
	}
	return strings.Join(way, " ")
}

// plain removes arguments of templates from a name.
func plain(name string) string {
	for {
		short := inner.ReplaceAllString(name, "$1")
		if short == name {
			return name
		}
		name = short
	}
}

var inner = regexp.MustCompile(`(\w)<[^<>()]*(\([^()]*\))?[^<>()]*>`)

// differ says which ways are not among others, and the other way round.
func differ(want, got []string) (missing, more string) {
	count := map[string]int{}
	for _, w := range want {
		count[w]--
	}
	for _, w := range got {
		count[w]++
	}
	for _, w := range slices.Sorted(maps.Keys(count)) {
		if n := count[w]; n < 0 {
			missing += fmt.Sprintf("\n%d %s", -n, w)
		} else if n > 0 {
			more += fmt.Sprintf("\n%d %s", n, w)
		}
	}
	return missing, more
}

// compare compares the coroutines of a stopped process with what is noted, and says in what they
// differ. A way that a worker runs may be just changing.
func compare(t testing.TB, p *program, list []language.Task) (why string, waiting, running, doubtful int) {
	t.Helper()
	ways, run := p.noted(t)
	var want, got, doubts []string
	for i, w := range ways {
		if !slices.Contains(run, i) {
			want = append(want, w)
		}
	}
	for i := range list {
		x := &list[i]
		switch way := wayOf(x); {
		case x.Early != "":
			doubts = append(doubts, way)
		case strings.HasPrefix(way, "numbers:"): // nobody notes generators
		case x.State == "running":
			running++
		default:
			got = append(got, way)
		}
	}
	doubtful = len(doubts)
	for _, way := range doubts { // it may wait there
		if missing, _ := differ(want, got); strings.Contains(missing, " "+way+"\n") || strings.HasSuffix(missing, " "+way) {
			got = append(got, way)
		}
	}
	missing, more := differ(want, got)
	switch {
	case missing != "":
		why = "missing:" + missing + "\ninstead:" + more
	case len(got)+running+len(run) < len(ways): // the handle of one that is just taken may be in a vector register
		why = fmt.Sprintf("%d of %d ways", len(got)+running, len(ways))
	case len(got)-len(want) > 2*len(run): // beside the way there may be a coroutine that is just made, or destroyed
		why = fmt.Sprintf("%d ways change, but there are:%s", len(run), more)
	}
	return why, len(want), running, doubtful
}

// builds calls test with the program as each compiler builds it.
func builds(t *testing.T, test func(t *testing.T, path string)) {
	t.Helper()
	for _, b := range []struct {
		name, compiler string
		flags          []string
	}{
		{"gcc/O0", "g++", []string{"-O0"}},
		{"gcc/O2", "g++", []string{"-O2"}},
		{"gcc/O3", "g++", []string{"-O3", "-fno-omit-frame-pointer"}},
		{"gcc/lto", "g++", []string{"-O2", "-flto"}},
		{"clang/O0", "clang++", []string{"-O0", "-stdlib=libc++"}},
		{"clang/O1", "clang++", []string{"-O1", "-stdlib=libc++"}},
		{"clang/O2", "clang++", []string{"-O2", "-stdlib=libc++"}},
		{"clang/O3", "clang++", []string{"-O3", "-stdlib=libc++", "-gdwarf-4"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			test(t, build(t, b.compiler, b.flags...))
		})
	}
}

// build builds the program.
func build(t testing.TB, compiler string, flags ...string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	if slices.Contains(flags, "-stdlib=libc++") {
		gdbtest.File(t, "/usr/include/c++/v1")
	}
	src, err := filepath.Abs("testdata/coroutines.cpp")
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, src, append([]string{gdbtest.Tool(t, compiler), "-std=c++20", "-g", "-pthread", "-w"}, flags...)...)
}

// TestCoroutines: the coroutines of a program wait where the program has noted that they wait,
// whenever it is stopped.
func TestCoroutines(t *testing.T) {
	const stops = 40
	builds(t, func(t *testing.T, path string) {
		symbols := symbol.New(symbol.Options{Entries: true})
		defer symbols.Close()
		p := start(t, path, 2, 400)
		waiting, running, doubtful := 0, 0, 0
		for range stops {
			for range rand.N(20) {
				p.States(t) // it runs meanwhile
			}
			p.Stop(t)
			list := attached(t, p.PID, symbols)
			why, n, run, doubt := compare(t, p, list)
			if why != "" {
				t.Errorf("%d ways wait, %d run: %s", n, run, why)
			}
			waiting, running, doubtful = waiting+n, running+run, doubtful+doubt
			p.Continue(t)
		}
		t.Logf("%d coroutines waited, %d ran, %d are doubtful", waiting, running, doubtful)
		if running == 0 || doubtful > waiting/1000 {
			t.Errorf("%d ran, %d are doubtful", running, doubtful)
		}
	})
}

// TestSeparate: the debug information is in a file of its own, and the program has no symbols. Its
// core file has the same coroutines.
func TestSeparate(t *testing.T) {
	gcore := gdbtest.Tool(t, "gcore")
	for _, compiler := range []string{"g++", "clang++"} {
		t.Run(compiler, func(t *testing.T) {
			path := gdbtest.Separate(t, build(t, compiler, map[string][]string{"g++": {"-O2"}, "clang++": {"-O2", "-stdlib=libc++"}}[compiler]...))
			symbols := symbol.New(symbol.Options{Entries: true})
			defer symbols.Close()
			p := start(t, path, 1, 400)
			p.Stop(t)
			if why, n, _, _ := compare(t, p, attached(t, p.PID, symbols)); why != "" {
				t.Errorf("of %d: %s", n, why)
			}
			file := filepath.Join(t.TempDir(), "core")
			if out, err := exec.Command(gcore, "-o", file, strconv.Itoa(p.PID)).CombinedOutput(); err != nil {
				t.Fatalf("gcore: %v\n%s", err, out)
			}
			tg, err := core.Open(fmt.Sprintf("%s.%d", file, p.PID), core.Options{Exe: path})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			list, err := languagetest.Tasker(t, tg, tg.Mappings, symbols, cpp.Decorator{}).Tasks(tg.Memory())
			if err != nil {
				t.Error(err)
			}
			if why, n, _, _ := compare(t, p, list); why != "" {
				t.Errorf("of %d in the core file: %s", n, why)
			}
		})
	}
}

// TestDetached: of coroutines that free themselves at their end, the ones are there that have not
// come to it, though handles of all of them are left.
func TestDetached(t *testing.T) {
	gdbtest.NeedAMD64(t)
	src, err := filepath.Abs("testdata/detached.cpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "g++"), "-std=c++20", "-g", level, "-pthread", "-w"), "100")
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			symbols := symbol.New(symbol.Options{Entries: true})
			defer symbols.Close()
			count := map[string]int{}
			for _, x := range attached(t, p.PID, symbols) {
				count[x.State]++
			}
			if want, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || len(count) != 1 || count["waiting"] != want {
				t.Errorf("%v, want %q that wait", count, line)
			}
		})
	}
}

// marked is a line whose comment says which function waits there.
var marked = regexp.MustCompile(`(?m)co_await .* // (\w+)$`)

// TestAsio: coroutines of a library wait at the lines that the source says.
func TestAsio(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/include/asio.hpp")
	src, err := filepath.Abs("testdata/asio.cpp")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, at := range marked.FindAllSubmatchIndex(text, -1) {
		lines[string(text[at[2]:at[3]])] = 1 + bytes.Count(text[:at[0]], []byte("\n"))
	}
	var want []string
	for _, way := range []string{"accepts", "between sleeps", "between sleeps", "between sleeps", "serves reads", "serves reads", "serves reads"} {
		var list []string
		for _, name := range strings.Fields(way) {
			list = append(list, fmt.Sprintf("%s:%d", name, lines[name]))
		}
		want = append(want, strings.Join(list, " "))
	}
	p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "g++"), "-std=c++20", "-g", "-O2", "-pthread", "-w"))
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	why := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(why)
		}
	})
	gdbtest.Await(t, "all coroutines wait", func() bool {
		var got []string
		for _, x := range attached(t, p.PID, symbols) {
			var way []string
			for _, f := range slices.Backward(x.Frames) {
				if filepath.Base(f.File) == "asio.cpp" { // the others are asio's own
					name, _, _ := strings.Cut(f.Function, "(")
					way = append(way, fmt.Sprintf("%s:%d", name, f.Line))
				}
			}
			got = append(got, strings.Join(way, " "))
		}
		slices.Sort(got)
		why = fmt.Sprintf("%q, want %q", got, want)
		return slices.Equal(got, want)
	})
}
