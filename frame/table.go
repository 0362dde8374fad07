package frame

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Table is the ordered list of sniffers for one architecture, with a cache of the rows that
// they have given. A Table serves one goroutine at a time; [Table.Clone] makes
// another one.
type Table struct {
	Arch *arch.Arch

	sniffers  []Sniffer
	unwinders []Unwinder       // the same sniffers, nil for one that is no Unwinder: a type assertion for each row would take long
	placed    []PlacedUnwinder // the sniffers that are PlacedUnwinders; nil for others
	places    uint64           // the sum of their generations when the rows were last forgotten
	bases     []BaseSniffer
	base      BaseSniffer
	rows      rowCache
}

// NewTable returns a table that asks the sniffers in the order given. It leaves out each
// [ArchSniffer] that does not serve the architecture.
func NewTable(a *arch.Arch, sniffers ...Sniffer) *Table {
	t := &Table{Arch: a, base: defaultBase{}}
	t.set(slices.DeleteFunc(slices.Clone(sniffers), func(s Sniffer) bool {
		x, some := s.(ArchSniffer)
		return some && !x.Serves(a)
	}))
	return t
}

// set replaces the sniffers.
func (t *Table) set(sniffers []Sniffer) {
	t.sniffers, t.unwinders, t.placed = sniffers, make([]Unwinder, len(sniffers)), nil
	for i, s := range sniffers {
		t.unwinders[i], _ = s.(Unwinder)
		if p, ok := s.(PlacedUnwinder); ok {
			t.placed = append(t.placed, p)
		}
	}
}

// Clone returns a table of the same sniffers, in the same order, with an empty cache. Call it for
// each further goroutine that walks stacks.
func (t *Table) Clone() *Table {
	c := &Table{Arch: t.Arch, bases: slices.Clone(t.bases), base: t.base}
	c.set(slices.Clone(t.sniffers))
	return c
}

// Reset forgets all rows, in constant time.
func (t *Table) Reset() { t.rows.reset() }

// Release forgets all rows, and leaves their memory to tables that are used next. Call it when you
// are done with t: no stack of t may be walked any more. A program that walks the stacks of many
// targets, each with a table of its own, saves time so.
func (t *Table) Release() {
	if t.rows.slots != nil {
		released.Put(&releasedSlots{t.rows.slots, t.rows.epoch})
	}
	t.rows = rowCache{}
}

// Forget forgets all rows, and calls Forget of each [CachingSniffer]. Call it when the target has
// run: other code may be where some was before.
func (t *Table) Forget() {
	t.Reset()
	for _, s := range t.sniffers {
		if f, ok := s.(CachingSniffer); ok {
			f.Forget()
		}
	}
}

// CacheStats returns how often the table's cache has had the row for a PC, and how often not.
func (t *Table) CacheStats() CacheStats { return t.rows.stats }

// Sniffers returns the sniffers in order.
func (t *Table) Sniffers() []Sniffer { return slices.Clone(t.sniffers) }

// Append adds s behind all other sniffers.
func (t *Table) Append(s Sniffer) { t.insert(len(t.sniffers), s) }

// Prepend adds s before all other sniffers.
func (t *Table) Prepend(s Sniffer) { t.insert(0, s) }

// Before adds s before the first sniffer of that name. It is an error if there is none.
func (t *Table) Before(name string, s Sniffer) error {
	i := slices.IndexFunc(t.sniffers, func(x Sniffer) bool { return x.Name() == name })
	if i < 0 {
		return fmt.Errorf("sniffer table: no sniffer named %q", name)
	}
	t.insert(i, s)
	return nil
}

func (t *Table) insert(i int, s Sniffer) {
	t.set(slices.Insert(slices.Clone(t.sniffers), i, s))
	t.rows = rowCache{} // rows name their sniffers by position, and s may have better ones
}

// AppendBase adds a base sniffer behind the others. The first one that knows a frame answers for
// it.
func (t *Table) AppendBase(b BaseSniffer) { t.bases = append(slices.Clone(t.bases), b) }

// SetDefaultBase replaces the base sniffer of frames that no other base sniffer knows.
func (t *Table) SetDefaultBase(b BaseSniffer) { t.base = b }

// Base returns the base sniffer for a frame: the first that knows the frame, or else the default
// one.
func (t *Table) Base(this *Frame) BaseSniffer {
	for _, b := range t.bases {
		if b.SniffBase(this) {
			return b
		}
	}
	return t.base
}

// defaultBase takes the frame's innermost address, SP, as the base of the frame and of its
// locals, and the CFA, from which pushed arguments go outward, as the base of the arguments.
type defaultBase struct{}

func (defaultBase) Name() string          { return "default" }
func (defaultBase) SniffBase(*Frame) bool { return true }
func (defaultBase) ThisBase(this *Frame) (uint64, error) {
	return this.needRegister(this.stack.arch.SP)
}
func (defaultBase) ThisLocals(this *Frame) (uint64, error) {
	return this.needRegister(this.stack.arch.SP)
}
func (defaultBase) ThisArgs(this *Frame) (uint64, error) {
	cfa, ok := this.CFA()
	if !ok {
		return 0, fmt.Errorf("frame %d: CFA is not known", this.Level)
	}
	return cfa, nil
}

func (f *Frame) needRegister(r trad.Reg) (uint64, error) {
	v := f.Register(r)
	if !v.Known() {
		return 0, fmt.Errorf("frame %d: register %s is not known", f.Level, f.stack.arch.RegName(r))
	}
	return v.Bits, nil
}
