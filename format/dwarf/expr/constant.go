package expr

import "github.com/sfwalk/sfwalk/format/dwarf"

// constant runs an operation that pushes a literal, an address of the file, or a number of the
// frame (DWARF 5, section 2.5.1.1 to 2.5.1.3). It reports whether op is one of these.
func (e *evaluation) constant(op byte) bool {
	r := &e.r
	if v, ok := literal(r, op, e.x.AddrSize); ok {
		if op == dwarf.OpAddr {
			v += e.env.Bias
		}
		e.push(v)
		return true
	}
	if op >= dwarf.OpBreg0 && op < dwarf.OpRegx {
		off := uint64(r.SLEB128())
		e.push(e.register(uint64(op-dwarf.OpBreg0)) + off)
		return true
	}
	switch op {
	case dwarf.OpAddrx, dwarf.OpConstx:
		i := r.ULEB128()
		if r.Bad {
			break
		}
		if e.env.Address == nil {
			e.fail(unavailable("the unit's addresses"))
			break
		}
		addr, err := e.env.Address(i)
		if err != nil {
			e.fail(err)
		}
		if op == dwarf.OpAddrx {
			addr += e.env.Bias
		}
		e.push(addr)
	case dwarf.OpBregx:
		n, off := r.ULEB128(), uint64(r.SLEB128())
		e.push(e.register(n) + off)
	case dwarf.OpFbreg:
		off := uint64(r.SLEB128())
		e.ask(e.env.FrameBase, "the frame base")
		if e.err == nil {
			e.push(e.pop() + off)
		}
	case dwarf.OpCallFrameCFA:
		e.ask(e.env.CFA, "the CFA")
	case dwarf.OpPushObject:
		e.ask(e.env.Object, "the object's address")
	case dwarf.OpFormTLS:
		off := e.pop()
		e.lookUp(e.env.TLS, off, "thread-local storage")
	case dwarf.OpGNUParameterRef:
		e.lookUp(e.env.Parameter, uint64(r.U32()), "the caller's argument")
	case dwarf.OpGNUVariableValue:
		e.lookUp(e.env.Variable, r.Uint(e.refSize()), "the variable's value")
	case dwarf.OpEntryValue:
		code := r.Take(r.ULEB128())
		if r.Bad {
			break
		}
		if e.env.EntryValue == nil {
			e.fail(unavailable("the value at the function's entry"))
			break
		}
		x := e.x
		x.Code = code
		v, err := e.env.EntryValue(x)
		switch {
		case err != nil:
			e.what, e.err = "the value at the function's entry", err
		case v.Type.float() || v.Type.wide() || v.Type.opaque():
			e.pushOperand(operand{v.Bits, v.High, v.Type})
		default:
			e.push(v.Bits)
		}
	default:
		return false
	}
	return true
}

// lookUp pushes what a function of the context says of a number.
func (e *evaluation) lookUp(f func(uint64) (uint64, error), n uint64, what string) {
	switch {
	case e.err != nil || e.r.Bad:
	case f == nil:
		e.fail(unavailable(what))
	default:
		e.ask(func() (uint64, error) { return f(n) }, what)
	}
}

// refSize returns the size of a reference to another entry of .debug_info: in DWARF 2, the size of
// an address.
func (e *evaluation) refSize() int {
	if e.x.Version == 2 || e.x.OffsetSize == 0 {
		return e.x.AddrSize
	}
	return e.x.OffsetSize
}
