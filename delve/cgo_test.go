//go:build linux && (amd64 || arm64)

package delve_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// These are the functions that cgo and the runtime put between the functions of
// testdata/progs/delvecgo.
const (
	toC        = "runtime.asmcgocall runtime.cgocall"
	fromC      = "runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallbackg runtime.cgocallback crosscall2"
	blocking   = "C.c_blocks_inner C.c_blocks_middle C.c_blocks C._cgo_Cfunc_c_blocks " + toC + " main._Cfunc_c_blocks main.blocksInC"
	calling    = "C.c_calls_go_inner C.c_calls_go C._cgo_Cfunc_c_calls_go " + toC + " main._Cfunc_c_calls_go main.callsC main.callsOuter"
	parking    = "runtime.gopark runtime.chanrecv runtime.chanrecv1 main.parks"
	called     = "main.goCallback _cgoexp_goCallback " + fromC + " C.goCallback"
	fromThread = "main.threadInner main.goFromThread _cgoexp_goFromThread " + fromC + " C.goFromThread C.thread_middle C.thread_begins"
	signalled  = "C.handler_inner C.handler <signal handler called> C.c_signalled_inner C.c_is_signalled C._cgo_Cfunc_c_is_signalled " +
		toC + " main._Cfunc_c_is_signalled main.signalled main.signalOuter"
)

