package record_test

import (
	"context"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// TestSleepers samples threads that sleep time and again, most of them without a stop. A thread
// that is stopped then, where it slept, has the same stack.
func TestSleepers(t *testing.T) {
	t.Run("shadow", func(t *testing.T) {
		if runtime.GOARCH != "amd64" {
			gdbtest.Cannot(t, "the kernel tells PC and SP of a thread that sleeps, and the C library's frames need more")
		}
		same, samples := compareSleepers(t, &shadow{}, gdbtest.Build(t, "shadowstack.c", "-O1", "-g", "-pthread"), "nap")
		if same == 0 {
			t.Errorf("none of %d samples without a stop", samples)
		}
	})
	t.Run("Python", func(t *testing.T) {
		same, samples := compareSleepers(t, python.Decorator{}, gdbtest.Tool(t, "python3"), "testdata/naps.py", "20", "once")
		if t.Logf("%d of %d samples without a stop", same, samples); same == 0 {
			gdbtest.Cannot(t, "frames of its C library, or of Python, need more than PC and SP")
		}
	})
}

// compareSleepers records a program until there are samples without a stop, or many others, and
// compares the former with what a stop finds. It returns how many are the same, and how many
// samples there are.
func compareSleepers(t *testing.T, d language.Decorator, program string, arguments ...string) (same int64, samples uint64) {
	t.Helper()
	r, end := recordNaps(t, d, program, arguments...)
	var n atomic.Int64
	r.Unstopped(func() { n.Add(1) }, func(asleep, stopped string) {
		t.Errorf("asleep:%s\nstopped:%s", asleep, stopped)
	})
	end(func() bool { return n.Load() > 50 || r.Stats().Samples > 1500 || t.Failed() })
	return n.Load(), r.Stats().Samples
}

// TestNaps samples threads that sleep in the middle of other calls each time. The innermost
// function says which ones the others are: no stack has frames of two moments.
func TestNaps(t *testing.T) {
	r, end := recordNaps(t, python.Decorator{}, gdbtest.Tool(t, "python3"), "testdata/naps.py", "20")
	samples := uint64(300)
	if os.Getenv("SFWALK_SOAK") == "1" {
		samples = 10_000
	}
	end(func() bool { return r.Stats().Samples > samples })
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := r.Profile().Picture(names)
	all := int64(0)
	for _, s := range stacks.Samples {
		var list []string
		calls, ends, whole := map[string]int{}, "", true
		for _, f := range s.Frames {
			p := &stacks.Places[f]
			if whole = whole && !strings.HasPrefix(p.Name, "["); p.Code != picture.LanguageCode {
				continue
			}
			list = append(list, p.Function)
			if calls[p.Function]++; naps.MatchString(p.Function) {
				ends = p.Function
			}
		}
		if ends == "" || !whole { // it is on its way, or was not to be read, and the stack says so
			continue
		}
		all++
		if calls["one"]%2 != int(ends[4]-'0') || calls["two"]%3 != int(ends[5]-'0') || calls["step"] != 1+calls["zero"]+calls["one"]+calls["two"] {
			t.Errorf("%s", strings.Join(list, " "))
		}
	}
	if t.Logf("%d stacks of %d samples", all, r.Stats().Samples); all < 20 {
		t.Error("too few stacks")
	}
}

var naps = regexp.MustCompile(`^ends\d\d$`)

// recordNaps records a program by stops, when the function end is called that it returns, and until
// that has found enough.
func recordNaps(t *testing.T, d language.Decorator, program string, arguments ...string) (r *record.Recorder, end func(enough func() bool)) {
	t.Helper()
	p := gdbtest.StartRunning(t, program, arguments...)
	r, err := record.Start(record.Options{
		PIDs: []int{p.PID}, Wall: true, Frequency: 200,
		Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
		Decorators: func(int) []language.Decorator { return []language.Decorator{d} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, func(enough func() bool) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		gdbtest.Await(t, "there are samples", enough)
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}
