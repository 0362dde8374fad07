//go:build linux

package guesttest

import (
	"context"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
	"github.com/sfwalk/sfwalk/trad"
)

// A walk is one way to unwind at each instruction.
type walk struct {
	list    []string // sniffers, nil for the default order
	bare    bool     // without tables
	atLeast int      // the share of instructions, in percent, that must have an answer
}

func (w walk) String() string {
	s := order{list: w.list}.String()
	if w.bare {
		s += ", without tables"
	}
	return s
}

var stepGuests = []struct {
	name   string
	guest  func(*testing.T) *Guest
	sframe int // share of instructions that SFrame has rows for; 0 without
}{
	{"arm64/SFrame V3", committed(ARM64, "steps-arm64-v3"), 100},
	{"arm64/SFrame V3, branch protection", committed(ARM64, "steps-arm64-v3-pac"), 100},
	{"arm64/SFrame V2", committed(ARM64, "steps-arm64-v2"), 100},
	{"arm64/SFrame of the installed assembler, O0", bare(ARM64, "steps.c", "-O0", "-Wa,--gsframe"), 100},
	{"arm64/no frame pointer", bare(ARM64, "steps.c", "-O2", "-fomit-frame-pointer"), 0},
	{"arm/A32, frame pointer", bare(ARM, "steps.c", "-g", "-funwind-tables", "-marm", "-O1", "-fno-omit-frame-pointer"), 0},
	{"arm/A32 O2", bare(ARM, "steps.c", "-g", "-funwind-tables", "-marm", "-O2"), 0},
	{"arm/Thumb, frame pointer", bare(ARM, "steps.c", "-g", "-funwind-tables", "-mthumb", "-O1", "-fno-omit-frame-pointer"), 0},
	{"arm/Thumb O2", bare(ARM, "steps.c", "-g", "-funwind-tables", "-mthumb", "-O2"), 0},
	{"i386/O2", bare(I386, "steps.c", "-O2"), 0},
	{"i386/frame pointer", bare(I386, "steps.c", "-O2", "-fno-omit-frame-pointer"), 0},
	{"s390x/SFrame V3", committed(S390X, "steps-s390x-v3"), 100},
	{"s390x/SFrame V3, back chain", committed(S390X, "steps-s390x-v3-backchain"), 100},
	{"s390x/O0", bare(S390X, "steps.c", "-O0"), 0},
	{"s390x/O2", bare(S390X, "steps.c", "-O2"), 0},
}

// TestSteps stops at every instruction of a set of functions, through the stub, and compares the
// innermost frames with gdb's: PC, CFA, type and the registers that a caller relies on.
func TestSteps(t *testing.T) {
	for i, s := range stepGuests {
		t.Run(s.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			t.Parallel()
			g := s.guest(t)
			steps := g.Steps(t, gdbtest.Functions(t, g.Path, "step_"))
			walks := []walk{{nil, false, 100}, {[]string{"dwarf"}, false, 100}}
			if s.sframe > 0 {
				walks = append(walks, walk{[]string{"sframe"}, false, s.sframe})
			}
			views := []view{
				{g.Path, walks},
				{g.WithoutTables(t, g.Path), []walk{{[]string{"prologue"}, true, 100}, {nil, true, 100}}},
			}
			if s.sframe == 0 {
				views[0].walks = append(views[0].walks, walk{[]string{"scan"}, false, 90})
				views = append(views, view{g.WithoutSymbols(t, g.Path), []walk{{nil, true, 85}}})
			}
			if strings.HasPrefix(s.name, "arm/A32, ") { // with frame pointers, which half of the code of small functions sets up and takes down
				views[0].walks = append(views[0].walks, walk{[]string{"fp-guess"}, false, 45})
			}
			if g.GOARCH == "arm" {
				exceptions := g.without(t, g.Path, ".debug_frame", ".eh_frame")
				views = append(views, view{exceptions, []walk{{nil, false, 100}, {[]string{"ehabi", "prologue"}, false, 100}}})
			}
			stepAll(t, g, steps, views...)
		})
	}
}

// A view is a program's file, or a copy of it without tables, and the ways to unwind with it.
type view struct {
	exe   string
	walks []walk
}

// viewed is a running guest, with the modules of another one that was given another file.
type viewed struct {
	*remote.Target
	modules *target.Modules
}

func (v viewed) Modules() *target.Modules { return v.modules }

// A stepper unwinds in one way at each instruction, and counts how well.
type stepper struct {
	walk
	tg                           target.Target
	table                        *frame.Table
	right, short, guessed, wrong int
	stubs                        int // instructions that are left out: in linkage stubs; where gcc's table is wrong
}

// tablesAlone reports whether the stepper has no answer in linkage stubs, which have no tables.
func (s *stepper) tablesAlone() bool { return s.list != nil && s.list[0] == "dwarf" }

