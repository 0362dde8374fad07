package stacks_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// toy decorates the stacks of testdata/progs/toylanguage.c.
type toy struct{}

func (toy) Name() string { return "toy" }

// Find implements [language.Decorator].
func (toy) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	f, err := elf.Open(m.Path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if s.Name == "toy_threads" {
			_, bias, err := m.Image()
			return []language.Runtime{&toyRuntime{p.Arch.PtrSize, s.Value + bias}}, err
		}
	}
	return nil, nil
}

type toyRuntime struct {
	word int
	at   uint64 // of toy_threads
}

// words reads the n words at addr.
func (r *toyRuntime) words(m target.Memory, addr uint64, n int) []uint64 {
	b, list := make([]byte, n*r.word), make([]uint64, n)
	m.ReadMemory(addr, b)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(b[i*r.word:])
	}
	return list
}

func (r *toyRuntime) text(m target.Memory, addr uint64) string {
	var b [64]byte
	n, _ := m.ReadMemory(addr, b[:])
	text, _, _ := strings.Cut(string(b[:n]), "\x00")
	return text
}

func (r *toyRuntime) locks(m target.Memory, addr uint64, level int) []language.Lock {
	if addr == 0 {
		return nil
	}
	lock := r.words(m, addr, 2)
	return []language.Lock{{Kind: "toy lock", Name: r.text(m, lock[0]), Address: addr, Owner: int(lock[1]), Level: level}}
}

// Decorate implements [language.Runtime].
func (r *toyRuntime) Decorate(s *language.Stack) (*language.Decoration, error) {
	m := s.Memory
	for at := r.words(m, r.at, 1)[0]; at != 0; {
		thread := r.words(m, at, 6)
		if int(thread[2]) != s.Thread.ID() {
			at = thread[0]
			continue
		}
		d := &language.Decoration{Thread: language.Thread{
			Name: r.text(m, thread[1]), State: "toying", Waits: r.locks(m, thread[4], 0), Holds: r.locks(m, thread[5], 1),
		}}
		for f := thread[3]; f != 0; {
			w := r.words(m, f, 5)
			x := language.Frame{Function: r.text(m, w[1]), File: r.text(m, w[2]), Line: int(w[3]), Place: f}
			if s.Locals {
				x.Args = []language.Variable{{Name: "request", Type: "Request", Value: "<Request 7>"}}
				x.Locals = []language.Variable{{Name: "n", Type: "int", Value: "42"}}
			}
			if n := len(d.Groups); n > 0 && d.Groups[n-1].Anchor.Address == w[4] {
				d.Groups[n-1].Frames = append(d.Groups[n-1].Frames, x)
			} else {
				d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Address: w[4]}, Frames: []language.Frame{x}})
			}
			f = w[0]
		}
		for i := range s.Frames { // what calls the outer evaluate is the interpreter's own
			if i > 0 && len(d.Groups) == 2 && s.Frames[i-1].PC() != 0 {
				if cfa, _ := s.Frames[i-1].CFA(); cfa > d.Groups[1].Anchor.Address {
					d.Own = append(d.Own, i)
					break
				}
			}
		}
		return d, nil
	}
	return nil, nil
}

// toyThread is a thread of the program, as gdb and the program's source have it.
type toyThread struct {
	tid   int
	all   []string // functions, "toy:" before the language's, "-" before hidden ones; the innermost first
	shown []string // without the hidden ones, and without marks
}

// toyTarget starts the program, and returns its threads by their names in the language.
func toyTarget(t *testing.T) (pid int, threads map[string]*toyThread) {
	t.Helper()
	p := commandtest.StartTarget(t, "toylanguage.c", []string{"-g", "-pthread"}, nil)
	threads = map[string]*toyThread{}
	for _, th := range gdbtest.Backtrace(t, p.PID) { // the main thread first, then in the order in which they were made
		x := &toyThread{tid: th.TID}
		threads[[]string{"main", "two", "one", "three"}[len(threads)]] = x
		inner := true
		for _, f := range th.Frames {
			switch f.Function {
			case "evaluate":
				x.all = append(x.all, "-evaluate")
				if inner {
					x.all = append(x.all, "toy:callback")
				} else {
					x.all = append(x.all, "toy:Server.handle", "toy:serve")
				}
				inner = false
			case "run":
				x.all = append(x.all, "-run")
			default:
				x.all = append(x.all, f.Function)
			}
		}
		for _, name := range x.all {
			if name[0] != '-' {
				x.shown = append(x.shown, strings.TrimPrefix(name, "toy:"))
			}
		}
	}
	return p.PID, threads
}

