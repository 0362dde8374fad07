package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// withoutCode is a recorded stop of which only the stack and the files' symbols are at hand, as in
// a crash report.
type withoutCode struct{ *recorded }

func (w withoutCode) Memory() target.Memory { return w.state }

// scanSteps finds the caller at each recorded stop by the words of the stack alone. Each answer
// must be marked as a guess, and most must be the caller that gdb finds by its tables. A frame of
// 96 KiB has no answer.
func scanSteps(t *testing.T, rec *gdbtest.Recording) {
	list, err := sniffer.ByName("scan")
	if err != nil {
		t.Fatal(err)
	}
	all := newRecorded(t, rec)
	for _, x := range []struct {
		what    string
		target  target.Target
		percent int
	}{{"with code", all, 80}, {"without code", withoutCode{all}, 60}} {
		right, wrong, none := 0, 0, 0
		for i := range rec.States {
			s := &rec.States[i]
			all.state = s
			stack, err := frame.New(x.target, all, frame.NewTable(amd64.Arch, list...))
			if err != nil {
				t.Fatal(err)
			}
			f0, err := stack.Frame(0)
			if err != nil {
				t.Fatal(err)
			}
			f1, _ := f0.Prev()
			switch row := f0.Row(); {
			case f1 == nil:
				none++
			case row.Flags&trad.Guess == 0:
				t.Errorf("%s: %#x: %s is not marked as a guess", s.Function, f0.PC(), row.Format(amd64.Arch.RegName))
			default:
				caller := s.Expected[1]
				if f1.PC() == caller.PC {
					right++
				} else {
					wrong++
				}
			}
		}
		t.Logf("%s: %d stops: %d right, %d wrong, %d no answer", x.what, len(rec.States), right, wrong, none)
		if right*100 < len(rec.States)*x.percent {
			t.Errorf("%s: only %d of %d stops have a right answer", x.what, right, len(rec.States))
		}
	}
}
