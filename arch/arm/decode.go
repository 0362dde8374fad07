package arm

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/values"
)

// The analysis gives r0 to r15 the numbers 0 to 15, and s0 to s31, the halves of d0 to d15, 16 to 47.
const (
	r0    values.Reg = 0
	r4    values.Reg = 4
	r7    values.Reg = 7
	r11   values.Reg = 11
	r12   values.Reg = 12
	rsp   values.Reg = 13
	rlr   values.Reg = 14
	rpc   values.Reg = 15
	s0    values.Reg = 16
	nRegs            = 48
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
	values.Inst
	ops []values.Op

	thumb bool
	first int // where ops of this instruction begin
	at    int // offset of the instruction
}

func newInst(at, size int, thumb bool, ops []values.Op) inst {
	return inst{Inst: values.Inst{Len: uint8(size), By: values.None, Target: values.NoTarget}, ops: ops, thumb: thumb, first: len(ops), at: at}
}

func (in *inst) do(ops ...values.Op) { in.ops = append(in.ops, ops...) }

// reg returns a general register as the base of a sum. That of PC is the address of the instruction.
func reg(n uint32) values.Reg {
	if n == uint32(rpc) {
		return values.PC
	}
	return values.Reg(n)
}

// ahead is how far what an instruction reads of PC is behind its own address.
func (in *inst) ahead() int32 {
	if in.thumb {
		return 4
	}
	return 8
}

// from returns the base for a register, and adds to imm what that needs. Thumb code rounds PC down.
func (in *inst) from(n uint32, imm int32) (values.Reg, int32) {
	if n != uint32(rpc) {
		return values.Reg(n), imm
	}
	imm += in.ahead()
	if !in.thumb {
		return values.PC, imm
	}
	in.do(values.Op{Kind: values.Round, Dst: values.Temp, Src: values.None, Base: values.PC, Index: values.None, Imm: -word})
	return values.Temp, imm
}

// set makes dst base+index+imm. To set PC is a jump that nobody can follow.
func (in *inst) set(dst, base uint32, index values.Reg, imm int32) {
	if dst == uint32(rpc) {
		in.Flow = values.Away
		return
	}
	b, imm := in.from(base, imm)
	in.do(values.Op{Kind: values.Sum, Dst: values.Reg(dst), Src: values.None, Base: b, Index: index, Imm: imm})
}

// constant makes dst a number.
func (in *inst) constant(dst uint32, n uint32) {
	if dst == uint32(rpc) {
		in.Flow = values.Away
		return
	}
	in.do(values.Const(values.Reg(dst), int32(n)))
}

// move makes dst a copy of src.
func (in *inst) move(dst, src uint32) {
	switch {
	case dst == uint32(rpc):
		in.branchTo(src)
	case src == uint32(rpc):
		in.set(dst, src, values.None, 0)
	default:
		in.do(values.Move(values.Reg(dst), values.Reg(src)))
	}
}

// minus makes dst base-index.
func (in *inst) minus(dst, base, index uint32) {
	if dst == uint32(rpc) || base == uint32(rpc) || index == uint32(rpc) {
		in.lose(dst)
		return
	}
	in.do(values.Op{Kind: values.Minus, Dst: values.Reg(dst), Src: values.None, Base: values.Reg(base), Index: values.Reg(index)})
}

// round makes dst base with the bits of mask alone, if that is rounding down.
func (in *inst) round(dst, base, mask uint32) {
	if below := ^mask; dst == uint32(rpc) || base == uint32(rpc) || below&(below+1) != 0 {
		in.lose(dst)
		return
	}
	in.do(values.Op{Kind: values.Round, Dst: values.Reg(dst), Src: values.None, Base: values.Reg(base), Index: values.None, Imm: int32(mask)})
}

// compare compares two registers.
func (in *inst) compare(a, b uint32) {
	if a != uint32(rpc) && b != uint32(rpc) {
		in.do(values.Op{Kind: values.Compare, Dst: values.Reg(a), Src: values.Reg(b)})
	}
}

// lose says that dst gets a value that is not followed.
func (in *inst) lose(dst uint32) {
	if dst == uint32(rpc) {
		in.Flow = values.Away
		return
	}
	in.Kill |= values.Reg(dst).Bit()
}