// toyStacks runs sfwalk attach with the toy's decorator.
func toyStacks(t *testing.T, pid int, args ...string) (out, warnings string) {
	t.Helper()
	flags := report.Flags{Decorators: []language.Decorator{toy{}}}
	consistent := false
	cmd := &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
		if err := flags.Begin(cmd); err != nil {
			return err
		}
		defer flags.End(cmd)
		s, err := targets.Process(cmd.Context(), pid, live.Options{Timeout: 10 * time.Second, Consistent: consistent, LowMemory: true})
		if err != nil {
			return err
		}
		defer s.Close()
		return show.Target(cmd, s, &flags)
	}}
	flags.Add(cmd, pluginhost.Host{})
	flags.Sum.AddFormat(cmd)
	cmd.Flags().BoolVar(&consistent, "consistent", false, "")
	out, warnings, err := commandtest.Execute(cmd, args...)
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, warnings)
	}
	return out, warnings
}

// shownFunctions returns the functions of a text's frames, by threads.
func shownFunctions(out string) map[int][]string {
	by, tid := map[int][]string{}, 0
	for _, line := range strings.Split(out, "\n") {
		if m := toyThreadLine.FindStringSubmatch(line); m != nil {
			tid, _ = strconv.Atoi(m[1])
		} else if m := toyFrameLine.FindStringSubmatch(line); m != nil {
			by[tid] = append(by[tid], m[1])
		}
	}
	return by
}

