package record_test

import (
	"context"
	"os"
	"regexp"
	"runtime"
	"slices"
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

// TestMostReads: what was read is kept of so many threads and no more, however many sleep.
func TestMostReads(t *testing.T) {
	defer func(most int) { *record.MostReads = most }(*record.MostReads)
	*record.MostReads = 3
	r, end := recordNaps(t, python.Decorator{}, gdbtest.Tool(t, "python3"), "testdata/naps.py", "20", "once")
	end(func() bool { return r.Stats().Samples > 1500 })
	kept, counted := r.Reads()
	if kept != counted || kept > *record.MostReads {
		t.Errorf("what was read is kept of %d threads, and %d are counted", kept, counted)
	}
	if kept == 0 {
		gdbtest.Cannot(t, "frames of its C library, or of Python, need more than PC and SP")
	}
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
	all := int64(0)
	for _, list := range pythonStacks(r.Profile()) {
		calls, ends := map[string]int{}, ""
		for _, function := range list {
			if calls[function]++; naps.MatchString(function) {
				ends = function
			}
		}
		if ends == "" {
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

// TestMade samples a thread that waits at the same place over and over, each time within a function
// that was made just before. Code objects are where others were. After the thread has gone on, it
// has samples with the frames that it has then.
func TestMade(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "python3"), "../language/python/testdata/made.py")
	r, err := record.Start(napOptions(p, python.Decorator{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- r.Run(ctx) }()
	samples := func(n uint64) {
		end := r.Stats().Samples + n
		gdbtest.Await(t, "there are samples", func() bool { return r.Stats().Samples >= end })
	}
	for range 40 {
		if _, err := p.Stdin.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(line, " ")
		here := []string{name, "call", "<module>"}
		samples(4) // the first may have been begun before
		if list := pythonStacks(r.Take()); !slices.ContainsFunc(list, func(stack []string) bool { return slices.Equal(stack, here) }) {
			t.Errorf("in %s: %s", name, list)
		}
		samples(2) // what is known of the thread
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// pythonStacks returns the functions of Python on the different stacks that were sampled, the
// innermost first. A stack that says why it is not whole is left out.
func pythonStacks(p *record.Profile) (list [][]string) {
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := p.Picture(names)
	for _, s := range stacks.Samples {
		var functions []string
		whole := true
		for _, f := range s.Frames {
			p := &stacks.Places[f]
			if whole = whole && !strings.HasPrefix(p.Name, "["); p.Code == picture.LanguageCode {
				functions = append(functions, p.Function)
			}
		}
		if whole {
			list = append(list, functions)
		}
	}
	return list
}

var naps = regexp.MustCompile(`^ends\d\d$`)

// napOptions are how a program is recorded by stops.
func napOptions(p *gdbtest.Process, d language.Decorator) record.Options {
	return record.Options{
		PIDs: []int{p.PID}, Wall: true, Frequency: 200,
		Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
		Decorators: func(int) []language.Decorator { return []language.Decorator{d} },
	}
}

// recordNaps records a program by stops, when the function end is called that it returns, and until
// that has found enough.
func recordNaps(t *testing.T, d language.Decorator, program string, arguments ...string) (r *record.Recorder, end func(enough func() bool)) {
	t.Helper()
	p := gdbtest.StartRunning(t, program, arguments...)
	r, err := record.Start(napOptions(p, d))
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
