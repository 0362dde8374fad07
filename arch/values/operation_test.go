package values_test

import (
	"maps"
	"testing"

	"github.com/sfwalk/sfwalk/arch/values"
)

// word is the number that a register or memory holds.
type word int32

func (w word) Plus(n int32) word       { return w + word(n) }
func (w word) Sum(v word) word         { return w + v }
func (w word) Minus(v word) word       { return w - v }
func (w word) Number() (int32, bool)   { return int32(w), true }
func (w word) at(width uint16) [2]word { return [2]word{w, word(width)} }

// A computer is the domain in which every number is known.
type computer struct {
	regs     map[values.Reg]word
	memory   map[[2]word]word // by address and width
	compared [2]values.Reg
	signed   bool
}

func (c *computer) Reg(r values.Reg) word               { return c.regs[r] }
func (c *computer) Set(r values.Reg, v word)            { c.regs[r] = v }
func (c *computer) Constant(n int32) word               { return word(n) }
func (c *computer) Round(o *values.Op, v word) word     { return v & word(o.Imm) }
func (c *computer) Load(o *values.Op, at word) word     { return c.memory[at.at(o.Width)] }
func (c *computer) Store(o *values.Op, at word, v word) { c.memory[at.at(o.Width)] = v }
func (c *computer) Compare(o *values.Op)                { c.compared = [2]values.Reg{o.Dst, o.Src} }
func (c *computer) Sign()                               { c.signed = !c.signed }

// TestExecute executes each kind of micro-operation, as its comment has it, on numbers.
func TestExecute(t *testing.T) {
	const r0, r1, r2 = 0, 1, 2
	for _, tt := range []struct {
		name string
		op   values.Op
		set  values.Reg // the register that gets
		want word       // this
	}{
		{"constant", values.Const(r0, -7), r0, -7},
		{"move", values.Move(r0, r1), r0, 0x1230},
		{"add", values.Add(r0, r1, 8), r0, 0x1238},
		{"sum", values.Op{Kind: values.Sum, Dst: r0, Base: r1, Index: r2, Imm: -1}, r0, 0x1233},
		{"minus", values.Op{Kind: values.Minus, Dst: r0, Base: r1, Index: r2}, r0, 0x122c},
		{"minus itself", values.Op{Kind: values.Minus, Dst: r0, Base: r1, Index: r1}, r0, 0},
		{"insert", values.Op{Kind: values.Insert, Dst: r1, Shift: 16, Width: 8, Imm: 0x56}, r1, 0x561230},
		{"insert too far up", values.Op{Kind: values.Insert, Dst: r1, Shift: 32, Width: 16, Imm: 1}, r1, 0},
		{"round", values.Op{Kind: values.Round, Dst: r0, Base: r1, Imm: -256}, r0, 0x1200},
		{"load", values.LoadWord(r0, r1, 0x10), r0, 99},
		{"load by index", values.Op{Kind: values.Load, Dst: r0, Base: r1, Index: r2, Width: 8, Imm: 0xc}, r0, 99},
		{"put aside", values.Move(values.Temp, r1), values.Temp, 0x1230},
	} {
		regs := map[values.Reg]word{r1: 0x1230, r2: 4}
		c := &computer{regs: maps.Clone(regs), memory: map[[2]word]word{{0x1240, 8}: 99}}
		values.Execute(c, &tt.op)
		if regs[tt.set] = tt.want; !maps.Equal(c.regs, regs) || len(c.memory) != 1 {
			t.Errorf("%s: registers %v, memory %v; want registers %v", tt.name, c.regs, c.memory, regs)
		}
	}
	c := &computer{regs: map[values.Reg]word{r1: 0x1230, r2: 4}, memory: map[[2]word]word{}}
	store := values.StoreTo(r1, -4, 2, r2)
	values.Execute(c, &store)
	values.Execute(c, &values.Op{Kind: values.Compare, Dst: r1, Src: r2})
	values.Execute(c, &values.Op{Kind: values.Sign})
	if c.memory[[2]word{0x122c, 2}] != 4 || c.compared != [2]values.Reg{r1, r2} || !c.signed || len(c.regs) != 2 {
		t.Errorf("store, compare, sign: %+v", c)
	}
}
