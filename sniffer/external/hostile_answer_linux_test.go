package external_test

import (
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// TestNonsense: an answer that cannot be right puts the plug-in out of use. The error says what is
// wrong, and the stack is as without the plug-in.
func TestNonsense(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, c := range []struct {
		answer string
		words  []string
	}{
		{"elsewhere", []string{"asked about"}},
		{"beyond", nil},
		{"backward", nil},
		{"empty", nil},
		{"long", nil},
		{"everything", nil},
		{"cfa-inward", []string{"inside of THIS"}},
		{"cfa-far-in", []string{"inside of THIS"}},
		{"ra-inward", []string{"PREVIOUS's PC", "inside of THIS"}},
		{"cfa-none", []string{"CFA"}},
		{"cfa-same", []string{"CFA"}},
		{"cfa-saved", []string{"CFA"}},
		{"cfa-undefined", []string{"CFA"}},
		{"cfa-is", []string{"address"}},
		{"cfa-5000", []string{"5000"}},
		{"cfa-kind-99", []string{"99"}},
		{"ra-kind-99", []string{"-1"}},
		{"ra-none", []string{"PC"}},
		{"ra-is", []string{"address"}},
		{"ra-5000", []string{"5000"}},
		{"ra-max", []string{"4294967295"}},
		{"type-77", []string{"77"}},
		{"kind-dummy", []string{"DUMMY", "SIGNAL"}},
		{"kind-inline", []string{"INLINE", "SIGNAL"}},
		{"other-5000", []string{"5000"}},
		{"other-65536", []string{"65539"}},
		{"other-twice", []string{"two rules", "3"}},
		{"others-many", []string{"128"}},
		{"frame-inward", []string{"inside of THIS"}},
		{"frame-zero", []string{"inside of THIS"}},
		{"frame-sp-in", []string{"SP"}},
		{"frame-no-pc", []string{"PC"}},
		{"frame-pc-same", []string{"SAME"}},
		{"frame-pc-kind", []string{"SAVED"}},
		{"frame-other", []string{"4294967295"}},
		{"both", []string{"both"}},
		{"claims-declines", nil},
		{"never-odd", []string{"0x9"}},
		{"never-many", nil},
		{"rows-many", nil},
		{"rows-nowhere", []string{"0x1000"}},
		{"rows-empty", nil},
		{"symbol-back", nil},
		{"symbol-huge", nil},
		{"declines-huge", nil},
	} {
		t.Run(c.answer, func(t *testing.T) {
			t.Parallel()
			mode := "answer-" + c.answer
			err := misbehave(t, s, mode, external.Options{})
			if !errors.Is(err, external.ErrNonsense) {
				t.Fatalf("the fault is %v, want %v", err, external.ErrNonsense)
			}
			says(t, err, "hostile", append(c.words, plugintest.Prefix+mode)...)
		})
	}
}

// TestOdd: strange answers that are harmless.
func TestOdd(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, answer := range []string{
		"neither", "symbol-wide", "symbol-escapes", "declines-escapes", "declines-often",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			if err := misbehave(t, s, "answer-"+answer, external.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLies: rows that are wrong for most frames of this stack, but look right. If they lead to no
// code, later sniffers are asked.
func TestLies(t *testing.T) {
	s := newSubject(t, "amd64")
	for _, answer := range []string{"cfa-far-out", "other-empty", "own-never", "name-escapes"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, "answer-"+answer, external.Options{})
			if err != nil {
				t.Fatal(err)
			}
			table, _ := s.with(p)
			steps, _ := s.walk(t, table)
			last := len(s.steps) - 1 // the other sniffers know it as outermost, but are asked too late
			if len(steps) < last {
				t.Fatalf("%d frames of %d: %v", len(steps), len(s.steps), p.Err())
			}
			same(t, steps[:last], s.steps[:last], "")
		})
	}
	// With the outermost possible CFA, the stack ends, and says so.
	p, err := start(t, "answer-frame-max", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := s.with(p)
	if steps, stop := s.walk(t, table); stop == "" {
		t.Errorf("%d frames, and the stack is whole", len(steps))
	}
}

// TestOutermost: outermost is believed, whatever else the row says.
func TestOutermost(t *testing.T) {
	s := newSubject(t, "amd64")
	p, err := start(t, "answer-outermost-ra", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := s.with(p)
	if steps, stop := s.walk(t, table); len(steps) != 1 || stop != "" || p.Err() != nil {
		t.Errorf("%d frames, %s, %v", len(steps), stop, p.Err())
	}
}

// TestGood: a good plug-in unwinds frames that no other sniffer can, on every
// architecture, with the right frames, registers and names.
func TestGood(t *testing.T) {
	for _, architecture := range []string{"amd64", "arm64", "s390x"} {
		for _, mode := range []string{"jit", "jit-plain"} {
			t.Run(architecture+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := newSubject(t, architecture)
				p, err := start(t, mode, external.Options{})
				if err != nil {
					t.Fatal(err)
				}
				x := p.Sniffer(external.Target{PID: s.PID})
				table := frame.NewTable(s.Arch(), s.table().Sniffers()[1:]...)
				external.Insert(table, x)
				threads, _ := s.Threads()
				stack, err := frame.New(s, threads[0], table)
				if err != nil {
					t.Fatal(err)
				}
				want, err := frame.New(s, threads[0], s.table())
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for f, err := range stack.All() {
					if err != nil {
						t.Fatalf("behind %d frames: %v (%v)", n, err, p.Err())
					}
					w, err := want.Frame(f.Level)
					if err != nil || w == nil {
						t.Fatalf("frame %d: without the plug-in: %v, %v", f.Level, w, err)
					}
					if f.PC() != w.PC() || f.ID() != w.ID() && w.Sniffer() != "in-process" {
						t.Errorf("frame %d: %v %v, want %v %v", f.Level, f, f.ID(), w, w.ID())
					}
					for _, r := range s.Arch().Regs {
						if got, want := f.Register(r.Num), w.Register(r.Num); got.String() != want.String() {
							t.Errorf("frame %d: %s is %v, want %v", f.Level, r.Name, got, want)
						}
					}
					cfa, _ := f.CFA()
					name, named := x.Symbol(f.AddressInBlock(), cfa)
					if jit := n%2 == 1 && n < 13; jit != (f.Sniffer() == "jit") || jit != named {
						t.Errorf("frame %d: unwound by %s, named %q", f.Level, f.Sniffer(), name.Function)
					}
					n++
				}
				if n != len(s.steps) {
					t.Errorf("%d frames, want %d", n, len(s.steps))
				}
				if asked := x.Stats().Asked; mode == "jit" && asked != 1 || mode == "jit-plain" && asked != 3 {
					t.Errorf("it was asked %d times: %+v", asked, x.Stats())
				}
				// A second stack asks no questions.
				asked := x.Stats().Asked
				walker := frame.NewWalker(s.Modules(), table.Clone())
				var regs arch.Registers
				if err := threads[0].Registers(&regs); err != nil {
					t.Fatal(err)
				}
				if k, _ := walker.Walk(&regs, s.Memory(), make([]uint64, 100)); k != n || x.Stats().Asked != asked {
					t.Errorf("the second walk: %d frames, asked %d times more", k, x.Stats().Asked-asked)
				}
			})
		}
	}
}