// branchTo is bx, and what writes a register to PC.
func (in *inst) branchTo(r uint32) {
	if r == uint32(rpc) { // bx pc: to the A32 code behind
		in.Flow = values.Away
		return
	}
	in.Flow, in.By, in.Return = values.To, values.Reg(r), r == uint32(rlr)
}

// branch is a jump by a distance from the instruction.
func (in *inst) branch(flow values.Flow, off int32) {
	in.Flow, in.Target = flow, int64(in.at)+int64(in.ahead())+int64(off)
}

// conditional makes of what was decoded since the instruction began something that may or may not happen.
func (in *inst) conditional(cond uint32) {
	for i := range in.ops[in.first:] {
		switch o := &in.ops[in.first+i]; o.Kind {
		case values.Store, values.Compare, values.Sign:
		default:
			if in.Flow == values.Next || in.Flow == values.Call {
				in.Kill |= o.Dst.Bit()
			}
		}
	}
	restores := len(in.ops) > in.first
	in.ops = in.ops[:in.first]
	switch in.Flow {
	case values.Jump:
		if in.Flow = values.Branch; cond == 1 {
			in.Flow = values.BranchNE
		}
	case values.To, values.Away:
		if in.Flow != values.To || restores { // what it restores is not restored where it goes on
			in.By, in.Return = values.None, false
		}
		in.Flow, in.Kill = values.MaybeTo, 0
	case values.Stop, values.Bad:
		in.Flow = values.Next
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
		base = values.None
	}
	if t.load && t.n == 2 && t.regs[0] == t.base { // the base is lost before the second load
		in.do(values.Move(values.Temp, base))
		base = values.Temp
	}
	update := func() {
		if t.writeback != 0 && t.base != uint32(rpc) {
			if t.index {
				in.Kill |= values.Reg(t.base).Bit()
			} else {
				in.do(values.Add(values.Reg(t.base), values.Reg(t.base), t.writeback))
			}
		}
	}
	if !t.load && t.pre && !t.index { // push
		update()
		base, off = values.Reg(t.base), 0
	}
	for i, r := range t.regs[:t.n] {
		o := values.Op{Kind: values.Load, Dst: values.Reg(r), Src: values.None, Base: base, Index: values.None, Width: t.width, Imm: off + int32(i)*word}
		switch {
		case t.load && r == uint32(rpc): // by way of lr: the function is left
			o.Dst, toPC = rlr, true
			if t.index || t.base != uint32(rsp) {
				in.Flow = values.Away
				return
			}
		case !t.load:
			o.Kind, o.Dst, o.Src = values.Store, values.None, reg(r)
			if r == uint32(rpc) {
				o.Src = values.None
			}
		}
		in.do(o)
	}
	if t.load || !t.pre || t.index {
		update()
	}
	if toPC {
		in.Flow, in.By, in.Return = values.To, rlr, true
	}
}

// multiple is ldm, stm, push and pop: the registers of a mask, at ascending addresses. before and down are P and not-U of
// the encodings.
func (in *inst) multiple(load bool, base, mask uint32, before, down, writeback bool) {
	n := int32(0)
	for m := mask; m != 0; m &= m - 1 {
		n += word
	}
	b, off := values.Reg(base), int32(0)
	switch {
	case base == uint32(rpc) || n == 0:
		in.Flow = values.Bad
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
		in.do(values.Move(values.Temp, b))
		from = values.Temp
	}
	if !load && writeback && down { // what is below the stack pointer is dead: move it first
		in.do(values.Add(b, b, move))
		off, writeback = off-move, false
	}
	spLoad := values.Op{}
	for r := uint32(0); r < 16; r++ {
		if mask&(1<<r) == 0 {
			continue
		}
		o := values.Op{Kind: values.Load, Dst: values.Reg(r), Src: values.None, Base: from, Index: values.None, Width: word, Imm: off}
		off += word
		switch {
		case !load:
			o.Kind, o.Dst, o.Src = values.Store, values.None, values.Reg(r)
			switch {
			case r == uint32(rpc):
				o.Src = values.None
			case r == base && move < 0 && base == uint32(rsp):
				o.Src = values.None
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
		in.do(values.Add(b, b, move))
	}
	if load && mask&(1<<rpc) != 0 {
		in.Flow, in.By, in.Return = values.To, rlr, true
	}
}

// doubles returns the halves of d[n] of a set; there are none of d16 and above.
func doubles(n uint32) values.Set {
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
