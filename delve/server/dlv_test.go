//go:build linux && (amd64 || arm64)

package server_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// These are the functions of testdata/progs/delvecgo, by its source, with the functions that cgo
// and the runtime put between them.
const (
	toC      = "runtime.asmcgocall runtime.cgocall "
	fromC    = "runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallbackg runtime.cgocallback crosscall2 "
	blocking = "C.c_blocks_inner C.c_blocks_middle C.c_blocks C._cgo_Cfunc_c_blocks " + toC + "main._Cfunc_c_blocks main.blocksInC "
	parking  = "runtime.gopark runtime.chanrecv runtime.chanrecv1 main.parks "
	calling  = "main.callbackInner main.goCallback _cgoexp_goCallback " + fromC +
		"C.goCallback C.c_calls_go_inner C.c_calls_go C._cgo_Cfunc_c_calls_go " + toC + "main._Cfunc_c_calls_go main.callsC main.callsOuter "
	fromThread = "main.threadInner main.goFromThread _cgoexp_goFromThread " + fromC + "C.goFromThread C.thread_middle C.thread_begins"
)

// chains are all stacks in which the goroutines of delvecgo come to rest.
var chains = map[string]string{
	"in C":           blocking + "main.blocksOuter main.main.gowrap1 runtime.goexit",
	"main":           blocking + "main.blocksOuter main.main runtime.main runtime.goexit",
	"callback":       blocking + calling + "main.main.gowrap2 runtime.goexit",
	"parked":         parking + calling + "main.parksOuter main.main.gowrap3 runtime.goexit",
	"signal":         "C.handler_inner C.handler <signal handler called> C.c_signalled_inner C.c_is_signalled C._cgo_Cfunc_c_is_signalled " + toC + "main._Cfunc_c_is_signalled main.signalled main.signalOuter main.main.gowrap4 runtime.goexit",
	"recursion":      blocking + strings.Repeat("main.recurse ", 41) + "main.main.gowrap5 runtime.goexit",
	"thread":         blocking + fromThread,
	"thread, parked": parking + fromThread,
}

// names joins the functions of a stack, without the C library's functions, which lie at much higher
// addresses than the program.
func names(t testing.TB, list []frame) string {
	t.Helper()
	own := slices.DeleteFunc(slices.Clone(list), func(f frame) bool { return hex(t, f.pc) > 1<<40 && f.function != "<signal handler called>" })
	return strings.Join(functions(own), " ")
}

// checkChains checks that the stacks of goroutines, as a client shows them, have all
// chains, and nothing else of C or of main. The runtime may be making a thread, by C.
func checkChains(t testing.TB, stacks []string) {
	t.Helper()
	for name, want := range chains {
		if i := slices.Index(stacks, want); i >= 0 {
			stacks = slices.Delete(stacks, i, i+1)
		} else {
			t.Errorf("%s: no goroutine is at\n%s", name, strings.ReplaceAll(want, " ", "\n\t"))
		}
	}
	for _, s := range stacks {
		if strings.Contains(s, "main.") && !strings.Contains(s, " syscall.read ") || strings.Contains(s, "C.") && !strings.Contains(s, " runtime.newm ") {
			t.Errorf("a goroutine is at\n%s", strings.ReplaceAll(s, " ", "\n\t"))
		}
	}
}

// startCgo starts delvecgo, built for debugging.
func startCgo(t testing.TB) *gdbtest.Process {
	return gdbtest.StartRunning(t, debuggable(t), "main")
}

func debuggable(t testing.TB) string { return delvetest.Cgo(t, "-gcflags=all=-N -l") }

// chainsOf returns the chains in dlv's list of goroutines.
func chainsOf(t testing.TB, said string) (list []string) {
	for _, stack := range stacksOf(said) {
		list = append(list, names(t, stack))
	}
	return list
}

