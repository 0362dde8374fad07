package frame_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// runner is a thread whose memory is of another moment from an address on, until some retakes
// were made.
type runner struct {
	*fake
	late    uint64
	retakes int // how many are still needed
	fails   error
	retaken int
}

func (r *runner) Memory() target.Memory             { return (*moving)(r) }
func (r *runner) Threads() ([]target.Thread, error) { return []target.Thread{r}, nil }
func (r *runner) MovedOn() bool                     { return r.retakes > 0 }

func (r *runner) Retake(walk func()) error {
	if r.fails != nil {
		return r.fails
	}
	r.retaken++
	r.retakes--
	walk()
	return nil
}

// moving is the memory of a runner.
type moving runner

func (m *moving) ReadMemory(addr uint64, p []byte) (int, error) { return m.fake.ReadMemory(addr, p) }
func (m *moving) MovedOn(addr uint64, n int) bool               { return m.retakes > 0 && addr+uint64(n) > m.late }

// chain is a stack of three frames by frame pointers; the last is outermost.
func chain() *fake {
	return newFake(0x1010, 0x7000, 0x7000,
		0x7020, 0x1101, 0, 0, // 0x7000
		0x7040, 0x1201, 0, 0, // 0x7020
		0, 0, 0, 0)
}

func fpRows() map[uint64]trad.Row {
	return map[uint64]trad.Row{0x1010: fp, 0x1100: fp, 0x1200: {Flags: trad.Outermost, CFA: fp.CFA}}
}

// Frames beyond an address say that they are of another moment; RetakeIfMovedOn has the thread read
// once more.
func TestRetakeIfMovedOn(t *testing.T) {
	table := frame.NewTable(amd64.Arch, &rows{name: "rows", at: fpRows()})
	for _, c := range []struct {
		late    uint64
		retakes int
		still   int // how many frames are not marked before the call
		moved   bool
	}{
		{0x7020, 1, 2, true}, {0x7000, 1, 1, true}, {0x7020, 3, 2, true}, {0x7020, 100, 2, true}, {0x7040, 1, 3, false}, {0, 0, 3, false},
	} {
		r := &runner{fake: chain(), late: c.late, retakes: c.retakes}
		s, err := frame.New(r, r, table)
		if err != nil {
			t.Fatal(err)
		}
		marks := func() (still, n int) {
			for f, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				if n++; !f.MovedOn() {
					still++
				}
			}
			return still, n
		}
		if still, n := marks(); still != c.still || n != 3 || s.MovedOn() != c.moved {
			t.Errorf("%+v: %d of %d frames are of the first moment; the stack has moved on: %v", c, still, n, s.MovedOn())
		}
		if err := walktest.New(r.mods, table).Check(r, r); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		w := frame.NewWalker(r.mods, table)
		if w.Walk(regs(r.fake), r.Memory(), make([]uint64, 9)); w.MovedOn() != c.moved {
			t.Errorf("%+v: the walker says %v", c, w.MovedOn())
		}
		ctx, still := frame.NewContext(amd64.Arch, regs(r.fake)), 1
		for w.Step(&ctx, r.Memory()) == frame.NoReason {
			if !ctx.MovedOn {
				still++
			}
		}
		if still != c.still || ctx.MovedOn != c.moved {
			t.Errorf("%+v: %d contexts are of the first moment; the last has moved on: %v", c, still, ctx.MovedOn)
		}
		if err := s.RetakeIfMovedOn(); err != nil {
			t.Fatal(err)
		}
		still, n := marks()
		if often := c.retakes > 10; n != 3 || often != s.MovedOn() || often != (still < n) || !often && c.moved && r.retaken != c.retakes || !c.moved && r.retaken > 0 {
			t.Errorf("%+v: settled, %d of %d frames are of one moment, the stack has moved on: %v; retaken %d times", c, still, n, s.MovedOn(), r.retaken)
		}
	}
	r := &runner{fake: chain(), late: 0x7020, retakes: 1, fails: errors.New("it has gone")}
	s, err := frame.New(r, r, table)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RetakeIfMovedOn(); err != r.fails || !s.MovedOn() {
		t.Errorf("where it cannot be retaken: %v, moved on: %v", err, s.MovedOn())
	}
}

