package frameinfo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// Info is what is known of one frame, THIS. What is not known is nil.
type Info struct {
	Level int
	Type  frame.Type
	ID    frame.ID
	PC    uint64

	// Places is where PC is in the source: the calls inlined there, innermost first, then the function.
	Places []symbol.Location

	SavedPC    *uint64   // the address that THIS returns to
	PreviousSP *uint64   // PREVIOUS's stack pointer; if it was saved in memory, it is among Saved, too
	CalledBy   *frame.ID // PREVIOUS
	CallerOf   *frame.ID // NEXT; nil for frame 0

	Base, Locals, Args Address

	// Saved are the registers of PREVIOUS that THIS has saved in memory, by their DWARF numbers.
	Saved []Saved

	Stop frame.StopReason // why there is no PREVIOUS
}

// Address is an address of a frame, as a base sniffer gives it.
type Address struct {
	Sniffer string // who gave it
	Addr    uint64
	Err     error // why it is not known
}

// Saved is a register that is in memory.
type Saved struct {
	Reg  trad.Reg
	Name string
	Addr uint64
}

// Of returns what is known of a frame. table is that of the frame's stack: its base sniffers answer for the
// bases. Without symbols, Places is empty. Of makes PREVIOUS.
func Of(this *frame.Frame, table *frame.Table, symbols *symbol.Symbolizer) Info {
	info := Info{Level: this.Level, Type: this.Type(), ID: this.ID(), PC: this.PC()}
	if symbols != nil {
		info.Places = symbols.Locate(this.Stack().Modules(), this.AddressInBlock())
	}
	b := table.Base(this)
	for _, x := range []struct {
		to  *Address
		ask func(*frame.Frame) (uint64, error)
	}{{&info.Base, b.ThisBase}, {&info.Locals, b.ThisLocals}, {&info.Args, b.ThisArgs}} {
		addr, err := x.ask(this)
		*x.to = Address{b.Name(), addr, err}
	}
	if next := this.Next(); next != nil && next.Level >= 0 {
		id := next.ID()
		info.CallerOf = &id
	}
	prev, _ := this.Prev()
	if prev == nil {
		info.Stop = this.StopReason()
		return info
	}
	info.unwind(this, prev, table)
	return info
}

// unwind adds what PREVIOUS tells of THIS.
func (info *Info) unwind(this, prev *frame.Frame, table *frame.Table) {
	if id := prev.ID(); !id.Null() {
		info.CalledBy = &id
	}
	pc := prev.PC()
	info.SavedPC = &pc
	if v := prev.Register(table.Arch.SP); v.Known() {
		info.PreviousSP = &v.Bits
	}
	for _, r := range table.Arch.Regs {
		v := prev.Register(r.Num)
		if !v.Known() || v.Lval != frame.InMemory {
			continue
		}
		if w := this.Register(r.Num); w.Lval != frame.InMemory || w.Addr != v.Addr { // else an inner frame has saved it
			info.Saved = append(info.Saved, Saved{r.Num, r.Name, v.Addr})
		}
	}
	slices.SortFunc(info.Saved, func(a, b Saved) int { return cmp.Compare(a.Reg, b.Reg) })
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
	if len(info.Places) > 0 && info.Places[0].Function != "" {
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
	if info.CalledBy != nil {
		fmt.Fprintf(&b, " called by frame at %#x\n", info.CalledBy.Stack)
	}
	if info.CallerOf != nil {
		fmt.Fprintf(&b, " caller of frame at %#x\n", info.CallerOf.Stack)
	}
	fmt.Fprintf(&b, " Arglist at %v\n Locals at %v", info.Args, info.Locals)
	if info.PreviousSP != nil {
		fmt.Fprintf(&b, ", Previous frame's sp is %#x", *info.PreviousSP)
	}
	b.WriteByte('\n')
	for i, s := range info.Saved {
		separator := ", "
		if i == 0 {
			separator = " Saved registers:\n  "
		}
		fmt.Fprintf(&b, "%s%s at %#x", separator, s.Name, s.Addr)
	}
	if len(info.Saved) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// String returns the address, or "unknown address".
func (a Address) String() string {
	if a.Err != nil {
		return "unknown address"
	}
	return fmt.Sprintf("%#x", a.Addr)
}
