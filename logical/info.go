package logical

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// Info is all that a debugger shows of one frame, THIS: the content of GDB's info frame. What is
// not known is nil.
type Info struct {
	Level int
	Type  frame.Type
	ID    frame.ID
	PC    uint64

	// Places is where PC is in the source: the calls inlined there, innermost first, then the
	// function.
	Places   []symbol.Location
	Language string // of the source, GDB's name of it: "c", "c++"; "" if not known

	SavedPC     *uint64   // the address that THIS returns to; also of the last frame of a stack with a limit
	PreviousSP  *uint64   // PREVIOUS's stack pointer
	SavedSP     *uint64   // where THIS has saved it, if it has; it is among Saved, too
	CalledBy    *frame.ID // PREVIOUS, if that is made
	CallerOf    *frame.ID // NEXT; nil for frame 0
	InlinedInto *int      // the level of the frame that a call is inlined into; nil for frames of other types

	Base, Locals, Args Base

	// Saved are the registers of PREVIOUS that THIS has saved in memory, by their DWARF numbers.
	Saved []SavedRegister

	Stop frame.StopReason // why there is no PREVIOUS
}

// Base is one of the three addresses that a base sniffer gives of a frame: its own, its locals' or
// its arguments'.
type Base struct {
	Sniffer string // who gave it
	Addr    uint64
	Err     error // why it is not known
}

// SavedRegister is a register that is in memory.
type SavedRegister struct {
	Reg  trad.Reg
	Name string
	Addr uint64
}

// PhysicalInfo returns what is known of a frame on the stack. table is the table of the frame's
// stack: its base sniffers answer for the bases. Without symbols, Places is empty. PhysicalInfo
// makes PREVIOUS, where the stack's Limit allows it.
func PhysicalInfo(this *frame.Frame, table *frame.Table, symbols *symbol.Symbolizer) Info {
	info := Info{Level: this.Level, Type: this.Type(), ID: this.ID(), PC: this.PC()}
	if symbols != nil {
		block := this.AddressInBlock()
		if this.Type() == frame.SigTramp {
			block = this.PC() // the kernel has planted it, no call is before
		}
		info.Places = symbols.Locate(this.Stack().Modules(), block)
		if info.Places[0].Line > 0 { // as GDB, which asks the source file
			info.Language = symbols.Language(this.Stack().Modules(), block)
		}
	}
	b := table.Base(this)
	for _, x := range []struct {
		to  *Base
		ask func(*frame.Frame) (uint64, error)
	}{{&info.Base, b.ThisBase}, {&info.Locals, b.ThisLocals}, {&info.Args, b.ThisArgs}} {
		addr, err := x.ask(this)
		*x.to = Base{b.Name(), addr, err}
	}
	if next := this.Next(); next != nil && next.Level >= 0 {
		id := next.ID()
		info.CallerOf = &id
	}
	if prev, _ := this.Prev(); prev == nil {
		info.Stop = this.StopReason()
	} else if id := prev.ID(); !id.Null() {
		info.CalledBy = &id
	}
	if info.Stop == frame.NoReason || info.Stop == frame.Limit {
		info.unwind(this, table.Arch)
	}
	return info
}

// unwind adds what the registers of PREVIOUS tell of THIS.
func (info *Info) unwind(this *frame.Frame, a *arch.Arch) {
	if v := this.PrevRegister(a.PC); v.Known() {
		pc := a.CodeAddress(v.Bits)
		info.SavedPC = &pc
	}
	if v := this.PrevRegister(a.SP); v.Known() {
		info.PreviousSP = &v.Bits
	}
	info.saved(this, a)
}

// saved adds the registers of PREVIOUS that THIS has saved in memory.
func (info *Info) saved(this *frame.Frame, a *arch.Arch) {
	inner := make(map[uint64]bool) // where inner frames have saved registers of THIS
	for _, r := range a.Regs {
		if w := this.Register(r.Num); w.Lval == frame.InMemory {
			inner[w.Addr] = true
		}
	}
	for _, r := range a.Regs {
		v := this.PrevRegister(r.Num)
		if !v.Known() || v.Lval != frame.InMemory || inner[v.Addr] {
			continue
		}
		info.Saved = append(info.Saved, SavedRegister{r.Num, r.Name, v.Addr})
		if r.Num == a.SP {
			info.SavedSP = &v.Addr
		}
	}
	slices.SortFunc(info.Saved, func(a, b SavedRegister) int { return cmp.Compare(a.Reg, b.Reg) })
}

// String returns the information in the form of GDB's info frame.
func (info Info) String() string {
	var b strings.Builder
	if fmt.Fprintf(&b, "Stack level %d", info.Level); info.ID.Null() {
		b.WriteString(", frame at unknown address:\n")
	} else {
		fmt.Fprintf(&b, ", frame at %#x:\n", info.ID.Stack)
	}
	fmt.Fprintf(&b, " pc = %#x", info.PC)
	if len(info.Places) > 0 && info.Places[0].Named() {
		at := info.Places[0]
		b.WriteString(" in " + at.Function)
		if at.File != "" {
			fmt.Fprintf(&b, " (%s:%d)", at.File, at.Line)
		}
	}
	if info.SavedPC != nil {
		fmt.Fprintf(&b, "; saved pc = %#x", *info.SavedPC)
	}
	b.WriteByte('\n')
	if info.Stop != frame.NoReason {
		fmt.Fprintf(&b, " Outermost frame: %v\n", info.Stop)
	}
	switch {
	case info.Type == frame.TailCall:
		b.WriteString(" tail call frame\n")
	case info.InlinedInto != nil:
		fmt.Fprintf(&b, " inlined into frame %d\n", *info.InlinedInto)
	case info.CalledBy != nil:
		fmt.Fprintf(&b, " called by frame at %#x\n", info.CalledBy.Stack)
	}
	if info.CallerOf != nil {
		fmt.Fprintf(&b, " caller of frame at %#x\n", info.CallerOf.Stack)
	}
	if info.Language != "" {
		fmt.Fprintf(&b, " source language %s.\n", info.Language)
	}
	fmt.Fprintf(&b, " Arglist at %v\n Locals at %v", info.Args, info.Locals)
	if info.SavedSP != nil {
		fmt.Fprintf(&b, ", Previous frame's sp at %#x", *info.SavedSP)
	} else if info.PreviousSP != nil {
		fmt.Fprintf(&b, ", Previous frame's sp is %#x", *info.PreviousSP)
	}
	b.WriteByte('\n')
	separator := " Saved registers:\n  "
	for _, s := range info.Saved {
		if info.SavedSP != nil && s.Addr == *info.SavedSP {
			continue
		}
		fmt.Fprintf(&b, "%s%s at %#x", separator, s.Name, s.Addr)
		separator = ", "
	}
	if separator == ", " {
		b.WriteByte('\n')
	}
	return b.String()
}

// String returns the address, or "unknown address".
func (a Base) String() string {
	if a.Err != nil {
		return "unknown address"
	}
	return fmt.Sprintf("%#x", a.Addr)
}