// Frames of a deep stack that are not made count, too, and only those within the limit.
func TestRetakeDeeper(t *testing.T) {
	const n, size = 15_000, 32
	f, first, later := deep(n, rand.New(rand.NewPCG(3, 3)))
	table := frame.NewTable(amd64.Arch, first, later)
	for _, c := range []struct {
		late, limit, retakes int // late is a frame
		moved                bool
	}{
		{n + 1, 0, 1, false}, {n - 1, 0, 1, true}, {n - 1, n - 2, 1, false}, {n - 1, n - 2, 100, false},
		{9000, 0, 2, true}, {9000, 9005, 1, true}, {9000, 8995, 1, false}, {4094, 0, 1, true}, {4099, 0, 1, true}, {100, 0, 1, true}, {9000, 0, 100, true},
	} {
		r := &runner{fake: f, late: stackBase + size*uint64(c.late), retakes: c.retakes}
		s, err := frame.New(r, r, table)
		if err != nil {
			t.Fatal(err)
		}
		s.Limit = c.limit
		err = s.RetakeIfMovedOn()
		still := c.moved && c.retakes > 10
		if err != nil || s.MovedOn() != still || c.moved && !still && r.retaken != c.retakes || !c.moved && r.retaken != 0 {
			t.Errorf("%+v: %v; the stack has moved on: %v; retaken %d times", c, err, s.MovedOn(), r.retaken)
		}
		if kept := frame.FramesAllocated(s); kept > 4096 {
			t.Errorf("%+v: %d frames have room", c, kept)
		}
		want, level := n+1, 0
		if c.limit > 0 {
			want = c.limit
		}
		for x, err := range s.AllOnce() {
			if err != nil && level < want {
				t.Fatal(err)
			}
			if x == nil {
				break
			}
			if x.Level != level || x.MovedOn() != (still && level > c.late) {
				t.Fatalf("%+v: frame %d is at level %d and of another moment: %v", c, level, x.Level, x.MovedOn())
			}
			level++
		}
		if level != want {
			t.Errorf("%+v: %d frames, want %d", c, level, want)
		}
	}
	for late, moved := range map[int]bool{n + 1: false, 9000: true} { // and cannot be read once more
		r := &runner{fake: f, late: stackBase + size*uint64(late), retakes: 1}
		s, err := frame.New(r, struct{ target.Thread }{r}, table)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RetakeIfMovedOn(); err != nil || s.MovedOn() != moved {
			t.Errorf("frame %d and those outward: %v; the stack has moved on: %v", late, err, s.MovedOn())
		}
	}
}

// peeks claims frames by a word of memory.
type peeks struct{ at uint64 }

func (peeks) Name() string { return "peeks" }

func (s peeks) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.PC != 0x1101 || len(q.Read(s.at, 8)) < 8 {
		return trad.Row{}, "not mine"
	}
	return trad.Row{Lo: q.AddressInBlock, Len: 1, Flags: trad.Once | trad.Outermost, CFA: fp.CFA}, frame.Claimed
}

// wordAt is a CFA that lies in memory.
type wordAt uint64

func (w wordAt) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) { return env.Word(uint64(w)) }
func (w wordAt) String() string                                      { return "[heap]" }

func put(f *fake, addr, v uint64) { f.words[(addr-stackBase)/8] = v }

// A frame, or a stack's end, says that it is of another moment if any memory is that leads to
// it: the CFA's expression reads it, a sniffer does, or it has a return address that is none.
func TestLateReads(t *testing.T) {
	deref := trad.Row{
		CFA: trad.Rule{Kind: trad.ValExpr}, RA: fp.RA, FP: fp.FP,
		Others: &trad.OtherRules{Exprs: []trad.Expression{wordAt(0x7038)}},
	}
	for _, c := range []struct {
		name   string
		late   uint64
		change func(f *fake, at map[uint64]trad.Row)
		order  []frame.Sniffer
		still  int
		n      int
		stop   frame.StopReason
	}{
		{"an expression", 0x7038, func(f *fake, at map[uint64]trad.Row) {
			put(f, 0x7038, 0x7030)
			put(f, 0x7028, 0x1201)
			at[0x1100] = deref
		}, nil, 1, 3, frame.Outermost},
		{"a sniffer's", 0x7048, nil, []frame.Sniffer{peeks{0x7048}}, 1, 2, frame.Outermost},
		{"no code", 0x7020, func(f *fake, _ map[uint64]trad.Row) { put(f, 0x7028, 0x99999) }, nil, 2, 3, frame.NotCode},
		{"a return address of 0", 0x7020, func(f *fake, at map[uint64]trad.Row) {
			put(f, 0x7028, 0)
			put(f, 0x7020, 0)
			row := fp
			row.Flags |= trad.Once
			at[0x1100] = row
		}, nil, 2, 2, frame.NoSavedPC},
		{"the same frame", 0x7020, func(f *fake, _ map[uint64]trad.Row) {
			put(f, 0x7020, 0x7000)
			put(f, 0x7028, 0x1101)
		}, nil, 2, 3, frame.InnerID},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, at := chain(), fpRows()
			if c.change != nil {
				c.change(f, at)
			}
			r := &runner{fake: f, late: c.late, retakes: 1}
			table := frame.NewTable(amd64.Arch, append(c.order, &rows{name: "rows", at: at})...)
			s, err := frame.New(r, r, table)
			if err != nil {
				t.Fatal(err)
			}
			still, n := 0, 0
			var last *frame.Frame
			for f, err := range s.All() {
				if err != nil {
					var stop *frame.StopError
					if !errors.As(err, &stop) || stop.Err.Error() != "the thread has run on" {
						t.Errorf("the stack ends: %v", err)
					}
					break
				}
				if n, last = n+1, f; !f.MovedOn() {
					still++
				}
			}
			if still != c.still || n != c.n || last.StopReason() != c.stop || !s.MovedOn() {
				t.Errorf("%d of %d frames are of the first moment, stop %v, moved on: %v; want %d of %d, %v", still, n, last.StopReason(), s.MovedOn(), c.still, c.n, c.stop)
			}
			w := frame.NewWalker(r.mods, table)
			for _, rows := range []string{"unknown", "known"} {
				if got, stop := w.Walk(regs(f), r.Memory(), make([]uint64, 9)); got != n || stop != c.stop || !w.MovedOn() {
					t.Errorf("walker, rows %s: %d frames, stop %v, moved on: %v", rows, got, stop, w.MovedOn())
				}
			}
		})
	}
}