var (
	toyThreadLine = regexp.MustCompile(`^Thread (\d+)`)
	toyFrameLine  = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?([^ +]+)`)
)

// toyFrame is what these tests read of a frame in JSON.
type toyFrame struct {
	Type, Function, Language string
	Hidden                   bool
}

// toyTold is what a language knows of a thread, in JSON.
type toyTold struct {
	Language, Name, State string
	Waits, Holds          []toyLock
}

type toyLock struct {
	Kind, Name, Address string
	Owner               int
}

// toyDocument is what these tests read of a document.
type toyDocument struct {
	Threads []struct {
		TID       int
		Frames    []toyFrame
		Languages []toyTold
	}
	Deadlocks []struct {
		Threads []int
		Timed   bool
	}
	Stacks []struct {
		Count  int
		Frames []toyFrame
	}
	Tree []struct {
		Depth, Count int
		Function     string
	}
}

// toyJSON is toyStacks with --json.
func toyJSON(t *testing.T, pid int, args ...string) (doc toyDocument) {
	t.Helper()
	out, _ := toyStacks(t, pid, append(args, "--json")...)
	commandtest.InPage(t, "sfwalk attach", out)
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// jsonFunctions returns what [toyThread.all] has of frames.
func jsonFunctions(frames []toyFrame) (list []string) {
	for _, f := range frames {
		switch {
		case f.Type == report.Language:
			list = append(list, f.Language+":"+f.Function)
		case f.Hidden:
			list = append(list, "-"+f.Function)
		default:
			list = append(list, f.Function)
		}
	}
	return list
}

// TestLanguages prints stacks with the frames of a language in each form. gdb tells the frames of
// C, and the program's source the others.
func TestLanguages(t *testing.T) {
	pid, threads := toyTarget(t)
	out, _ := toyStacks(t, pid)
	for name, th := range threads {
		if got := shownFunctions(out)[th.tid]; !slices.Equal(got, th.shown) {
			t.Errorf("thread %s: got  %q\nwant %q", name, got, th.shown)
		}
	}
	if want := " Server.handle at /srv/toy/server.toy:12 [toy]\n"; strings.Count(out, want) != 3 {
		t.Errorf("no %q in\n%s", want, out)
	}
	out, _ = toyStacks(t, pid, "--all-frames")
	for name, th := range threads {
		var want []string
		for _, f := range th.all {
			want = append(want, strings.TrimPrefix(strings.TrimPrefix(f, "toy:"), "-"))
		}
		if got := shownFunctions(out)[th.tid]; !slices.Equal(got, want) {
			t.Errorf("--all-frames: thread %s: got  %q\nwant %q", name, got, want)
		}
	}
	for _, n := range []int{1, 3, 4, 6, 100} {
		text := strconv.Itoa(n)
		out, _ = toyStacks(t, pid, "--outer", text)
		for name, th := range threads {
			if got, want := shownFunctions(out)[th.tid], th.shown[max(0, len(th.shown)-n):]; !slices.Equal(got, want) {
				t.Errorf("--outer %d: thread %s: got  %q\nwant %q", n, name, got, want)
			}
		}
		doc := toyJSON(t, pid, "--outer", text)
		for _, th := range doc.Threads {
			shown := 0
			for _, f := range th.Frames {
				if !f.Hidden {
					shown++
				}
			}
			if all := len(th.Frames); shown > n || shown == n && th.Frames[0].Hidden || all == 0 {
				t.Errorf("--outer %d --json: %d of %d frames are not hidden", n, shown, all)
			}
		}
	}
}

// TestLanguagesMaxFrames: frames of languages count as others do, and hidden ones do not.
func TestLanguagesMaxFrames(t *testing.T) {
	pid, threads := toyTarget(t)
	physical, _ := toyStacks(t, pid, "--no-lines") // without inlined and tail calls, which do not count
	for n := 1; n < 12; n++ {
		out, _ := toyStacks(t, pid, "--no-lines", "--max-frames", strconv.Itoa(n))
		for name, th := range threads {
			all := shownFunctions(physical)[th.tid]
			if got, want := shownFunctions(out)[th.tid], all[:min(n, len(all))]; !slices.Equal(got, want) {
				t.Errorf("%d: thread %s: got  %q\nwant %q", n, name, got, want)
			}
			_, part, _ := strings.Cut(out, fmt.Sprintf("Thread %d ", th.tid))
			part, _, _ = strings.Cut(part, "Thread ")
			if got := strings.Contains(part, "(more frames follow)"); got != (n < len(all)) {
				t.Errorf("%d: thread %s, which has %d frames: more follow: %v\n%s", n, name, len(all), got, part)
			}
		}
	}
}

// TestLanguagesFrame chooses frames of a language, and hidden ones, by their names.
func TestLanguagesFrame(t *testing.T) {
	pid, threads := toyTarget(t)
	for frame, want := range map[string][]string{
		"handle": {"Server.handle"}, "Server.handle": {"Server.handle"}, "evaluate": {"evaluate", "evaluate"}, "serve,run": {"serve", "run"},
	} {
		out, _ := toyStacks(t, pid, "--frame", frame)
		got := shownFunctions(out)
		for name, th := range threads {
			if name != "main" && !slices.Equal(got[th.tid], want) {
				t.Errorf("--frame %s: thread %s: %q", frame, name, got[th.tid])
			}
		}
		if len(got) != 3 {
			t.Errorf("--frame %s: threads %v", frame, got)
		}
	}
}

// TestLanguagesSums merges stacks that differ in hidden frames alone.
func TestLanguagesSums(t *testing.T) {
	pid, threads := toyTarget(t)
	two, three := threads["two"], threads["three"]
	if !slices.Equal(two.all, three.all) {
		t.Fatalf("the threads differ: %q, %q", two.all, three.all)
	}
	for _, tt := range []struct {
		flags string
		most  int // threads of one stack
	}{{"--merge", 2}, {"--merge --all-frames", 1}, {"--merge --frame callback", 3}} {
		doc := toyJSON(t, pid, strings.Fields(tt.flags)...)
		if got := doc.Stacks[0].Count; got != tt.most {
			t.Errorf("%s: %d threads have one stack, want %d", tt.flags, got, tt.most)
		}
		if got := jsonFunctions(doc.Stacks[0].Frames); tt.flags == "--merge" && !slices.Equal(got, two.all) {
			t.Errorf("%s: got  %q\nwant %q", tt.flags, got, two.all)
		}
	}
	out, _ := toyStacks(t, pid, "--merge")
	if got := shownFunctions(out)[0]; !slices.Equal(got, two.shown) || !strings.Contains(out, fmt.Sprintf("2 threads \"toylanguage\": %d, %d\n", two.tid, three.tid)) {
		t.Errorf("got  %q\nwant %q\n%s", got, two.shown, out)
	}
	outer := slices.Clone(two.shown)
	slices.Reverse(outer)
	out, _ = toyStacks(t, pid, "--format", "folded")
	if want := strings.Join(outer, ";") + " 2\n"; !strings.Contains(out, want) {
		t.Errorf("want %s in\n%s", want, out)
	}
	doc := toyJSON(t, pid, "--tree")
	var path []string
	for _, n := range doc.Tree {
		if n.Count >= 2 && n.Depth == len(path) {
			path = append(path, n.Function)
		}
	}
	if !slices.Equal(path, outer) {
		t.Errorf("--tree: got  %q\nwant %q", path, outer)
	}
	out, _ = toyStacks(t, pid, "--tree", "--all-frames")
	if strings.Count(out, " evaluate (…)") < 2 || !strings.Contains(out, "serve at /srv/toy/server.toy:30 [toy]\n") {
		t.Error(out)
	}
}

// TestLanguagesPictures: frames of a language have their functions and lines in all pictures.
func TestLanguagesPictures(t *testing.T) {
	pid, _ := toyTarget(t)
	file := filepath.Join(t.TempDir(), "x.pb.gz")
	toyStacks(t, pid, "-o", file)
	out, err := exec.Command(gdbtest.Tool(t, "go"), "tool", "pprof", "-tags", file).CombinedOutput()
	if !strings.Contains(string(out), "toy thread: Total 3") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.Command(gdbtest.Tool(t, "go"), "tool", "pprof", "-list", "^Server.handle$", "-source_path", "/nonexistent", file).CombinedOutput()
	if !strings.Contains(string(out), "/srv/toy/server.toy") {
		t.Errorf("%v: %s", err, out)
	}
	for _, format := range []string{"speedscope", "svg"} {
		out, _ := toyStacks(t, pid, "--format", format)
		if !strings.Contains(out, "Server.handle") || strings.Contains(out, "evaluate") {
			t.Errorf("%s: %s", format, out)
		}
	}
}

// TestLanguagesLocks: a lock of the language and a mutex are one deadlock, whose threads gdb tells.
func TestLanguagesLocks(t *testing.T) {
	pid, threads := toyTarget(t)
	one, two, three := threads["one"].tid, threads["two"].tid, threads["three"].tid
	lock := gdbtest.Batch(t, nil, "attach "+strconv.Itoa(pid), "print/x &queue", "detach", "quit")
	_, lock, _ = strings.Cut(lock, "$1 = ")
	lock, _, _ = strings.Cut(lock, "\n")
	out, _ := toyStacks(t, pid, "--consistent")
	for _, want := range []string{
		fmt.Sprintf("deadlock: thread %d waits for the toy lock %s (queue), held by %d, which waits for the mutex ", two, lock, one),
		fmt.Sprintf(" (mutex), held by thread %d \"two\"\n", two),
		fmt.Sprintf("  toy: \"three\", toying\n  toy: waits for the toy lock %s (queue), held by thread %d \"one\"\n#0 ", lock, one),
		fmt.Sprintf(" Server.handle at /srv/toy/server.toy:12 [toy]\n      holds the toy lock %s (queue)\n", lock),
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("not once: %q\n%s", want, out)
		}
	}
	if !strings.HasSuffix(out, fmt.Sprintf("(mutex), held by %d\n", two)) {
		t.Error(out)
	}
	out, _ = toyStacks(t, pid, "--consistent", "--merge")
	if want := fmt.Sprintf("  toy: \"two\", \"three\"\n  toy: toying\n  toy: waits for the toy lock %s (queue), held by thread %d \"one\"\n#0 ", lock, one); !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	for _, flags := range [][]string{{"--consistent"}, {"--consistent", "--merge"}, {"--consistent", "--tree"}, {}} {
		doc := toyJSON(t, pid, flags...)
		told := map[int]toyTold{}
		for _, th := range doc.Threads {
			for _, x := range th.Languages {
				told[th.TID] = x
			}
		}
		for tid, want := range map[int]toyTold{
			one:   {Language: "toy", Name: "one", State: "toying", Holds: []toyLock{{"toy lock", "queue", lock, one}}},
			two:   {Language: "toy", Name: "two", State: "toying", Waits: []toyLock{{"toy lock", "queue", lock, one}}},
			three: {Language: "toy", Name: "three", State: "toying", Waits: []toyLock{{"toy lock", "queue", lock, one}}},
		} {
			if !reflect.DeepEqual(told[tid], want) {
				t.Errorf("%q: thread %d: %+v, want %+v", flags, tid, told[tid], want)
			}
		}
		want := "[]"
		if len(flags) > 0 {
			want = fmt.Sprintf("[{[%d %d] false}]", two, one)
		}
		if got := fmt.Sprint(doc.Deadlocks); got != want {
			t.Errorf("%q: deadlocks %s, want %s", flags, got, want)
		}
	}
}

// TestLanguagesExplained: --explain says who has put frames there, and by what.
func TestLanguagesExplained(t *testing.T) {
	pid, _ := toyTarget(t)
	out, _ := toyStacks(t, pid, "--explain", "--frame", "serve,run", "--all-frames")
	inner := gdbtest.Batch(t, nil, "attach "+strconv.Itoa(pid), "print/x toy_threads->inner->outer->outer", "detach", "quit")
	_, inner, _ = strings.Cut(inner, "$1 = ")
	inner, _, _ = strings.Cut(inner, "\n")
	for _, want := range []string{", evaluate: what lies at " + inner + " tells it\n", "      toy: the frame is the run time's own\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _ = toyStacks(t, pid, "--explain", "--json")
	commandtest.InPage(t, "sfwalk attach", out)
	if !strings.Contains(out, `"place":"`+inner+`"`) {
		t.Errorf("no %s in\n%s", inner, out)
	}
}

// TestLanguagesValues: arguments and local variables are as the language has them.
func TestLanguagesValues(t *testing.T) {
	pid, _ := toyTarget(t)
	for flags, want := range map[string]string{
		"--args --frame serve":          "serve (request=<Request 7>) at /srv/toy/server.toy:30 [toy]\n",
		"--locals --frame serve":        "serve (request=<Request 7>) at /srv/toy/server.toy:30 [toy]\n        n = 42\n",
		"--locals --json --frame serve": `"args":[{"name":"request","type":"Request","value":"<Request 7>"}],"locals":[{"name":"n","type":"int","value":"42"}]`,
	} {
		if out, _ := toyStacks(t, pid, strings.Fields(flags)...); strings.Count(out, want) != 3 {
			t.Errorf("%s: not three times %s\n%s", flags, want, out)
		}
	}
}

// TestLanguagesSource prints lines of a language's sources.
func TestLanguagesSource(t *testing.T) {
	pid, _ := toyTarget(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server.toy"), []byte(strings.Repeat("\n", 29)+"  handle(next())\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := toyStacks(t, pid, "--source=0", "--source-dir", dir, "--frame", "serve")
	if !strings.Contains(out, "serve at /srv/toy/server.toy:30 [toy]\n") || !strings.Contains(out, "  handle(next())\n") {
		t.Error(out)
	}
}
