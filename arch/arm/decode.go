package arm

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// The analysis gives r0 to r15 the numbers 0 to 15, and s0 to s31, the halves of d0 to d15, 16 to
// 47.
const (
	r0    dataflow.Reg = 0
	r4    dataflow.Reg = 4
	r7    dataflow.Reg = 7
	r11   dataflow.Reg = 11
	r12   dataflow.Reg = 12
	rsp   dataflow.Reg = 13
	rlr   dataflow.Reg = 14
	rpc   dataflow.Reg = 15
	s0    dataflow.Reg = 16
	nRegs              = 48
)

// word is how many bytes a register has, and an A32 instruction.
const word = 4

// always is the condition of what is always executed; of what has no condition, it is never.
const (
	always = 14
	never  = 15
)

// An inst is an instruction that is being decoded.
type inst struct {
	dataflow.Inst
	ops []dataflow.Op

	thumb bool
	first int // where ops of this instruction begin
	at    int // offset of the instruction
}

func newInst(at, size int, thumb bool, ops []dataflow.Op) inst {
	return inst{Inst: dataflow.Inst{Len: uint8(size), By: dataflow.None, Target: dataflow.NoTarget}, ops: ops, thumb: thumb, first: len(ops), at: at}
}

func (in *inst) do(ops ...dataflow.Op) { in.ops = append(in.ops, ops...) }

// reg returns a general register as the base of a sum. That of PC is the address of the
// instruction.
func reg(n uint32) dataflow.Reg {
	if n == uint32(rpc) {
		return dataflow.PC
	}
	return dataflow.Reg(n)
}

// ahead is how far what an instruction reads of PC is behind its own address.
func (in *inst) ahead() int32 {
	if in.thumb {
		return 4
	}
	return 8
}

// from returns the base for a register, and adds to imm what that needs. Thumb code rounds PC down.
func (in *inst) from(n uint32, imm int32) (dataflow.Reg, int32) {
	if n != uint32(rpc) {
		return dataflow.Reg(n), imm
	}
	imm += in.ahead()
	if !in.thumb {
		return dataflow.PC, imm
	}
	in.do(dataflow.Op{Kind: dataflow.Round, Dst: dataflow.Temp, Src: dataflow.None, Base: dataflow.PC, Index: dataflow.None, Imm: -word})
	return dataflow.Temp, imm
}

// set makes dst base+index+imm. To set PC is a jump that nobody can follow.
func (in *inst) set(dst, base uint32, index dataflow.Reg, imm int32) {
	if dst == uint32(rpc) {
		in.Flow = dataflow.Away
		return
	}
	b, imm := in.from(base, imm)
	in.do(dataflow.Op{Kind: dataflow.Sum, Dst: dataflow.Reg(dst), Src: dataflow.None, Base: b, Index: index, Imm: imm})
}

// constant makes dst a number.
func (in *inst) constant(dst uint32, n uint32) {
	if dst == uint32(rpc) {
		in.Flow = dataflow.Away
		return
	}
	in.do(dataflow.Const(dataflow.Reg(dst), int32(n)))
}

// move makes dst a copy of src.
func (in *inst) move(dst, src uint32) {
	switch {
	case dst == uint32(rpc):
		in.branchTo(src)
	case src == uint32(rpc):
		in.set(dst, src, dataflow.None, 0)
	default:
		in.do(dataflow.Move(dataflow.Reg(dst), dataflow.Reg(src)))
	}
}

// minus makes dst base-index.
func (in *inst) minus(dst, base, index uint32) {
	if dst == uint32(rpc) || base == uint32(rpc) || index == uint32(rpc) {
		in.lose(dst)
		return
	}
	in.do(dataflow.Op{Kind: dataflow.Minus, Dst: dataflow.Reg(dst), Src: dataflow.None, Base: dataflow.Reg(base), Index: dataflow.Reg(index)})
}

