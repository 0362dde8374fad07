package dataflow_test

import (
	"maps"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
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
	regs     map[dataflow.Reg]word
	memory   map[[2]word]word // by address and width
	compared [2]dataflow.Reg
	signed   bool
}

func (c *computer) Reg(r dataflow.Reg) word               { return c.regs[r] }
func (c *computer) Set(r dataflow.Reg, v word)            { c.regs[r] = v }
func (c *computer) Constant(n int32) word                 { return word(n) }
func (c *computer) Round(o *dataflow.Op, v word) word     { return v & word(o.Imm) }
func (c *computer) Load(o *dataflow.Op, at word) word     { return c.memory[at.at(o.Width)] }
func (c *computer) Store(o *dataflow.Op, at word, v word) { c.memory[at.at(o.Width)] = v }
func (c *computer) Compare(o *dataflow.Op)                { c.compared = [2]dataflow.Reg{o.Dst, o.Src} }
func (c *computer) Sign()                                 { c.signed = !c.signed }

// TestExecute executes each kind of micro-operation, as its comment has it, on numbers.
func TestExecute(t *testing.T) {
	const r0, r1, r2 = 0, 1, 2
	for _, tt := range []struct {
		name string
		op   dataflow.Op
		set  dataflow.Reg // the register that gets
		want word         // this
	}{
		{"constant", dataflow.Const(r0, -7), r0, -7},
		{"move", dataflow.Move(r0, r1), r0, 0x1230},
		{"add", dataflow.Add(r0, r1, 8), r0, 0x1238},
		{"sum", dataflow.Op{Kind: dataflow.Sum, Dst: r0, Base: r1, Index: r2, Imm: -1}, r0, 0x1233},
		{"minus", dataflow.Op{Kind: dataflow.Minus, Dst: r0, Base: r1, Index: r2}, r0, 0x122c},
		{"minus itself", dataflow.Op{Kind: dataflow.Minus, Dst: r0, Base: r1, Index: r1}, r0, 0},
		{"insert", dataflow.Op{Kind: dataflow.Insert, Dst: r1, Shift: 16, Width: 8, Imm: 0x56}, r1, 0x561230},
		{"insert too far up", dataflow.Op{Kind: dataflow.Insert, Dst: r1, Shift: 32, Width: 16, Imm: 1}, r1, 0},
		{"round", dataflow.Op{Kind: dataflow.Round, Dst: r0, Base: r1, Imm: -256}, r0, 0x1200},
		{"load", dataflow.LoadWord(r0, r1, 0x10), r0, 99},
		{"load by index", dataflow.Op{Kind: dataflow.Load, Dst: r0, Base: r1, Index: r2, Width: 8, Imm: 0xc}, r0, 99},
		{"put aside", dataflow.Move(dataflow.Temp, r1), dataflow.Temp, 0x1230},
	} {
		regs := map[dataflow.Reg]word{r1: 0x1230, r2: 4}
		c := &computer{regs: maps.Clone(regs), memory: map[[2]word]word{{0x1240, 8}: 99}}
		dataflow.Execute(c, &tt.op)
		if regs[tt.set] = tt.want; !maps.Equal(c.regs, regs) || len(c.memory) != 1 {
			t.Errorf("%s: registers %v, memory %v; want registers %v", tt.name, c.regs, c.memory, regs)
		}
	}
	c := &computer{regs: map[dataflow.Reg]word{r1: 0x1230, r2: 4}, memory: map[[2]word]word{}}
	store := dataflow.StoreTo(r1, -4, 2, r2)
	dataflow.Execute(c, &store)
	dataflow.Execute(c, &dataflow.Op{Kind: dataflow.Compare, Dst: r1, Src: r2})
	dataflow.Execute(c, &dataflow.Op{Kind: dataflow.Sign})
	if c.memory[[2]word{0x122c, 2}] != 4 || c.compared != [2]dataflow.Reg{r1, r2} || !c.signed || len(c.regs) != 2 {
		t.Errorf("store, compare, sign: %+v", c)
	}
}
