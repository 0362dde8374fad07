package external_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/trad"
)

// misbehave walks the subject with a plug-in before all other sniffers, and checks that
// the stack is the same as without it. It returns the plug-in's fault.
func misbehave(t *testing.T, s *subject, mode string, o external.Options) error {
	t.Helper()
	within := o.StartTimeout
	o.StartTimeout = 0
	p, err := start(t, mode, o)
	if err != nil {
		t.Fatal(err)
	}
	if within > 0 {
		p.BeginWithin(within)
	}
	table, x := s.with(p)
	steps, stop := s.walk(t, table)
	same(t, steps, s.steps, stop)
	fault := p.Err()
	if fault != nil {
		asked := x.Stats().Asked
		if steps, stop = s.walk(t, table); x.Stats().Asked != asked {
			t.Errorf("it is asked although it is out of use: %v", fault)
		}
		same(t, steps, s.steps, stop)
		noneLeft(t, p.Path)
	}
	p.Close()
	noneLeft(t, p.Path)
	return fault
}

// TestBadSession: plug-ins that crash, hang, or do not keep to the protocol.
func TestBadSession(t *testing.T) {
	s := newSubject(t, "amd64")
	begins, hangs := external.Options{StartTimeout: 200 * time.Millisecond}, external.Options{Deadline: 200 * time.Millisecond}
	var patient external.Options
	for _, c := range []struct {
		mode  string
		o     external.Options
		want  error // nil: there is no fault
		words []string
	}{
		{"declines", patient, nil, nil},
		{"begin-hang", begins, external.ErrDeadline, nil},
		{"begin-stop", begins, external.ErrDeadline, nil},
		{"begin-crash", patient, external.ErrCrash, []string{"signal: killed", "it goes wrong"}},
		{"begin-panic", patient, external.ErrCrash, []string{"exit status 2"}},
		{"begin-exit", patient, external.ErrCrash, []string{"exit status 0"}},
		{"begin-error", patient, external.ErrNonsense, []string{"no such thing"}},
		{"begin-end", patient, external.ErrNonsense, nil},
		{"begin-answer", patient, external.ErrNonsense, []string{"Ready"}},
		{"begin-empty", patient, external.ErrNonsense, nil},
		{"begin-twice", patient, external.ErrNonsense, nil},
		{"begin-declines", patient, nil, nil},
		{"begin-huge", patient, external.ErrNonsense, nil},
		{"begin-never-many", patient, external.ErrNonsense, nil},
		{"begin-never-backward", patient, external.ErrNonsense, nil},
		{"begin-reads", patient, external.ErrNonsense, []string{"256"}},

		{"sniff-hang", hangs, external.ErrDeadline, []string{"200ms"}},
		{"sniff-stop", hangs, external.ErrDeadline, []string{"200ms"}},
		{"sniff-crash", patient, external.ErrCrash, []string{"signal: killed", "it goes wrong"}},
		{"sniff-panic", patient, external.ErrCrash, []string{"exit status 2"}},
		{"sniff-exit", patient, external.ErrCrash, []string{"exit status 0"}},
		{"sniff-error", patient, external.ErrNonsense, []string{"no such thing"}},
		{"sniff-end", patient, external.ErrNonsense, nil},
		{"sniff-ready", patient, external.ErrNonsense, nil},
		{"sniff-empty", patient, external.ErrNonsense, nil},
		{"sniff-number", patient, external.ErrNonsense, nil},
		{"sniff-twice", patient, external.ErrNonsense, nil},
		{"sniff-slow", patient, nil, nil},
		{"sniff-reads", patient, external.ErrNonsense, []string{"256"}},
		{"sniff-read-giant", patient, external.ErrNonsense, []string{"65536"}},
		{"sniff-read-most", patient, external.ErrNonsense, nil},
		{"sniff-read-backward", patient, external.ErrNonsense, nil},
		{"sniff-read-many", patient, external.ErrNonsense, nil},
		{"sniff-read-empty", patient, nil, nil},
		{"sniff-read-nil", patient, nil, nil},
		{"sniff-lists", patient, external.ErrNonsense, []string{"256"}},
		{"sniff-find-odd", patient, nil, nil},
		{"sniff-impatient", patient, external.ErrNonsense, nil},

		{"deaf", external.Options{StartTimeout: 200 * time.Millisecond, Deadline: 200 * time.Millisecond}, external.ErrDeadline, nil},
		{"floods", patient, nil, nil},
		{"floods-line", patient, nil, nil},
		{"fork", patient, nil, nil},
		{"fork-away", patient, nil, nil},
		{"fork-twice", patient, nil, nil},
		{"sigterm", patient, nil, nil},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			err := misbehave(t, s, c.mode, c.o)
			if !errors.Is(err, c.want) {
				t.Fatalf("the fault is %v, want %v", err, c.want)
			}
			if err != nil {
				says(t, err, "hostile", append(c.words, plugintest.Prefix+c.mode)...)
			}
		})
	}
}

// TestBadForever: a plug-in that leads from stack to stack without end is stopped.
func TestBadForever(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, mode := range []string{"sniff-cycle", "sniff-endless", "sniff-hops"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, mode, external.Options{Total: 2 * time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			table, _ := s.with(p)
			table.Prepend(spender{p})
			if steps, stop := s.walk(t, table); stop == "" {
				t.Errorf("%d frames, and the stack is whole", len(steps))
			}
		})
	}
}

// spender makes each frame cost the plug-in a minute of its time.
type spender struct{ p *external.Plugin }

func (spender) Name() string { return "spender" }