// The real dlv shows whole stacks of a process and of its core; by itself it does not.
func TestDlv(t *testing.T) {
	p := startCgo(t)
	for _, got := range chainsOf(t, dlv(t, []string{"goroutines -t 100", "exit -d"}, "attach", strconv.Itoa(p.PID))[0]) {
		if slices.Contains(slices.Collect(maps.Values(chains)), got) {
			t.Errorf("dlv alone does it, too:\n%s", got)
		}
	}
	core := filepath.Join(t.TempDir(), "core")
	said := dlv(t, []string{"goroutines -t 100", "dump " + core, "exit -d"}, "connect", attach(t, p, false).addr)
	checkChains(t, chainsOf(t, said[0]))
	checkRuns(t, p)
	s := serve(t, debugger.Config{CoreFile: core}, true, debuggable(t))
	checkChains(t, chainsOf(t, dlv(t, []string{"goroutines -t 100", "exit", "n"}, "connect", s.addr)[0]))
	connectDAP(t, s.addr).checkChains()
}

// The process runs, stops where the real dlv wants, in a C thread that has called back, runs on by
// steps, and starts anew. The frames are always of the present stop.
func TestDlvRuns(t *testing.T) {
	s := serve(t, debugger.Config{}, false, debuggable(t), "main")
	said := dlv(t, []string{
		"break main.threadInner", "continue", "clear 1", "stack", "next", "next", "frame 0 locals", "frame 1 args", "next", "next", "step", "stack",
		"restart", "break b main.parks", "condition b n == 1002", "continue", "stack", "frame 1 print from", "exit",
	}, "connect", s.addr)
	for i, want := range map[int]string{3: "^main.threadInner", 11: "^main.(parks|blocksInC) main.threadInner", 16: "^main.parks main.threadInner"} {
		want += strings.TrimPrefix(fromThread, "main.threadInner") + "$"
		if got := names(t, stackOf(said[i])); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s\nwant %q", said[i], want)
		}
	}
	for i, want := range map[int]string{
		// Two threads call back, and may come at once.
		1: `main\.threadInner\(\) .*main\.go:\d+ \(hits goroutine\(\d+\):1 total:[12]\)`, 6: `from = "a thread of C's"\n`, 7: `^n = \d+\n`,
		12: `^Process restarted with PID \d+`, 17: `^"a thread of C's"\n`,
	} {
		if !regexp.MustCompile(want).MatchString(said[i]) {
			t.Errorf("%s\nwant %s", said[i], want)
		}
	}
}