// section returns a section of a file; it is empty where there is none.
func section(t *testing.T, file, name string) elf.SectionHeader {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := f.Section(name); s != nil {
		return s.SectionHeader
	}
	return elf.SectionHeader{}
}

// stepAll runs the guest once, instruction by instruction, and unwinds where gdb has
// stopped, in each way.
func stepAll(t *testing.T, g *Guest, steps []Step, views ...view) {
	t.Helper()
	ctx := context.Background()
	var tg *remote.Target
	var steppers []*stepper
	for _, v := range views {
		mine, err := remote.Dial(ctx, "unix:"+g.Serve(t), remote.Options{Exe: v.exe})
		if err != nil {
			t.Fatal(err)
		}
		defer mine.Close()
		if tg == nil {
			tg = mine
		}
		for _, w := range v.walks {
			s := &stepper{walk: w, tg: viewed{tg, mine.Modules()}, table: sniffer.Table(tg.Arch())}
			if w.list != nil {
				sniffers, err := sniffer.ByName(w.list...)
				if err != nil {
					t.Fatal(err)
				}
				s.table = frame.NewTable(tg.Arch(), sniffers...)
			}
			steppers = append(steppers, s)
		}
	}
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	th, a := threads[0].(*remote.Thread), tg.Arch()
	ahead := codeOf(t, g)
	kind := map[string]int{"arm": 4, "arm64": 4, "386": 1, "s390x": 2}[g.GOARCH]
	stubs := section(t, g.Path, ".plt")
	next, moved := 0, uint64(0)
	for next < len(steps) {
		var regs arch.Registers
		arrived := func(how error) bool {
			if how == nil {
				how = th.Registers(&regs)
			}
			if how != nil {
				t.Fatalf("the guest did not come to instruction %d of %d, at %#x: %v", next, len(steps), steps[next].Frames[0].PC, how)
			}
			pc, sp := regs.Value[a.PC], regs.Value[a.SP]
			if next == 0 {
				moved = sp - steps[0].SP
			}
			return pc == steps[next].Frames[0].PC && sp == steps[next].SP+moved
		}
		// Code between two functions that are stepped through is run through.
		if !arrived(tg.Step(ctx, th)) && !arrived(tg.RunTo(ctx, steps[next].Frames[0].PC, kind)) {
			continue
		}
		step := steps[next].moved(moved)
		next++
		for _, s := range steppers {
			if s.tablesAlone() && step.Frames[0].PC-stubs.Addr < stubs.Size || !s.tablesAlone() && inHalves(ahead, step.Frames[0].PC) {
				s.stubs++
			} else {
				s.unwind(t, th, step)
			}
		}
	}
	for _, s := range steppers {
		n := len(steps) - s.stubs
		t.Logf("%v: %d instructions: %d right, %d with fewer frames, %d wrong guesses, %d wrong; %d in stubs", s, n, s.right, s.short, s.guessed, s.wrong, s.stubs)
		if s.right*100 < n*s.atLeast || s.stubs > n/10 {
			t.Errorf("%v: only %d of %d instructions have the right answer", s, s.right, n)
		}
	}
}

