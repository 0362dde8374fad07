package sniffer_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// unknownCode is a recording with the machine code alone: no file is mapped there, as if a
// program had copied all its code to memory of its own.
type unknownCode struct {
	*recorded
	code *target.Modules
}

func (u unknownCode) Modules() *target.Modules { return u.code }
func (u unknownCode) Memory() target.Memory    { return u }

func newUnknownCode(t *testing.T, rec *gdbtest.Recording) unknownCode {
	t.Helper()
	u := unknownCode{recorded: newRecorded(t, rec)}
	var code []target.Mapping
	for _, m := range u.modules.All() {
		code = append(code, m.Mappings...)
	}
	u.code = target.NewModules(nil, code)
	return u
}

// unknownSteps unwinds each recorded stop without tables, symbols and files. A caller that is not
// marked as a guess must be the one that gdb finds with all of these.
func unknownSteps(t *testing.T, rec *gdbtest.Recording) {
	target := newUnknownCode(t, rec)
	right, guessed, wrong, none := 0, 0, 0, 0
	for i := range rec.States {
		s := &rec.States[i]
		target.state = s
		table := sniffer.Table(amd64.Arch) // an empty cache for each stop
		if i%16 == 0 {
			if err := walktest.New(target.Modules(), table).Check(target, target); err != nil {
				t.Errorf("%s: %#x: %v", s.Function, s.Expected[0].PC, err)
			}
		}
		stack, err := frame.New(target, target, table)
		if err != nil {
			t.Fatal(err)
		}
		f0, err := stack.Frame(0)
		if err != nil {
			t.Fatal(err)
		}
		f1, _ := f0.Prev()
		if f1 == nil {
			none++
			continue
		}
		why := differs(s, f0, f1)
		switch {
		case why == "":
			right++
		case (f0.Row().Flags|f1.Row().Flags)&trad.Guess != 0:
			guessed++
		case strings.HasPrefix(s.Function, "step_realigned"):
			// gcc's tables take rbp from a place where it no longer is: see compareSteps.
		default:
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %#x: %s: by %s %s, %s %s", s.Function, f0.PC(), why,
					f0.Sniffer(), format(f0), f1.Sniffer(), format(f1))
			}
		}
	}
	t.Logf("%d stops: %d right, %d wrong guesses, %d wrong, %d no answer", len(rec.States), right, guessed, wrong, none)
	if right*100 < len(rec.States)*90 {
		t.Errorf("only %d of %d stops have a right answer", right, len(rec.States))
	}
}

func format(f *frame.Frame) string {
	row := f.Row()
	return row.Format(amd64.Arch.RegName)
}
