//go:build linux

package guesttest

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// want says how far a stack must be gdb's.
type want int

const (
	whole  want = iota // every frame, and the end
	asFar              // as far as it goes, and frame 0 at least
	toMain             // every frame as far as main's
	pcs                // every frame's PC, type and function, and the end
)

// An order is a list of sniffers and what their stacks must be like.
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
type tally struct{ stacks, frames int }

// compareThreads holds the stacks of all threads of a target against gdb's.
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
		frames, why := compareFrames(tg, stack, threads[i].Frames, symbols, same, o.want)
		n.stacks++
		n.frames += frames
		if why != nil {
			return fmt.Errorf("thread %d: %w", threads[i].TID, why)
		}
	}
	return nil
}

func compareFrames(tg target.Target, stack *frame.Stack, expected []gdbtest.Frame, symbols *symbol.Symbolizer, same aliases, w want) (n int, why error) {
	expected = physical(expected)
	var stop error
	for f, err := range stack.All() {
		if err != nil {
			stop = err
			break
		}
		if n == len(expected) {
			return n, fmt.Errorf("more frames than gdb's %d: %v by %s", n, f, f.Sniffer())
		}
		g := &expected[n]
		if err := differs(tg, f, g, symbols, same, w == pcs); err != nil {
			claim := f.Claim()
			return n, fmt.Errorf("frame %d, %s, by %q %s: %w", n, g.Function, claim.Sniffer, claim.Row.Format(tg.Arch().RegName), err)
		}
		n++
		if w == toMain && g.Function == "main" {
			return n, nil
		}
	}
	switch {
	case (w == whole || w == pcs) && (n != len(expected) || stop != nil), w == toMain, n == 0:
		return n, fmt.Errorf("%d frames (%w), gdb has %d", n, errors.Join(stop), len(expected))
	}
	return n, nil
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
// that a caller relies on.
func differs(tg target.Target, f *frame.Frame, g *gdbtest.Frame, symbols *symbol.Symbolizer, same aliases, pcOnly bool) error {
	if f.PC() != g.PC {
		return fmt.Errorf("PC %#x, gdb has %#x", f.PC(), g.PC)
	}
	name := ""
	if symbols != nil {
		at := symbols.Locate(tg.Modules(), f.AddressInBlock())
		name = at[len(at)-1].Function
	}
	cfa, known := f.CFA()
	switch {
	case f.Sniffer() != "" && f.Type().String() != g.Type:
		return fmt.Errorf("type %v, gdb has %s", f.Type(), g.Type)
	case symbols != nil && g.Function != "" && g.Type != "sigtramp" && !same.has(name, g.Function):
		return fmt.Errorf("function %q, gdb has %q", name, g.Function)
	case pcOnly:
		return nil
	case known && g.CFA != 0 && cfa != g.CFA:
		return fmt.Errorf("CFA %#x, gdb has %#x", cfa, g.CFA)
	}
	for number, value := range g.Registers {
		if r := trad.Reg(number); r != tg.Arch().PC {
			if v := f.Register(r); v.Known() && v.Bits != value {
				return fmt.Errorf("%s %#x, gdb has %#x", tg.Arch().RegName(r), v.Bits, value)
			}
		}
	}
	return nil
}

// aliases are the functions of a file by their names: a function may have several.
type aliases map[string]elf.Symbol

func (a aliases) has(x, y string) bool {
	s, t := a[x], a[y]
	return x == y || s.Value != 0 && s.Value == t.Value && s.Section == t.Section
}

// aliasesIn reads the names of a static guest and its libc; those of a dynamic
// guest's are in the libraries that both debuggers read.
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