// round makes dst base with the bits of mask alone, if that is rounding down.
func (in *inst) round(dst, base, mask uint32) {
	if below := ^mask; dst == uint32(rpc) || base == uint32(rpc) || below&(below+1) != 0 {
		in.lose(dst)
		return
	}
	in.do(dataflow.Op{Kind: dataflow.Round, Dst: dataflow.Reg(dst), Src: dataflow.None, Base: dataflow.Reg(base), Index: dataflow.None, Imm: int32(mask)})
}

// compare compares two registers.
func (in *inst) compare(a, b uint32) {
	if a != uint32(rpc) && b != uint32(rpc) {
		in.do(dataflow.Op{Kind: dataflow.Compare, Dst: dataflow.Reg(a), Src: dataflow.Reg(b)})
	}
}

// lose says that dst gets a value that is not followed.
func (in *inst) lose(dst uint32) {
	if dst == uint32(rpc) {
		in.Flow = dataflow.Away
		return
	}
	in.Kill |= dataflow.Reg(dst).Bit()
}

// branchTo is bx, and what writes a register to PC.
func (in *inst) branchTo(r uint32) {
	if r == uint32(rpc) { // bx pc: to the A32 code behind
		in.Flow = dataflow.Away
		return
	}
	in.Flow, in.By, in.Return = dataflow.To, dataflow.Reg(r), r == uint32(rlr)
}

// branch is a jump by a distance from the instruction.
func (in *inst) branch(flow dataflow.Flow, off int32) {
	in.Flow, in.Target = flow, int64(in.at)+int64(in.ahead())+int64(off)
}

// conditional makes of what was decoded since the instruction began something that may or may not
// happen.
func (in *inst) conditional(cond uint32) {
	for i := range in.ops[in.first:] {
		switch o := &in.ops[in.first+i]; o.Kind {
		case dataflow.Store, dataflow.Compare, dataflow.Sign:
		default:
			if in.Flow == dataflow.Next || in.Flow == dataflow.Call {
				in.Kill |= o.Dst.Bit()
			}
		}
	}
	restores := len(in.ops) > in.first
	in.ops = in.ops[:in.first]
	switch in.Flow {
	case dataflow.Jump:
		if in.Flow = dataflow.Branch; cond == 1 {
			in.Flow = dataflow.BranchNE
		}
	case dataflow.To, dataflow.Away:
		if in.Flow != dataflow.To || restores { // what it restores is not restored where it goes on
			in.By, in.Return = dataflow.None, false
		}
		in.Flow, in.Kill = dataflow.MaybeTo, 0
	case dataflow.Stop, dataflow.Bad:
		in.Flow = dataflow.Next
	}
}

// A transfer is a load or store of one or two words or less.
type transfer struct {
	load           bool
	regs           [2]uint32
	n              int    // of regs
	base           uint32 // a register; PC for literals
	index          bool   // by a register as well: it is not followed
	off, writeback int32  // writeback is added to base; before the access where pre is set
	pre            bool
	width          uint16 // of each register in memory; 0 for one that is sign-extended
}

// indexed says how a transfer uses a distance: P and W of the encodings.
func (t *transfer) indexed(p, w bool, n int32) {
	switch {
	case p && !w:
		t.off = n
	case p:
		t.writeback, t.pre = n, true
	default:
		t.writeback = n
	}
}

