//go:build linux

package guesttest

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// want says to what extent a stack must equal gdb's.
type want int

const (
	whole     want = iota // every frame, and the end
	toMain                // every frame as far as main's
	pcs                   // every frame's PC, type and function, and the end
	pcsToMain             // the same as far as main's
)

// An order is a list of sniffers, and the extent to which their stacks must equal gdb's.
type order struct {
	list []string // nil for the default one
	want want
}

func (o order) String() string {
	if o.list == nil {
		return "default"
	}
	return strings.Join(o.list, ",")
}

// tally counts what was compared.
type tally struct{ stacks, frames, registers int }

// compareThreads compares the stacks of all threads of a target with gdb's.
func compareThreads(t *testing.T, tg target.Target, threads []gdbtest.Thread, o order, same aliases, n *tally) error {
	t.Helper()
	table := sniffer.Table(tg.Arch())
	if o.list != nil {
		sniffers, err := sniffer.ByName(o.list...)
		if err != nil {
			t.Fatal(err)
		}
		table = frame.NewTable(tg.Arch(), sniffers...)
	}
	mine, err := tg.Threads()
	if err != nil {
		return err
	}
	if len(mine) != len(threads) {
		return fmt.Errorf("%d threads, gdb has %d", len(mine), len(threads))
	}
	symbols := symbol.New(symbol.Options{SymbolsOnly: true})
	defer symbols.Close()
	walkers := walktest.New(tg.Modules(), table)
	for i := range threads {
		var th target.Thread
		for _, m := range mine {
			if m.ID() == threads[i].TID {
				th = m
			}
		}
		if th == nil {
			return fmt.Errorf("thread %d is missing", threads[i].TID)
		}
		stack, err := frame.New(tg, th, table)
		if err != nil {
			return err
		}
		if why := walkers.Check(tg, th); why != nil {
			return fmt.Errorf("thread %d: %w", threads[i].TID, why)
		}
		n.stacks++
		if why := n.compare(tg, stack, threads[i].Frames, symbols, same, o.want); why != nil {
			return fmt.Errorf("thread %d: %w", threads[i].TID, why)
		}
	}
	return nil
}

// compare compares one stack with gdb's.
func (count *tally) compare(tg target.Target, stack *frame.Stack, expected []gdbtest.Frame, symbols *symbol.Symbolizer, same aliases, w want) error {
	expected = physical(expected)
	pcOnly, end := w == pcs || w == pcsToMain, w == whole || w == pcs
	n := 0
	defer func() { count.frames += n }()
	var stop error
	for f, err := range stack.All() {
		if err != nil {
			stop = err
			break
		}
		if n == len(expected) {
			return fmt.Errorf("more frames than gdb's %d: %v by %s", n, f, f.Sniffer())
		}
		g := &expected[n]
		if n > 0 && g.Type == "normal" && noCode(tg, f.PC()) && g.PC<<16 == f.PC()<<16 {
			return nil
		}
		registers, err := differs(tg, f, g, symbols, same, pcOnly)
		count.registers += registers
		if err != nil {
			claim := f.Claim()
			return fmt.Errorf("frame %d, %s, by %q %s: %w", n, g.Function, claim.Sniffer, claim.Row.Format(tg.Arch().RegName), err)
		}
		n++
		if !end && g.Function == "main" {
			return nil
		}
	}
	if !end || n != len(expected) || stop != nil {
		return fmt.Errorf("%d frames, gdb has %d: %v", n, len(expected), stop)
	}
	return nil
}

// noCode reports whether a return address leads to no code. gdb goes on there, and shows the
// address without the bits that no address has. (gcc 14's table of a function with a frame pointer
// that saves a predicate has x30 in its old place: testdata/progs/guest/sve.c.)
func noCode(tg target.Target, pc uint64) bool {
	n, _ := tg.Memory().ReadMemory(pc, make([]byte, 4))
	return pc != 0 && n == 0 && tg.Modules().Find(pc) == nil
}

func physical(frames []gdbtest.Frame) (list []gdbtest.Frame) {
	for _, f := range frames {
		if f.Physical() {
			list = append(list, f)
		}
	}
	return list
}

// differs compares one frame: its PC, CFA, type, function, and the registers
// that a caller relies on, and counts these.
func differs(tg target.Target, f *frame.Frame, g *gdbtest.Frame, symbols *symbol.Symbolizer, same aliases, pcOnly bool) (registers int, why error) {
	// The trampoline of another run may lie elsewhere.
	if f.PC() != g.PC && !(pcOnly && g.Type == "sigtramp") {
		return registers, fmt.Errorf("PC %#x, gdb has %#x", f.PC(), g.PC)
	}
	name := ""
	if symbols != nil {
		at := symbols.Locate(tg.Modules(), f.AddressInBlock())
		name = at[len(at)-1].Function
	}
	cfa, known := f.CFA()
	switch {
	case f.Sniffer() != "" && f.Type().String() != g.Type:
		return registers, fmt.Errorf("type %v, gdb has %s", f.Type(), g.Type)
	case symbols != nil && g.Function != "" && g.Type != "sigtramp" && !same.has(name, g.Function):
		return registers, fmt.Errorf("function %q, gdb has %q", name, g.Function)
	case pcOnly:
		return registers, nil
	case known && g.CFA != 0 && cfa != g.CFA && !(tg.Arch().Name == "386" && g.Type == "sigtramp"): // the vDSO's table has the interrupted SP, gdb by itself another address
		return registers, fmt.Errorf("CFA %#x, gdb has %#x", cfa, g.CFA)
	}
	for number, value := range g.Registers {
		if r := trad.Reg(number); r != tg.Arch().PC {
			v := f.Register(r)
			if value = tg.Arch().Narrow(r, value); v.Known() && v.Bits != value {
				return registers, fmt.Errorf("%s %#x, gdb has %#x", tg.Arch().RegName(r), v.Bits, value)
			}
			if v.Known() {
				registers++
			}
		}
	}
	return registers, nil
}

// aliases are the functions of a file by their names: a function may have several.
type aliases map[string]elf.Symbol

func (a aliases) has(x, y string) bool {
	s, t := a[x], a[y]
	return x == y || s.Value != 0 && s.Value == t.Value && s.Section == t.Section
}

// aliasesIn reads the names of a static guest and its libc. A dynamic guest's are in the libraries,
// which both debuggers read.
func aliasesIn(t *testing.T, g *Guest) aliases {
	t.Helper()
	f, err := elf.Open(g.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	a := aliases{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			a[s.Name] = s
		}
	}
	return a
}
