package sniffer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// stepBuilds are the ways in which steps.c is built.
var stepBuilds = []struct {
	name   string
	flags  []string
	sframe int  // share of the stops, in percent, at which SFrame alone must have an answer
	soak   bool // make test leaves it out
}{
	{"O2", gdbtest.Plain, 85, false},
	{"O0", []string{"-g", "-O0", "-Wa,--gsframe"}, 85, true},
	{"frame pointer", []string{"-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe", "-mavx2"}, 85, true},
	{"clash protection", []string{"-g", "-O2", "-fstack-clash-protection", "-fcf-protection", "-Wa,--gsframe"}, 70, false},
}

// TestStepsGDB stops at every instruction of a set of functions and compares the
// frames of each sniffer with gdb's: PC, CFA, type and saved registers.
func TestStepsGDB(t *testing.T) {
	for variant, b := range stepBuilds {
		t.Run(b.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			if b.soak {
				gdbtest.NeedSoak(t)
			}
			steps(t, gdbtest.Build(t, "steps.c", b.flags...), b.sframe)
		})
	}
	for name, sframe := range map[string]int{"steps-v2": 85, "steps-v3": 100} {
		t.Run(name, func(t *testing.T) { steps(t, gdbtest.Testdata(t, "bin", name), sframe) })
	}
}

func steps(t *testing.T, program string, sframe int) {
	t.Helper()
	rec := gdbtest.RecordSteps(t, program, gdbtest.Functions(t, program, "step_"), 400)
	// Single sniffers may decline in functions that the machine's assembler cannot describe, such
	// as the one with 96 KiB on the stack. The newer gcc is, the longer its code there.
	for _, tt := range []struct {
		list    []string
		atLeast int
	}{{nil, 100}, {[]string{"dwarf"}, 100}, {[]string{"sframe"}, sframe}, {[]string{"prologue"}, 80}} {
		t.Run(orderName(tt.list), func(t *testing.T) { compareSteps(t, rec, tt.list, tt.atLeast) })
	}
	t.Run("unknown code", func(t *testing.T) { unknownSteps(t, rec) })
	t.Run("scan", func(t *testing.T) { scanSteps(t, rec) })
}

func orderName(list []string) string {
	if list == nil {
		return "default"
	}
	return strings.Join(list, ",")
}

// compareSteps unwinds each recorded stop with the sniffers of a list. nil means the default order,
// which must always have an answer. Other lists must have an answer at atLeast percent of the
// stops.
func compareSteps(t *testing.T, rec *gdbtest.Recording, list []string, atLeast int) {
	t.Helper()
	compareStepsIn(t, newRecorded(t, rec), rec, list, atLeast)
}

// compareStepsIn is like compareSteps, with a target of its own for the recording.
func compareStepsIn(t *testing.T, target *recorded, rec *gdbtest.Recording, list []string, atLeast int) {
	t.Helper()
	table := sniffer.Table(amd64.Arch)
	if list != nil {
		sniffers, err := sniffer.ByName(list...)
		if err != nil {
			t.Fatal(err)
		}
		table = frame.NewTable(amd64.Arch, sniffers...)
	}
	walkers := walktest.New(target.Modules(), table)
	right, guessed, wrong, none, elsewhere := 0, 0, 0, 0, 0
	entry := map[uint64]*gdbtest.StepState{} // first instructions, by CFA
	for i := range rec.States {
		s := &rec.States[i]
		if list != nil && list[0] == "sframe" && strings.HasSuffix(s.Function, "return_register") && !strings.HasSuffix(rec.Program, "-v3") {
			continue // assemblers for V1 and V2 ignore that a return address is in a register
		}
		if m := target.Modules().Find(s.Expected[0].PC); list != nil && list[0] == "sframe" && (m == nil || m.Path != rec.Program) {
			elsewhere++ // libc and the dynamic linker, which binds functions, have no SFrame
			continue
		}
		if s.Expected[0].PC == s.Expected[0].Code {
			entry[s.Expected[0].CFA] = s
		}
		target.state = s
		if err := walkers.Check(target, target); err != nil {
			t.Errorf("%s: %#x: %v", s.Function, s.Expected[0].PC, err)
		}
		stack, err := frame.New(target, target, table)
		if err != nil {
			t.Fatal(err)
		}
		f0, err := stack.Frame(0)
		if err != nil {
			t.Fatal(err)
		}
		f1, err := f0.Prev()
		if f1 == nil {
			none++
			if list == nil || list[0] == "dwarf" {
				t.Errorf("%s: %#x: no caller: %v", s.Function, f0.PC(), err)
			}
			continue
		}
		why := differs(s, f0, f1)
		if e := entry[s.Expected[0].CFA]; why != "" && e != nil && (target.bare || list != nil && list[0] == "prologue") {
			// At the end of functions with a realigned stack, gcc's tables, and so gdb, take the
			// caller's rbp from a place where it no longer is. gdb's answer at the function's first
			// instruction is still true there.
			late := *s
			late.Expected = append(s.Expected[:1:1], e.Expected[1:]...)
			why = differs(&late, f0, f1)
		}
		switch {
		case why == "":
			right++
		case f0.Row().Flags&trad.Guess != 0:
			guessed++
		default:
			wrong++
			if wrong <= 10 {
				row := f0.Row()
				t.Errorf("%s: %#x: %s: by %s %s", s.Function, f0.PC(), why, f0.Sniffer(), row.Format(amd64.Arch.RegName))
			}
		}
	}
	stops := len(rec.States) - elsewhere
	t.Logf("%d stops: %d right, %d no answer, %d wrong guesses, %d wrong; %d elsewhere", stops, right, none, guessed, wrong, elsewhere)
	if right*100 < stops*atLeast || stops < 20 {
		t.Errorf("only %d of %d stops have an answer", right, stops)
	}
}

// differs compares frames 0 and 1 with gdb's, physical frames only.
func differs(s *gdbtest.StepState, frames ...*frame.Frame) string {
	i := 0
	for _, want := range s.Expected {
		if !want.Physical() || i == len(frames) {
			continue
		}
		f := frames[i]
		i++
		cfa, known := f.CFA()
		switch {
		case f.PC() != want.PC:
			return "frame " + f.String() + ": PC differs from gdb's " + hex(want.PC)
		case f.Type().String() != want.Type:
			return "frame " + f.String() + ": type " + f.Type().String() + ", gdb has " + want.Type
		case known && cfa != want.CFA:
			return "frame " + f.String() + ": CFA " + hex(cfa) + ", gdb has " + hex(want.CFA)
		}
		if f.Level == 0 {
			continue
		}
		for _, r := range []trad.Reg{amd64.RBX, amd64.RBP, amd64.RSP, amd64.R12, amd64.R13, amd64.R14, amd64.R15} {
			v := f.Register(r)
			if w, ok := want.Registers[int(r)]; ok && v.Known() && v.Bits != w {
				return "frame " + f.String() + ": " + amd64.Arch.RegName(r) + " " + hex(v.Bits) + ", gdb has " + hex(w)
			}
		}
	}
	return ""
}

func hex(v uint64) string { return fmt.Sprintf("%#x", v) }