// A program without DWARF has goroutines with whole stacks; dlv alone finds none.
func TestDlvWithoutDWARF(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Cgo(t, "-gcflags=all=-N -l", "-ldflags=-w"), "main")
	if said := dlv(t, []string{"goroutines", "exit -d"}, "attach", strconv.Itoa(p.PID))[0]; !strings.Contains(said, "could not find goroutine array") {
		t.Errorf("dlv alone: %s", said)
	}
	core := filepath.Join(t.TempDir(), "core")
	said := dlv(t, []string{"goroutines -t 100", "dump " + core, "exit -d"}, "connect", attach(t, p, false).addr)
	checkChains(t, chainsOf(t, said[0]))
	checkRuns(t, p)
	s := serve(t, debugger.Config{CoreFile: core}, true, delvetest.Cgo(t, "-gcflags=all=-N -l", "-ldflags=-w"))
	said = dlv(t, []string{"goroutines -t 100", "exit", "n"}, "connect", s.addr)
	checkChains(t, chainsOf(t, said[0]))
	parked := regexp.MustCompile(`Goroutine (\d+) - User: .*main\.go:\d+ main\.parks \(.*\[chan receive`).FindStringSubmatch(said[0])
	if parked == nil {
		t.Fatalf("no goroutine is parked in\n%s", said[0])
	}
	named := slices.IndexFunc(stackOf(dlv(t, []string{"goroutine 1", "stack", "exit", "n"}, "connect", s.addr)[1]), func(f frame) bool { return strings.HasSuffix(f.function, "pause") }) // dlv knows the exported names of C
	gopark := regexp.MustCompile(`0x0*([0-9a-f]+) in runtime\.gopark\n`).FindStringSubmatch(said[0])[1]
	var commands, wants []string
	for _, tt := range []struct{ command, want string }{
		{"goroutine " + parked[1], `^Switched from \d+ to ` + parked[1] + ` `},
		{"stack 4", `^ *0 .* in runtime\.gopark\n(.*\n)+ *3 .* in main\.parks\n.*main\.go:105\n`},
		{"frame 3", `Frame 3: .*main\.go:105 .*\n(.*\n)*=> 105:.*<-never\n`},
		{"up", `Frame 4: .*main\.go:(94|120) `},
		{"goroutine", `Goroutine ` + parked[1] + `:\n(.*\n)*.*User: .*main\.parks .*\n`},
		{"goroutines -with userloc main.parks", `^\* Goroutine ` + parked[1] + ` (.*\n)+  Goroutine (.*\n)+\[2 goroutines\]`},
		{"goroutines -group startloc", ` in main\.main\.gowrap3\n.*main\.parks .*\[chan receive\]\n\tTotal: 1\n`},
		{"goroutines -with user -group running", `^running=false\n(.*\n)+running=true\n`},
		{"frame 3 print n", `^Command failed: main\.parks: Go code without DWARF, .*no variables`},
		{"frame 0", `Frame 0: `},
		{"regs", `^ *Rip = 0x0*` + gopark + `\n *Rsp = 0x0*[0-9a-f]+\n *Rbp = `},
		{"disassemble", `\t0x` + gopark + `\t`},
		{"goroutine 1 regs", `^ *Rip = 0x`},
		{fmt.Sprintf("goroutine 1 frame %d disassemble", named), `call `},
		{"goroutine 987654", `^Command failed: unknown goroutine 987654\n`},
	} {
		commands, wants = append(commands, tt.command), append(wants, tt.want)
	}
	said = dlv(t, append(commands, "exit", "n"), "connect", s.addr)
	for i, want := range wants {
		if !regexp.MustCompile(want).MatchString(said[i]) {
			t.Errorf("(dlv) %s\n%s\nwant %s", commands[i], said[i], want)
		}
	}
	c := connectDAP(t, s.addr)
	c.checkChains()
	if strings.Contains(c.output, "goroutine") {
		t.Errorf("an editor is told: %s", c.output)
	}
}

// A C program has the stacks that gdb shows.
func TestDlvC(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-g"))
	var want []string
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		want = append(want, f.Function)
	}
	var got []string
	addr := attach(t, p, false).addr
	dial(t, addr).Close() // a connection that sends nothing is not the client
	for _, f := range stackOf(dlv(t, []string{"stack", "exit -d"}, "connect", addr)[0]) {
		got = append(got, strings.TrimPrefix(strings.TrimPrefix(f.function, "C."), "???"))
	}
	if slices.Index(want, "main") < 2 || len(got) < len(want) || !slices.Equal(got[1:slices.Index(want, "main")+1], want[1:slices.Index(want, "main")+1]) {
		t.Errorf("got %q, gdb %q", got, want)
	}
}

