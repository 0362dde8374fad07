package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/plugin"
	sniffers "github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// build builds the plug-in, once for all tests.
var build = sync.OnceValues(func() (path string, err error) {
	folder, err := os.MkdirTemp("", "sniffer-perfmap")
	if err != nil {
		return "", err
	}
	built = folder
	path = filepath.Join(folder, "sniffer-perfmap")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

var built string // the folder of build's output

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// start starts the plug-in, which must not print anything.
func start(t *testing.T, trace func(external.Exchange)) *external.Plugin {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	p, err := external.Start(context.Background(), external.Options{Path: path, Stderr: &stderr, Trace: trace, StartTimeout: 5 * time.Minute, Deadline: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Err(); err != nil {
			t.Errorf("the plug-in is out of use: %v", err)
		}
		p.Close()
		if text := stderr.String(); text != "" {
			t.Errorf("it wrote: %s", text)
		}
	})
	return p
}

// A function is one function of a stack.
type function struct {
	frame  *frame.Frame
	pc     uint64
	cfa    uint64
	by     string        // the sniffer
	inFile bool          // its code is a file's, and not the process's own
	name   string        // by the file's symbols
	symbol plugin.Symbol // by the plug-in
}

func (f function) String() string {
	return fmt.Sprintf("%#x %s%s %s:%d by %s, CFA %#x", f.pc, f.name, f.symbol.Function, f.symbol.File, f.symbol.Line, f.by, f.cfa)
}

// walk attaches to a process and unwinds its first thread, with a plug-in or without.
func walk(t *testing.T, pid int, p *external.Plugin) (list []function, stop frame.StopReason) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Threads: []int{pid}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return unwind(t, tg, p, external.Target{PID: pid, Live: true, Root: fmt.Sprintf("/proc/%d/root", pid)})
}

// unwind unwinds a target's first thread, with a plug-in or without.
func unwind(t *testing.T, tg target.Target, p *external.Plugin, of external.Target) (list []function, stop frame.StopReason) {
	t.Helper()
	table := sniffers.Table(tg.Arch())
	var s *external.Sniffer
	if p != nil {
		s = p.Sniffer(of)
		external.Insert(table, s)
	}
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(symbol.Options{})
	t.Cleanup(func() { names.Close() })
	for f, err := range stack.All() {
		if err != nil {
			t.Logf("frame %d: %v", len(list), err)
		}
		x := function{frame: f, pc: f.PC(), by: f.Sniffer(), inFile: f.Module() != nil && !f.Module().Registered()}
		x.cfa, _ = f.CFA()
		if at := names.Locate(tg.Modules(), f.AddressInBlock()); len(at) > 0 {
			x.name = at[len(at)-1].Function // behind the inlined calls
		}
		if s != nil {
			x.symbol, _ = s.Symbol(f.AddressInBlock(), x.cfa)
		}
		if at := names.Locate(tg.Modules(), f.AddressInBlock()); s != nil && !x.inFile && x.symbol.Function == "" && x.by == "dwarf" {
			x.symbol = plugin.Symbol{Function: at[0].Function, File: at[0].File, Line: at[0].Line} // by the jitdump, whose table comes first
		}
		list = append(list, x)
		stop = f.StopReason()
	}
	return list, stop
}

// startNode starts Node.js with testdata/stack.js and returns it when it is idle.
func startNode(t *testing.T, args ...string) *gdbtest.Process {
	t.Helper()
	gdbtest.NeedAMD64(t)
	node := gdbtest.Tool(t, "node")
	// V8 writes a log where it runs, too, and one of each isolate.
	log := []string{"--no-logfile-per-isolate", "--logfile=" + filepath.Join(t.TempDir(), "v8.log")}
	p := gdbtest.Start(t, node, append(log, args...)...)
	t.Cleanup(func() { os.Remove(fmt.Sprintf("/tmp/perf-%d.map", p.PID)) })
	return p
}

// call has the process call outer, and returns Node.js's own stack from then: the names of
// JavaScript functions, the innermost first.
func call(t *testing.T, p *gdbtest.Process) (names []string) {
	t.Helper()
	if _, err := p.Stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var stack string
	if err := json.Unmarshal([]byte(line), &stack); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	for line := range strings.Lines(stack) {
		if m := stackLine.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	if len(names) < 5 || strings.Join(names[:4], " ") != "inner middle outer fired" {
		t.Fatalf("Node.js says %q", stack)
	}
	return names
}

// stackLine is a line of a stack as V8 prints it: "at Type.function [as name] (file:1:2)".
var stackLine = regexp.MustCompile(`^    at (?:[^ (]*\.)?([^ .(]+) (?:\[as [^]]*\] )?\(`)

// tier matches the tier that V8 puts before a function's name.
var tier = regexp.MustCompile(`^(?:JS|LazyCompile|Function):([~^+*]?)'?`)

// definedIn returns the line of testdata/stack.js in which a function's definition begins, 0 if
// there is none.
func definedIn(t *testing.T, name string) int {
	t.Helper()
	for i, line := range strings.Split(string(testdata(t, "stack.js")), "\n") {
		if strings.HasPrefix(line, "function "+name+"(") {
			return i + 1
		}
	}
	return 0
}

// A stack of Node.js goes through main, node, libuv, V8 and JavaScript without a gap.
func TestNode(t *testing.T) {
	perfMap := []string{"--perf-basic-prof", "--interpreted-frames-native-stack"}
	dump := []string{"--perf-prof", "--interpreted-frames-native-stack"}
	natives := []string{"--allow-natives-syntax", "--no-use-osr"}
	script, err := filepath.Abs("testdata/stack.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		flags []string
		args  []string
		tiers string // of inner, middle, outer, fired
	}{
		{"interpreted", perfMap, []string{"wait"}, "~~~~"},
		{"tiers", append(perfMap, natives...), []string{"wait", "tiers"}, " *^~"},
		{"jitdump", append(dump, natives...), []string{"wait", "tiers"}, " *^~"},
		{"interpreter", perfMap[:1], []string{"wait"}, "~~~~"},
		{"computing", perfMap, []string{"compute"}, "~~~~"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // where jitdumps are written
			p := startNode(t, append(append(slices.Clone(tt.flags), script), tt.args...)...)
			first := tt.name == "interpreted" // some checks are needed only once
			var idle []gdbtest.Frame
			if first || tt.name == "tiers" {
				idle = gdbtest.Backtrace(t, p.PID, gdbtest.WithRegisters())[0].Frames
			}
			want := call(t, p)
			if tt.args[0] == "compute" {
				p.Runs(t, 20*time.Millisecond)
			} else {
				p.Rest(t)
			}
			if first {
				without, _ := walk(t, p.PID, nil)
				for _, f := range without {
					if !f.inFile && (f.name != "" || f.frame.Row().Flags&trad.Guess == 0) {
						t.Errorf("without the plug-in, %v has a name or a row that is no guess", f)
					}
				}
			}

			var asked []external.Exchange
			list, stop := walk(t, p.PID, start(t, func(x external.Exchange) { asked = append(asked, x) }))
			if stop != frame.Outermost {
				t.Errorf("the stack ends: %v", stop)
			}
			var got []string
			tiers := ""
			for _, f := range list {
				switch m := tier.FindStringSubmatch(f.symbol.Function); {
				case m != nil:
					got = append(got, strings.TrimPrefix(f.symbol.Function, m[0]))
					tiers += (m[1] + " ")[:1]
					if line := definedIn(t, got[len(got)-1]); line > 0 && (f.symbol.File != script || f.symbol.Line != line) {
						t.Errorf("%v: it is in line %d of %s", f, line, script)
					}
				case f.symbol.Function == interpreter:
					got = append(got, "") // the function is in no listing
					tiers += "~"
				case !f.inFile:
					t.Errorf("%v is not in a file, and the plug-in has no function's name for it", f)
				}
				if f.frame.Row().Flags&trad.Guess != 0 || !f.inFile && f.by != "perfmap" && f.by != "dwarf" {
					t.Errorf("%v is by a guess", f)
				}
			}
			if i := slices.Index(got, "inner"); i > 0 {
				got, tiers = got[i:], tiers[i:] // leave out inner's callees
			}
			for i, listed := 0, writtenBy(t, p.PID); i < min(len(got), len(want)); i++ {
				if got[i] == "" && !bytes.Contains(listed, []byte(want[i])) {
					got[i] = want[i]
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("JavaScript functions %q, Node.js itself says %q", got, want)
			}
			if len(tiers) < 4 || tiers[:4] != tt.tiers {
				t.Errorf("tiers %q, want %q", tiers, tt.tiers)
			}
			if idle != nil {
				compareOuter(t, list, idle)
			}
			if first {
				compare(t, list, gdbtest.Backtrace(t, p.PID)[0].Frames)
			}
			report(t, list, asked)
			if t.Failed() {
				for i, f := range list {
					t.Logf("#%d %v", i, f)
				}
			}
		})
	}
}

// writtenBy returns Node.js's listing: its perf map, or its jitdump. Version 24 leaves out code
// from its own snapshot.
func writtenBy(t *testing.T, pid int) []byte {
	t.Helper()
	for _, name := range []string{fmt.Sprintf("/tmp/perf-%d.map", pid), fmt.Sprintf("jit-%d.dump", pid)} {
		if data, err := os.ReadFile(name); err == nil {
			return data
		}
	}
	t.Fatal("Node.js has written neither a perf map nor a jitdump")
	return nil
}

// compareOuter compares the outer frames, from uv_run's caller on, with gdb's from when the process
// was idle: they are the same calls.
func compareOuter(t *testing.T, list []function, idle []gdbtest.Frame) {
	t.Helper()
	idle = slices.DeleteFunc(slices.Clone(idle), func(f gdbtest.Frame) bool { return !f.Physical() })
	i := slices.IndexFunc(idle, func(f gdbtest.Frame) bool { return f.Function == "uv_run" })
	k := slices.IndexFunc(list, func(f function) bool { return f.name == "uv_run" })
	if i < 0 || k < 0 || len(idle)-i < 5 || len(idle)-i != len(list)-k {
		t.Fatalf("gdb has %d frames, uv_run's is %d; there are %d, uv_run's is %d", len(idle), i, len(list), k)
	}
	for n := 0; i+n < len(idle)-1; n++ { // gdb has no CFA of _start
		got, want := list[k+n], idle[i+n]
		if got.cfa != want.CFA || n > 0 && got.pc != want.PC {
			t.Errorf("%v; gdb had %s at %#x with CFA %#x when idle", got, want.Function, want.PC, want.CFA)
		}
		for _, r := range []trad.Reg{3, 6, 12, 13, 14, 15} { // rbx, rbp, r12 to r15: saved on the way through V8
			if v := got.frame.Register(r); n > 0 && (!v.Known() || v.Bits != want.Registers[int(r)]) {
				t.Errorf("register %d of %v is %v, gdb had %#x when idle", r, got, v, want.Registers[int(r)])
			}
		}
	}
}

// compare compares the inner frames, up to code for which gdb has no tables.
func compare(t *testing.T, list []function, inner []gdbtest.Frame) {
	t.Helper()
	n := 0
	for _, want := range inner {
		if !want.Physical() {
			continue
		}
		if n >= len(list) || list[n].by == "perfmap" {
			break
		}
		if got := list[n]; got.pc != want.PC || got.cfa != want.CFA {
			t.Errorf("%v; gdb has %s at %#x with CFA %#x", got, want.Function, want.PC, want.CFA)
		}
		n++
	}
	if n < 3 {
		t.Errorf("only %d inner frames", n)
	}
}

// report logs the cost of the walk, and checks that the code with each question is enough.
func report(t *testing.T, list []function, asked []external.Exchange) {
	t.Helper()
	var took time.Duration
	requests, claimed := 0, 0
	for _, x := range asked {
		took += x.Took
		requests += x.Requests
	}
	for _, f := range list {
		if f.by == "perfmap" {
			claimed++
		}
	}
	t.Logf("%d frames, %d of them the plug-in's; %d questions, %d requests, %v a question", len(list), claimed, len(asked), requests, took/time.Duration(max(len(asked), 1)))
	if requests > len(asked)/4 {
		t.Errorf("%d requests for %d questions", requests, len(asked))
	}
}
