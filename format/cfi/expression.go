package cfi

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxStack = 64   // values on the stack of an expression
	maxSteps = 4096 // operations that one evaluation runs
)

// expression is a DWARF expression in place (DWARF 5, section 2.5, with the
// limits of section 6.4.2).
type expression struct {
	code    []byte
	at      int // offset of code in the section
	kind    Kind
	big     bool
	ptrSize uint8
	// exchange are the registers that the expression has the other way round; see ABI.Exchanged.
	exchange [2]trad.Reg
}

// expression returns the expression whose length is at offset off of one of the FDE's programs,
// which the machine has read before.
func (s *Section) expression(off int, f *FDE) expression {
	end := f.program.to
	if in := f.CIE.program; off >= in.from && off < in.to {
		end = in.to
	}
	c := s.reader(off, end)
	code := c.Take(c.ULEB128())
	return expression{code: code, at: c.at() - len(code), kind: s.kind, big: s.big, ptrSize: f.CIE.PtrSize}
}

func (x *expression) fail(op, off int, err error) error {
	what := "end"
	if op >= 0 {
		what = "DW_OP_" + operationName(byte(op))
	}
	return fmt.Errorf("cfi: %v expression at %#x: %s at %#x: %w", x.kind, x.at, what, x.at+off, err)
}

func badExpression(reason string) error { return fmt.Errorf("%w: %s", ErrExpression, reason) }

// evaluation is the state of one run. Values have the width of an address.
type evaluation struct {
	x      *expression
	c      dwarf.Reader
	stack  [maxStack]uint64
	n      int
	mask   uint64
	reason string // why the run cannot go on; "" if it can
}

func (e *evaluation) push(v uint64) {
	if e.n == maxStack {
		e.reason = "stack is full"
		return
	}
	e.stack[e.n] = v & e.mask
	e.n++
}

func (e *evaluation) pop() uint64 {
	if e.n == 0 {
		e.reason = "stack is empty"
		return 0
	}
	e.n--
	return e.stack[e.n]
}

// pick pushes a copy of the value that lies i below the top.
func (e *evaluation) pick(i int) {
	if i >= e.n {
		e.reason = "stack is too short"
		return
	}
	e.push(e.stack[e.n-1-i])
}

// rotate moves the top value below the n-1 that follow it.
func (e *evaluation) rotate(n int) {
	if e.n < n {
		e.reason = "stack is too short"
		return
	}
	part := e.stack[e.n-n : e.n]
	top := part[n-1]
	copy(part[1:], part)
	part[0] = top
}

func (e *evaluation) signed(v uint64) int64 { return int64(signExtend(v, e.x.ptrSize)) }

// Eval implements [trad.Expression]. The error wraps [ErrExpression],
// [trad.ErrUnavailable] or an error of env.
func (x *expression) Eval(env trad.Env, cfa uint64, hasCFA bool) (uint64, error) {
	e := evaluation{x: x, c: dwarf.Reader{Data: x.code, Big: x.big}, mask: addressMask(x.ptrSize)}
	if hasCFA {
		e.push(cfa)
	}
	for steps := 0; e.c.More(); steps++ {
		at := e.c.Off
		op := e.c.U8()
		if steps == maxSteps {
			return 0, x.fail(int(op), at, badExpression(fmt.Sprintf("no end after %d operations", maxSteps)))
		}
		var err error
		switch {
		case op == dwarf.OpCallFrameCFA && hasCFA:
			e.push(cfa)
		case op == dwarf.OpCallFrameCFA:
			e.reason = "the CFA is what is being computed"
		case isRegisterOp(op):
			err = e.register(op, env)
		case op == dwarf.OpDeref || op == dwarf.OpDerefSize:
			err = e.deref(op, env)
		case !e.operand(op):
			e.compute(op)
		}
		switch {
		case err != nil:
		case e.c.Bad:
			err = badExpression("operand " + truncated + " or does not fit in 64 bits")
		case e.reason != "":
			err = badExpression(e.reason)
		}
		if err != nil {
			return 0, x.fail(int(op), at, err)
		}
	}
	if e.n == 0 {
		return 0, x.fail(-1, len(x.code), badExpression("stack is empty"))
	}
	return e.stack[e.n-1], nil
}

func isRegisterOp(op byte) bool { return op >= dwarf.OpReg0 && op <= dwarf.OpBregx }

// register pushes a register of THIS, plus the offset of a breg. A plain
// DW_OP_reg means the register's value here, because it has no other use.
func (e *evaluation) register(op byte, env trad.Env) error {
	reg, off := uint64(0), int64(0)
	switch {
	case op < dwarf.OpBreg0:
		reg = uint64(op - dwarf.OpReg0)
	case op < dwarf.OpRegx:
		reg, off = uint64(op-dwarf.OpBreg0), e.c.SLEB128()
	case op == dwarf.OpRegx:
		reg = e.c.ULEB128()
	case op == dwarf.OpBregx:
		reg, off = e.c.ULEB128(), e.c.SLEB128()
	default: // fbreg needs a function's frame base, and CFI has none
		e.reason = "has no meaning in call frame information"
		return nil
	}
	if e.c.Bad {
		return nil
	}
	if reg > uint64(^trad.Reg(0)) {
		e.reason = fmt.Sprintf("there is no register %d", reg)
		return nil
	}
	reg = exchange(e.x.exchange, reg)
	v, ok := env.Register(trad.Reg(reg))
	if !ok {
		return trad.UnknownRegister(env, trad.Reg(reg))
	}
	e.push(v + uint64(off))
	return nil
}

// deref replaces the address on top by the value in memory there.
func (e *evaluation) deref(op byte, env trad.Env) error {
	size, word := e.x.ptrSize, uint64(e.x.ptrSize)
	if op == dwarf.OpDerefSize {
		size = e.c.U8()
		if !e.c.Bad && (size == 0 || size > e.x.ptrSize) {
			e.reason = fmt.Sprintf("reads %d bytes, want 1 to %d", size, e.x.ptrSize)
		}
	}
	addr := e.pop()
	if e.c.Bad || e.reason != "" {
		return nil
	}
	// env reads whole words. Read the aligned word that the bytes are in, since it is in
	// their page, unless they reach into the next word.
	from, skip := addr, uint64(0)
	if size < e.x.ptrSize && addr%word+uint64(size) <= word {
		skip = addr % word
		from -= skip
	}
	v, err := env.Word(from)
	if err != nil {
		return err
	}
	if e.x.big {
		skip = word - uint64(size) - skip
	}
	e.push(v >> (8 * skip) & addressMask(size))
	return nil
}