func (s spender) Sniff(*frame.Query) (trad.Row, frame.Answer) {
	s.p.Spend(time.Minute)
	return trad.Row{}, "time passes"
}

// TestForget: when the process has run, the plug-in is asked anew, and its time begins anew.
func TestForget(t *testing.T) {
	t.Parallel()
	s := newSubject(t, "amd64")
	p, err := start(t, "jit-plain", external.Options{Total: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	table, x := s.with(p)
	var asked uint64
	for run := range uint64(6) {
		p.Spend(40 * time.Minute)
		for range 2 {
			steps, stop := s.walk(t, table)
			same(t, steps, s.steps, stop)
		}
		if run == 0 {
			asked = x.Stats().Asked
		}
		if n := x.Stats().Asked; asked < 3 || n != asked*(run+1) {
			t.Errorf("asked %d times in run %d, %d times in the first", n, run, asked)
		}
		table.Forget()
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	p.Spend(61 * time.Minute)
	s.walk(t, table)
	if err := p.Err(); !errors.Is(err, external.ErrDeadline) {
		t.Errorf("when its time is over: %v", err)
	}
}

// TestManyAtOnce: a fault while many stacks are walked is one fault, and each walk goes on.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSubject(t, "amd64")
	for _, mode := range []string{"sniff-crash", "answer-cfa-inward", "declines"} {
		p, err := start(t, mode, external.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table, _ := s.with(p)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				steps, stop := s.walk(t, table.Clone())
				same(t, steps, s.steps, stop)
			})
		}
		all.Wait()
		if err := p.Err(); (err == nil) != (mode == "declines") {
			t.Errorf("%s: %v", mode, err)
		}
		p.Close()
		noneLeft(t, p.Path)
	}
}

// TestCloseWhileAsked: Close, also twice, ends the question under way.
func TestCloseWhileAsked(t *testing.T) {
	t.Parallel()
	s := newSubject(t, "amd64")
	p, err := start(t, "sniff-hang", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := s.with(p)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			gdbtest.Await(t, "the plug-in hangs", func() bool { return plugintest.Hangs(p.Path) })
			p.Close()
		})
	}
	steps, stop := s.walk(t, table)
	same(t, steps, s.steps, stop)
	all.Wait()
	noneLeft(t, p.Path)
}

// TestNothingPrinted: text of a plug-in does nothing to a terminal.
func TestNothingPrinted(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, mode := range []string{
		"begin-declines", "answer-declines-escapes", "answer-symbol-escapes", "answer-name-escapes",
		"answer-declines-huge", "answer-declines-often", "answer-symbol-huge",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, mode, external.Options{})
			if err != nil {
				t.Fatal(err)
			}
			table, x := s.with(p)
			threads, _ := s.Threads()
			stack, err := frame.New(s, threads[0], table)
			if err != nil {
				t.Fatal(err)
			}
			for f, err := range stack.All() {
				if err != nil {
					break // false claims lead nowhere in the end
				}
				claim := f.Claim()
				claims := claim.Sniffer == "hostile"
				if !claims && (len(claim.Declined) == 0 || claim.Declined[0].Sniffer != "hostile") {
					t.Fatalf("frame %d: unwound by %s, declined by %v", f.Level, claim.Sniffer, claim.Declined)
				}
				for _, d := range claim.Declined {
					printable(t, "declines", d.Reason)
					if d.Reason == "" {
						t.Error("an empty reason")
					}
				}
				cfa, _ := f.CFA()
				if name, ok := x.Symbol(f.AddressInBlock(), cfa); ok {
					printable(t, "function", name.Function)
					printable(t, "file", name.File)
				} else if mode == "answer-symbol-escapes" || mode == "answer-name-escapes" && claims {
					t.Errorf("frame %d has no name", f.Level)
				}
			}
			if err := p.Err(); err != nil {
				printable(t, "fault", err.Error())
			}
		})
	}
}

// TestAnswersMemory: long text of a plug-in is not kept.
func TestAnswersMemory(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, mode := range []string{"answer-declines-huge", "answer-rows-many", "answer-never-many", "begin-huge", "floods", "sniff-read-giant", "sniff-error-huge"} {
		p, err := start(t, mode, external.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table, _ := s.with(p)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.walk(t, table)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
			t.Errorf("%s: %d MB were allocated", mode, grown>>20)
		}
		p.Close()
	}
}

// TestBroker: the host ignores connections that a plug-in announces without having been asked.
func TestBroker(t *testing.T) {
	s := newSubject(t, "amd64")
	before := runtime.NumGoroutine()
	p, err := start(t, "broker-floods", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := s.with(p)
	steps, stop := s.walk(t, table)
	same(t, steps, s.steps, stop)
	if n := runtime.NumGoroutine() - before; n > 1000 {
		t.Errorf("%d goroutines more", n)
	}
	p.Close()
}

// TestHoard: the host keeps a bounded number of answers in advance, however many a plug-in gives.
func TestHoard(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, mode := range []string{"sniff-hoards", "sniff-hoards-cut"} {
		p, err := start(t, mode, external.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, x := s.with(p)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for x.Stats().Asked < 200 && p.Err() == nil { // 100 MB of names, or 200 MB
			table := s.table() // a table with kept rows would ask no questions
			table.Prepend(x)
			steps, stop := s.walk(t, table)
			same(t, steps, s.steps, stop)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 64<<20 {
			t.Errorf("%s: %d MB are kept", mode, kept>>20)
		}
		runtime.KeepAlive(x)
		if err := p.Err(); err != nil {
			t.Error(err)
		}
		p.Close()
	}
}