// A frame's number leads to the frame that is shown with it.
func TestDlvFrames(t *testing.T) {
	p := startCgo(t)
	addr := attach(t, p, true).addr
	session := func(commands ...string) []string {
		return dlv(t, append(commands, "exit -d", "n"), "connect", addr)
	}
	stack := stackOf(session("goroutine 1", "stack")[1])
	at := func(function string) int {
		return slices.IndexFunc(stack, func(f frame) bool { return f.function == function })
	}
	c, in, out := at("C.c_blocks_middle"), at("main.blocksInC"), at("main.blocksOuter")
	if c < 0 || in < 0 || out != in+1 {
		t.Fatalf("%v", stack)
	}
	number := strings.NewReplacer("%in", strconv.Itoa(in), "%out", strconv.Itoa(out), "%c", strconv.Itoa(c), "%n", strconv.Itoa(in-c))
	var commands, wants []string
	for _, tt := range []struct{ command, want string }{
		{"goroutine 1", `^Switched from \d+ to 1 `},
		{"frame %in print p", `^main.point {X: 501, Y: 502, Name: "blocks"}`},
		{"frame %in locals", `^p = main.point {X: 501, Y: 502, Name: "blocks"}\n`},
		{"frame %in args", `^n = 501\n`},
		{"frame %out print local[1]", `^1000\n`},
		{"frame %out print n", `^500\n`},
		{"frame %out set local[1] = 77", `^$`},
		{"frame %out print local[1]", `^77\n`},
		{"frame %out whatis local", `^\[3\]int\n`},
		{"frame %out list", `frame %out at .*main.go:57 \(PC: 0x` + strings.TrimLeft(stack[out].pc, "0") + `\)`},
		{"frame %out disassemble", `^TEXT main\.blocksOuter\(SB\) .*main.go\n`},
		{"frame %out regs", `(?i)^ +Rip = 0x` + stack[out].pc + `\n +Rsp = 0x`},
		{"frame %c regs", `(?i)^ +Rip = 0x` + stack[c].pc + `\n +Rsp = 0x`},
		{"regs", `(?i)^ +Rip = 0x` + stack[0].pc + `\n +Rsp = 0x`},
		{"frame %c locals", `^Command failed: C.c_blocks_middle: code without debug information: no variables\n`},
		{"frame %c args", `^Command failed: C.c_blocks_middle: code without debug information: no variables\n`},
		{"frame %c print p", `^Command failed: C.c_blocks_middle: code .*: no variables; and could not find symbol value for p\n`},
		{"frame %c print main.reached", `^sync/atomic.Int32 {`},
		{"frame %c watch -w p", `^Command failed: frame %c, C.c_blocks_middle: it is not in Delve's own stack`},
		{"frame %c disassemble", `0x[0-9a-f]+\s+e8[0-9a-f]{8}\s+call c_blocks_inner\n`},
		{"frame 100 print p", `^Command failed: frame 100 does not exist in goroutine -1\n`},
		{"stack -full", `main.blocksInC\n(.*\n)+ +n = 501\n(.*\n)*? +p = main.point {X: 501, Y: 502, Name: "blocks"}\n`},
		{"stack %c", `C.c_blocks_middle\n.*\n\(truncated\)\n`},
		{"frame %c", `(?s)Frame %c: .*\(PC: ` + strings.TrimLeft(stack[c].pc, "0") + `\)`},
		{"up %n", `(?s)Frame %in: .*main.go:49 \(PC: `},
		{"print n", `^501\n`},
		{"up", `Frame %out: .*main.go:57 \(PC: `},
		{"print n", `^500\n`},
		{"locals", `^local = \[3\]int`},
		{"down", `Frame %in: `},
		{"args", `^n = 501\n`},
		{"break main.threadInner", `^Breakpoint 1 set at `},
		{"clear 1", `^Breakpoint 1 cleared at `},
	} {
		commands, wants = append(commands, number.Replace(tt.command)), append(wants, number.Replace(tt.want))
	}
	said := session(commands...)
	for i, want := range wants {
		if !regexp.MustCompile(want).MatchString(said[i]) {
			t.Errorf("(dlv) %s\n%s\nwant %s", commands[i], said[i], want)
		}
	}

	// The frame's SP is the one that its code uses: n's address can be computed from both.
	said = session("goroutine 1", "frame "+strconv.Itoa(out)+" regs", "frame "+strconv.Itoa(out)+" disassemble", "frame "+strconv.Itoa(out)+" print &n")
	find := func(pattern, in string) uint64 {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(in)
		if m == nil {
			t.Fatalf("no %s in\n%s", pattern, in)
		}
		return hex(t, m[1])
	}
	sp, offset, n := find(`Rsp = 0x([0-9a-f]+)`, said[1]), find(`mov qword ptr \[rsp\+0x([0-9a-f]+)\], rax`, said[2]), find(`\(\*int\)\(0x([0-9a-f]+)\)`, said[3])
	if sp+offset != n {
		t.Errorf("SP %#x, n is at +%#x, and at %#x", sp, offset, n)
	}
}

func hex(t testing.TB, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
