package frame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// A guess must lead to code. If it does not, another guess that does wins; if there is
// none, no sniffer claims the frame.
func TestGuessLeadsToCode(t *testing.T) {
	guess := func(off int32) trad.Row {
		return trad.Row{
			Flags: trad.Guess,
			CFA:   trad.Rule{Kind: trad.InReg, Reg: xsp, Off: 32},
			RA:    trad.Rule{Kind: trad.Saved, Off: off},
			FP:    trad.Rule{Kind: trad.Same},
		}
	}
	f := newLinkFake(0x1010, stackBase, 0, 0, 0x7777, 0x1100, 0, 0)
	wrong := &rows{name: "wrong", at: map[uint64]trad.Row{0x1010: guess(-32)}}
	right := &rows{name: "right", at: map[uint64]trad.Row{0x1010: guess(-24)}}
	if list := linkStack(t, f, wrong, right); len(list) != 2 || list[0].Sniffer() != "right" || list[1].PC() != 0x1100 {
		t.Errorf("stack %v", list)
	}
	list := linkStack(t, f, wrong)
	if len(list) != 1 || list[0].Sniffer() != "" || list[0].StopReason() != frame.Unavailable {
		t.Fatalf("stack %v", list)
	}
	if _, err := list[0].Prev(); err == nil || !strings.Contains(err.Error(), "wrong: it is a guess, and leads to no code") {
		t.Errorf("%v", err)
	}
	if c := list[0].Claim(); len(c.Declined) != 1 || !strings.Contains(c.Declined[0].Reason, "leads to no code") {
		t.Errorf("declined: %+v", c.Declined)
	}
}

// Of two guesses that lead to code, the one whose return address follows a call wins, whatever
// their order; else the first one. That is decided for each frame, also if the row is known. A
// guess never wins over a row of a table.
func TestGuessesCompete(t *testing.T) {
	a := *amd64.Arch
	a.AfterCall = func(code []byte) bool { return code[len(code)-1] == 0xe8 }
	const called, uncalled = 0x1100, 0x1200
	at := func(off int32, flags trad.Flags) trad.Row {
		return trad.Row{
			Flags: flags,
			CFA:   trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: off},
			RA:    trad.Rule{Kind: trad.Saved, Off: -8},
			FP:    trad.Rule{Kind: trad.Same},
		}
	}
	for _, tt := range []struct {
		name  string
		words [4]uint64
		first trad.Flags
		want  string // the sniffer, and PREVIOUS
		lost  string
	}{
		{"the later one follows a call", [4]uint64{uncalled, called}, trad.Guess, "second 0x1100", "follows no call"},
		{"the first one does", [4]uint64{called, uncalled}, trad.Guess, "first 0x1100", ""},
		{"both do", [4]uint64{called, called}, trad.Guess, "first 0x1100", ""},
		{"none does", [4]uint64{uncalled, uncalled}, trad.Guess, "first 0x1200", ""},
		{"the first one is no guess", [4]uint64{uncalled, called}, 0, "first 0x1200", ""},
		{"the later one leads to no code", [4]uint64{uncalled, 0x9000}, trad.Guess, "first 0x1200", ""},
	} {
		f := callFake{newFake(0x1010, stackBase, 0, tt.words[:]...), &a}
		table := frame.NewTable(&a,
			&rows{name: "first", at: map[uint64]trad.Row{0x1010: at(8, tt.first)}},
			&rows{name: "second", at: map[uint64]trad.Row{0x1010: at(16, trad.Guess)}})
		if err := walktest.New(f.mods, table).Check(f, f); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for range 2 { // the second time, the first row is known
			s, err := frame.New(f, f, table)
			if err != nil {
				t.Fatal(err)
			}
			f0, err := s.Frame(0)
			if err != nil {
				t.Fatal(err)
			}
			f1, err := f0.Prev()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %#x", f0.Sniffer(), f1.PC()); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
			declined := fmt.Sprint(f0.Claim().Declined)
			if tt.lost != "" && !strings.Contains(declined, "first") || !strings.Contains(declined, tt.lost) {
				t.Errorf("%s: declined: %s", tt.name, declined)
			}
		}
	}
}

// A guess that finds the frame record, but takes PREVIOUS's frame pointer from elsewhere, loses to
// the one that takes it from the record.
func TestGuessOfFramePointer(t *testing.T) {
	kept := trad.Row{
		Flags: trad.Guess,
		CFA:   trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 32},
		RA:    trad.Rule{Kind: trad.Saved, Off: -8},
		FP:    trad.Rule{Kind: trad.Same},
	}
	record := fp
	record.Flags = trad.Guess
	f := newFake(0x1010, stackBase, stackBase+16, 0, 0, stackBase+32, 0x1100, 0, 0)
	pcs, last, err := unwind(t, f, &rows{name: "kept", at: map[uint64]trad.Row{0x1010: kept}}, &rows{name: "record", at: map[uint64]trad.Row{0x1010: record}})
	if len(pcs) != 2 || last.Register(amd64.RBP).Bits != stackBase+32 {
		t.Fatalf("stack %x, %v", pcs, err)
	}
	if f0 := last.Next(); f0.Sniffer() != "record" || !strings.Contains(fmt.Sprint(f0.Claim().Declined), "frame pointer from the frame record") {
		t.Errorf("by %s, declined: %v", f0.Sniffer(), f0.Claim().Declined)
	}
}

// callFake is a fake with code: the byte before each address that ends in 0x100 is 0xe8.
type callFake struct {
	*fake
	arch *arch.Arch
}

func (f callFake) Arch() *arch.Arch      { return f.arch }
func (f callFake) Memory() target.Memory { return f }

func (f callFake) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < codeLo || addr >= codeHi {
		return f.fake.ReadMemory(addr, p)
	}
	for i := range p {
		if p[i] = 0x90; (addr+uint64(i)+1)%0x200 == 0x100 {
			p[i] = 0xe8
		}
	}
	return len(p), nil
}
