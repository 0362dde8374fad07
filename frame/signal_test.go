package frame_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// marks calls the frames at one address in block signal frames.
type marks uint64

func (marks) Name() string { return "marks" }
func (s marks) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.AddressInBlock == uint64(s) {
		return trad.Row{}, frame.SignalFrame
	}
	return trad.Row{}, "not a signal frame"
}

// byStack recognizes one signal frame by the stack.
type byStack struct{ rows }

func (s *byStack) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	return trad.Row{}, "the code is not known"
}
func (s *byStack) SniffSignal(q *frame.Query) (trad.Row, frame.Answer) {
	return s.rows.Sniff(q)
}

// TestSignalFrame: if a sniffer says that a frame is a signal frame, only a signal frame's row
// is believed. Sniffers that recognize one by the stack are asked last. A signal frame's row that
// cannot be applied also says that the frame is one.
func TestSignalFrame(t *testing.T) {
	const trampoline = 0x10ff // its address in block
	newStack := func() *fake {
		return newFake(0x1010, 0x7000, 0x7000,
			0x7010, 0x1100, 0x7020, 0x1200, 0, 0, 0, 0) // at 0x7000: frame records
	}
	signal := fp
	signal.Flags = trad.Signal
	useless := trad.Row{Flags: trad.Signal, CFA: trad.Rule{Kind: trad.InReg, Reg: 99}, RA: fp.RA}
	normal := &rows{name: "normal", at: map[uint64]trad.Row{0x1010: fp, trampoline: fp, 0x1200: {Flags: trad.Outermost, CFA: fp.CFA}, 0x11ff: {Flags: trad.Outermost, CFA: fp.CFA}}}
	table := &rows{name: "table", at: map[uint64]trad.Row{trampoline: signal}}
	broken := &rows{name: "broken", at: map[uint64]trad.Row{trampoline: useless}}
	stack := &byStack{rows{name: "stack", at: map[uint64]trad.Row{trampoline: signal}}}
	other := &byStack{rows{name: "other"}}

	for _, tt := range []struct {
		sniffers []frame.Sniffer
		by       string // the sniffer that unwinds the trampoline; "" if none does
		declined string
	}{
		{[]frame.Sniffer{normal}, "normal", ""},
		{[]frame.Sniffer{marks(trampoline), normal}, "", "marks: a signal frame, whose rules are not given; normal: its row is not one of a signal frame"},
		{[]frame.Sniffer{marks(trampoline), normal, table}, "table", "marks: a signal frame, whose rules are not given; normal: its row is not one of a signal frame"},
		{[]frame.Sniffer{stack, marks(trampoline), table, normal}, "table", "stack: the code is not known; marks: a signal frame, whose rules are not given"},
		{[]frame.Sniffer{other, stack, marks(trampoline), normal}, "stack",
			"other: the code is not known; stack: the code is not known; marks: a signal frame, whose rules are not given; normal: its row is not one of a signal frame"},
		{[]frame.Sniffer{other, marks(trampoline), normal}, "",
			"other: the code is not known; marks: a signal frame, whose rules are not given; normal: its row is not one of a signal frame"},
		{[]frame.Sniffer{broken, normal}, "", ""},
		{[]frame.Sniffer{stack, broken, normal}, "stack", ""},
		{[]frame.Sniffer{stack, normal}, "normal", "stack: the code is not known"},
	} {
		var names []string
		for _, s := range tt.sniffers {
			names = append(names, s.Name())
		}
		f := newStack()
		pcs, last, err := unwind(t, f, tt.sniffers...)
		want := []uint64{0x1010, 0x1100, 0x1200}
		if tt.by == "" {
			want = want[:2]
			var stop *frame.StopError
			if !errors.As(err, &stop) || stop.Reason != frame.Unavailable || last.Type() != frame.SigTramp {
				t.Errorf("%v: %v, type %v", names, err, last.Type())
			}
		} else {
			if err != nil {
				t.Errorf("%v: %v", names, err)
			}
			last = last.Next()
		}
		if !slices.Equal(pcs, want) {
			t.Errorf("%v: the stack is %#x, want %#x", names, pcs, want)
			continue
		}
		claim := last.Claim()
		var declined []string
		for _, d := range claim.Declined {
			declined = append(declined, d.Sniffer+": "+d.Reason)
		}
		if got := strings.Join(declined, "; "); claim.Sniffer != tt.by || tt.declined != "" && got != tt.declined {
			t.Errorf("%v: by %q, declined %s", names, claim.Sniffer, got)
		}
		walker := frame.NewTable(amd64.Arch, tt.sniffers...)
		checker := walktest.New(f.mods, walker)
		for range 2 { // the second time by cached rows
			if err := checker.Check(f, f); err != nil {
				t.Errorf("%v: %v", names, err)
			}
		}
	}
}