// mixed are the stacks of testdata/progs/delvecgo, without the C library's functions. The source
// tells the right stack.
var mixed = []struct {
	name, contains, without string // the stack has a function of main that contains names, and lacks the one that without names
	want                    string
	// plain is the stack that Delve alone makes, recorded.
	plain string
}{
	{"C", "main.blocksOuter", "runtime.main", blocking + " main.blocksOuter main.main.gowrap1 runtime.goexit",
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_blocks main.blocksInC main.blocksOuter main.main.gowrap1 runtime.goexit"},
	{"main", "runtime.main", "", blocking + " main.blocksOuter main.main runtime.main runtime.goexit",
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_blocks main.blocksInC main.blocksOuter main.main runtime.main runtime.goexit"},
	{"callback", "main.callsOuter", "main.parksOuter", blocking + " main.callbackInner " + called + " " + calling + " main.main.gowrap2 runtime.goexit",
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_blocks main.blocksInC main.callbackInner " + called +
			" ??? runtime.cgocall main._Cfunc_c_calls_go main.callsC main.callsOuter main.main.gowrap2 runtime.goexit"},
	{"parked", "main.parksOuter", "", parking + " main.callbackInner " + called + " " + calling + " main.parksOuter main.main.gowrap3 runtime.goexit",
		parking + " main.callbackInner main.goCallback _cgoexp_goCallback runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallbackg runtime.cgocallback " +
			"runtime.systemstack_switch runtime.cgocall main._Cfunc_c_calls_go main.callsC main.callsOuter main.parksOuter main.main.gowrap3 runtime.goexit"},
	{"signal", "main.signalOuter", "", signalled + " main.main.gowrap4 runtime.goexit",
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_is_signalled main.signalled main.signalOuter main.main.gowrap4 runtime.goexit"},
	{"recursion", "main.recurse", "", blocking + strings.Repeat(" main.recurse", 41) + " main.main.gowrap5 runtime.goexit",
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_blocks main.blocksInC" + strings.Repeat(" main.recurse", 41) + " main.main.gowrap5 runtime.goexit"},
	{"thread", "main.threadInner", "main.parks", blocking + " " + fromThread,
		"??? runtime.systemstack_switch runtime.cgocall main._Cfunc_c_blocks main.blocksInC main.threadInner main.goFromThread _cgoexp_goFromThread " +
			fromC + " C.goFromThread ??? error: input/output error"},
	{"parked thread", "main.threadInner", "main.blocksInC", parking + " " + fromThread,
		parking + " main.threadInner main.goFromThread _cgoexp_goFromThread " +
			"runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallbackg runtime.cgocallback runtime.goexit"},
}

// hash is the part of a name that cgo makes different in each build.
var hash = regexp.MustCompile(`_cgo(exp)?_[0-9a-f]{12}`)

// functions returns the names of frames, without the C library's frames.
func functions(frames []delve.Frame, exe string) string {
	var list []string
	for i := range frames {
		f := &frames[i]
		name := f.Function.Name()
		if f.Err != "" {
			name = "error: " + f.Err
		} else if m := f.Physical.Module(); m == nil || m.Path != exe && name != "<signal handler called>" {
			continue
		}
		list = append(list, hash.ReplaceAllString(name, "_cgo$1"))
	}
	return strings.Join(list, " ")
}

func delves(frames []proc.Stackframe) string {
	var list []string
	for i := range frames {
		name := "???"
		if fn := frames[i].Call.Fn; fn != nil {
			name = fn.Name
		}
		if err := frames[i].Err; err != nil {
			name = "error: " + err.Error()
		}
		list = append(list, hash.ReplaceAllString(name, "_cgo$1"))
	}
	return strings.Join(list, " ")
}

// find returns the goroutine whose stack has one function and lacks another, and Delve's
// own stack of it.
func find(t *testing.T, pt *proc.Target, contains, without string) (*proc.G, []proc.Stackframe) {
	t.Helper()
	list, _, err := proc.GoroutinesInfo(pt, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list {
		frames, err := proc.GoroutineStacktrace(pt, g, 100, 0)
		if err != nil {
			continue
		}
		names := strings.Fields(delves(frames))
		if slices.Contains(names, contains) && !slices.Contains(names, without) {
			return g, frames
		}
	}
	t.Fatalf("no goroutine is in %s", contains)
	return nil, nil
}

// folded is a stack with one frame for several in a row of the same name.
func folded(names string) string { return strings.Join(slices.Compact(strings.Fields(names)), " ") }

// checkMixed compares the stacks of delvecgo with the stacks that its source says.
func checkMixed(t *testing.T, pt *proc.Target, exe string, live bool) {
	tg, err := delve.NewTarget(pt)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for _, m := range mixed {
		t.Run(m.name, func(t *testing.T) {
			g, own := find(t, pt, m.contains, m.without)
			// How many frames of the C library Delve makes up depends on what is on the stack.
			if plain := delves(own); live && folded(plain) != folded(m.plain) {
				t.Errorf("Delve alone:\n%s\nnot, as recorded,\n%s", plain, m.plain)
			}
			frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 100})
			if err != nil {
				t.Fatal(err)
			}
			if got := functions(frames, exe); got != m.want {
				t.Errorf("the stack is\n%s\nwant\n%s", got, m.want)
			}
			checkOffsets(t, frames)
			if last := &frames[len(frames)-1]; !last.Bottom || last.Err != "" {
				t.Errorf("the stack ends with %s", describe(&last.Stackframe))
			}
		})
	}
	if w := tg.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
}

// checkOffsets checks the frames' offsets: the program's Go frames count from the upper end of one
// stack, its C frames from 0.
func checkOffsets(t *testing.T, frames []delve.Frame) {
	t.Helper()
	var hi uint64
	for i := range frames {
		f := &frames[i]
		cfa, ok := f.Physical.CFA()
		if !ok {
			t.Errorf("frame %d has no CFA", i)
		}
		base := cfa - uint64(f.FrameOffset)
		switch name := f.Function.Name(); {
		case strings.HasPrefix(name, "main.") && hi == 0:
			hi = base
			fallthrough
		case strings.HasPrefix(name, "main."):
			if base != hi || f.FrameOffset >= 0 {
				t.Errorf("frame %d %s: %d is from %#x, others from %#x", i, name, f.FrameOffset, base, hi)
			}
		case strings.HasPrefix(name, "C.") && base != 0:
			t.Errorf("frame %d %s: %d is from %#x", i, name, f.FrameOffset, base)
		}
	}
}

func TestMixed(t *testing.T) {
	exe := delvetest.Cgo(t)
	p := gdbtest.StartRunning(t, exe, "main")
	checkMixed(t, delvetest.Attach(t, p.PID).Selected, exe, true)
}