// codeOf returns the code of a guest of arm, by address; nil for others.
func codeOf(t *testing.T, g *Guest) func(pc uint64) []byte {
	t.Helper()
	text := section(t, g.Path, ".text")
	if g.GOARCH != "arm" {
		return nil
	}
	f, err := elf.Open(g.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return func(pc uint64) []byte {
		if pc-text.Addr >= text.Size {
			return nil
		}
		return data[pc-text.Addr:]
	}
}

// inHalves reports whether the instruction at pc is the second of two that take down a large frame.
// gcc's tables for arm say only behind it that the first one has done so.
func inHalves(code func(pc uint64) []byte, pc uint64) bool {
	if code == nil {
		return false
	}
	adds := func(p []byte) bool { // add sp, sp, #… of A32 code; of Thumb code, also with r7, in 32 and in 16 bits
		if len(p) < 4 {
			return false
		}
		wide, narrow := p[1] == 0xf5 || p[1] == 0xf2, p[1] == 0xb0 && p[0]&0x80 == 0 || p[1] == 0x37
		return p[3] == 0xe2 && p[2] == 0x8d && p[1]>>4 == 0xd || wide && (p[0] == 0x0d || p[0] == 0x07) || narrow
	}
	return adds(code(pc)) && (adds(code(pc-4)) || adds(code(pc-2)))
}

// unwind unwinds at one instruction.
func (s *stepper) unwind(t *testing.T, th target.Thread, step *Step) {
	t.Helper()
	if slices.Equal(s.list, []string{"scan"}) || slices.Equal(s.list, []string{"fp-guess"}) {
		s.caller(t, th, step)
		return
	}
	frames, why := unwindStep(t, s.tg, th, s.table, step)
	switch row := frames[0].Row(); {
	case why == nil && len(frames) == len(physical(step.Frames)):
		s.right++
	case why == nil:
		if s.short++; s.atLeast == 100 {
			t.Logf("%v: %s+%#x: %d frames", s, step.Frames[0].Function, step.Frames[0].PC-step.Frames[0].Code, len(frames))
		}
	case row.Flags&trad.Guess != 0:
		s.guessed++
	default:
		if s.wrong++; s.wrong <= 5 {
			f := step.Frames[0]
			t.Errorf("%v: %s+%#x: %v: by %s %s", s, f.Function, f.PC-f.Code, why, frames[0].Sniffer(), row.Format(s.tg.Arch().RegName))
		}
	}
}

// caller compares the caller's PC alone, for a guess does not tell where the frame ends. Each
// answer must be marked as a guess.
func (s *stepper) caller(t *testing.T, th target.Thread, step *Step) {
	t.Helper()
	stack, err := frame.New(s.tg, th, s.table)
	if err != nil {
		t.Fatal(err)
	}
	this, err := stack.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	prev, _ := this.Prev()
	row := this.Row()
	switch callers := physical(step.Frames)[1:]; {
	case prev == nil:
		s.short++
	case row.Flags&trad.Guess == 0:
		s.wrong++
		t.Errorf("%v: %#x: %s is not marked as a guess", s, this.PC(), row.Format(s.tg.Arch().RegName))
	case len(callers) > 0 && prev.PC() == callers[0].PC:
		s.right++
	default:
		s.guessed++
	}
}

// moved is the step in a run whose stack lies elsewhere, as it does in newer
// versions of qemu. Registers that point into the stack are known by their values.
func (s Step) moved(by uint64) *Step {
	const size = 8 << 20
	low := s.SP - size
	move := func(v uint64) uint64 {
		if v-low < 2*size {
			v += by
		}
		return v
	}
	s.Frames = slices.Clone(s.Frames)
	for i := range s.Frames {
		f := &s.Frames[i]
		f.CFA = move(f.CFA)
		f.Registers = maps.Clone(f.Registers)
		for r, v := range f.Registers {
			f.Registers[r] = move(v)
		}
	}
	s.SP = move(s.SP)
	return &s
}

// unwindStep compares as many frames as there are, at most as many as gdb's.
func unwindStep(t *testing.T, tg target.Target, th target.Thread, table *frame.Table, step *Step) (frames []*frame.Frame, why error) {
	t.Helper()
	stack, err := frame.New(tg, th, table)
	if err != nil {
		t.Fatal(err)
	}
	expected := physical(step.Frames)
	for f, err := range stack.All() {
		if err != nil || len(frames) == len(expected) {
			break
		}
		frames = append(frames, f)
		if _, why := differs(tg, f, &expected[len(frames)-1], nil, nil, false); why != nil {
			return frames, fmt.Errorf("frame %d, %s: %w", len(frames)-1, expected[len(frames)-1].Function, why)
		}
	}
	return frames, nil
}

// TestStepsSigned steps through functions whose return addresses are signed, on
// a processor that does sign them: the same PCs at the same steps.
func TestStepsSigned(t *testing.T) {
	t.Parallel()
	g := committed(ARM64, "steps-arm64-v3-pac")(t)
	steps := g.Steps(t, gdbtest.Functions(t, g.Path, "step_"))
	g.CPU = "max"
	stepAll(t, g, steps, view{g.Path, []walk{{nil, false, 100}, {[]string{"dwarf"}, false, 100}, {[]string{"sframe"}, false, 100}}})
}

// TestStepsLibc steps through functions of the C library, some of them written in
// assembly. (On arm64 its start-up code cannot be stepped through: the processor's
// exclusive loads do not survive a stop, so their loops have no end.) With SFWALK_SOAK set,
// there are more of them.
func TestStepsLibc(t *testing.T) {
	t.Parallel()
	flags, bare := []string{"-O2", "-static"}, []walk{{nil, true, 100}}
	if os.Getenv("SFWALK_SOAK") != "" {
		flags = append(flags, "-DFLOATS")
		bare = append(bare, walk{[]string{"prologue"}, true, 100})
	}
	g := built(S390X, "libc.c", flags...)(t)
	g.Options = []string{"-R", "0x40000000"} // the same addresses in each run: parts of them stay in registers
	steps := g.Steps(t, []string{"step_libc"})
	stepAll(t, g, steps, view{g.Path, []walk{{nil, false, 100}, {[]string{"dwarf"}, false, 99}}}, view{g.WithoutTables(t, g.Path), bare})
}