func (in *inst) transfer(t transfer) {
	if t.pre {
		t.off = t.writeback
	}
	base, off := in.from(t.base, t.off)
	toPC := false
	if t.index {
		base = dataflow.None
	}
	if t.load && t.n == 2 && t.regs[0] == t.base { // the base is lost before the second load
		in.do(dataflow.Move(dataflow.Temp, base))
		base = dataflow.Temp
	}
	update := func() {
		if t.writeback != 0 && t.base != uint32(rpc) {
			if t.index {
				in.Kill |= dataflow.Reg(t.base).Bit()
			} else {
				in.do(dataflow.Add(dataflow.Reg(t.base), dataflow.Reg(t.base), t.writeback))
			}
		}
	}
	if !t.load && t.pre && !t.index { // push
		update()
		base, off = dataflow.Reg(t.base), 0
	}
	for i, r := range t.regs[:t.n] {
		o := dataflow.Op{Kind: dataflow.Load, Dst: dataflow.Reg(r), Src: dataflow.None, Base: base, Index: dataflow.None, Width: t.width, Imm: off + int32(i)*word}
		switch {
		case t.load && r == uint32(rpc): // by way of lr: the function is left
			o.Dst, toPC = rlr, true
			if t.index || t.base != uint32(rsp) {
				in.Flow = dataflow.Away
				return
			}
		case !t.load:
			o.Kind, o.Dst, o.Src = dataflow.Store, dataflow.None, reg(r)
			if r == uint32(rpc) {
				o.Src = dataflow.None
			}
		}
		in.do(o)
	}
	if t.load || !t.pre || t.index {
		update()
	}
	if toPC {
		in.Flow, in.By, in.Return = dataflow.To, rlr, true
	}
}

// multiple is ldm, stm, push and pop: the registers of a mask, at ascending addresses. before and
// down are P and not-U of the encodings.
func (in *inst) multiple(load bool, base, mask uint32, before, down, writeback bool) {
	n := int32(0)
	for m := mask; m != 0; m &= m - 1 {
		n += word
	}
	b, off := dataflow.Reg(base), int32(0)
	switch {
	case base == uint32(rpc) || n == 0:
		in.Flow = dataflow.Bad
		return
	case down && before:
		off = -n
	case down:
		off = word - n
	case before:
		off = word
	}
	move := n
	if down {
		move = -n
	}
	from := b
	if load && mask&(1<<base) != 0 {
		in.do(dataflow.Move(dataflow.Temp, b))
		from = dataflow.Temp
	}
	if !load && writeback && down { // what is below the stack pointer is dead: move it first
		in.do(dataflow.Add(b, b, move))
		off, writeback = off-move, false
	}
	spLoad := dataflow.Op{}
	for r := uint32(0); r < 16; r++ {
		if mask&(1<<r) == 0 {
			continue
		}
		o := dataflow.Op{Kind: dataflow.Load, Dst: dataflow.Reg(r), Src: dataflow.None, Base: from, Index: dataflow.None, Width: word, Imm: off}
		off += word
		switch {
		case !load:
			o.Kind, o.Dst, o.Src = dataflow.Store, dataflow.None, dataflow.Reg(r)
			switch {
			case r == uint32(rpc):
				o.Src = dataflow.None
			case r == base && move < 0 && base == uint32(rsp):
				o.Src = dataflow.None
			}
		case r == uint32(rpc):
			o.Dst = rlr
		case r == uint32(rsp): // last: the others are found by it
			spLoad = o
			continue
		}
		in.do(o)
	}
	if spLoad.Width != 0 {
		in.do(spLoad)
	} else if writeback && (!load || mask&(1<<base) == 0) {
		in.do(dataflow.Add(b, b, move))
	}
	if load && mask&(1<<rpc) != 0 {
		in.Flow, in.By, in.Return = dataflow.To, rlr, true
	}
}

// doubles returns the halves of d[n] of a set; there are none of d16 and above.
func doubles(n uint32) dataflow.Set {
	if n >= 16 {
		return 0
	}
	return 3 << (uint32(s0) + 2*n)
}

func half(code []byte, at int) uint32 { return uint32(binary.LittleEndian.Uint16(code[at:])) }

// signed returns the signed number in the n low bits of w.
func signed(w uint32, n int) int32 { return int32(w<<(32-n)) >> (32 - n) }

func bit(w uint32, n int) bool { return w>>n&1 == 1 }

// field returns n bits of w from bit at on.
func field(w uint32, at, n int) uint32 { return w >> at & (1<<n - 1) }
