package value

import (
	"debug/dwarf"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// throughMember evaluates C++'s object.*pointer and pointer->*pointer.
func (e *evaluation) throughMember(n *syntax.Node) (Value, error) {
	o, err := e.value(n.Args[0])
	if err != nil {
		return o, err
	}
	p, err := e.coerced(n.Args[1])
	if err != nil {
		return p, err
	}
	if o = referred(o); n.Text == "->*" {
		if o.Type.Strip().Kind != Pointer {
			return o, e.fail(n.Args[0].At, "Attempt to take contents of a non-pointer value.")
		}
		to := o.Deref()
		if to.err != nil && len(o.gaps) == 0 {
			return o, e.because(n.Args[0].At, to.err)
		}
		o = to
	}
	t := p.Type.Strip()
	if t.Kind != MemberPointer {
		return p, e.fail(n.Args[1].At, "non-pointer-to-member value used in pointer-to-member construct")
	}
	if o.Type.Strip().Kind != Struct && o.Type.Strip().Kind != Union || o.Place != InMemory {
		return o, e.fail(n.Args[0].At, "Attempt to take address of value not located in memory.")
	}
	if t.Class != nil {
		if base, ok := e.related(&o, t.Class); ok {
			o = base
		}
	}
	if t.Elem().Strip().Kind != Function {
		offset, err := p.Int()
		if err != nil {
			return p, e.because(n.Args[1].At, err)
		}
		return e.at(t.Elem(), o.Addr+uint64(offset)), nil
	}
	b, err := p.Bytes()
	if err != nil {
		return p, e.because(n.Args[1].At, err)
	}
	half := len(b) / 2
	order := p.Type.ByteOrder() == bigEndian
	ptr, adjust := number(b[:half], order), number(b[half:], order)
	virtual := ptr&1 != 0
	if e.r.Arch.VirtualInAdjustment {
		virtual = adjust&1 != 0
		adjust = uint64(int64(adjust) >> 1)
	} else if virtual {
		ptr--
	}
	if virtual { // the function is in the object's table
		pointer := e.r.pointerTo(e.r.void())
		table := e.at(pointer, o.Addr+adjust)
		at, err := table.Uint()
		if err != nil {
			return o, e.because(n.Args[0].At, err)
		}
		entry := e.at(pointer, at+ptr)
		if ptr, err = entry.Uint(); err != nil {
			return o, e.because(n.Args[0].At, err)
		}
	}
	return e.at(t.Elem(), ptr), nil
}

// addressOfMember evaluates &Class::member: a pointer to a member, if the member is not static.
func (e *evaluation) addressOfMember(n *syntax.Node) (v Value, ok bool, err error) {
	name := n.Args[0]
	if name.Kind != syntax.Name || !strings.Contains(name.Text, "::") || name.File != "" {
		return v, false, nil
	}
	scope, last := splitName(name.Text)
	class := e.typeCalled(strings.TrimSuffix(scope, "::"), nil)
	if class == nil || class.Strip().Kind != Struct && class.Strip().Kind != Union {
		return v, false, nil
	}
	t := class.Strip()
	paths := memberPaths(t, last, 0)
	if len(paths) > 1 {
		return v, false, e.fail(name.At, "%s", ambiguous(t, last, paths))
	}
	if len(paths) == 1 {
		offset := int64(0)
		owner := t
		for _, f := range paths[0] {
			if f.Virtual || f.Bits > 0 {
				return v, false, nil
			}
			if f.Static {
				return v, false, nil
			}
			if f.Base {
				owner = f.Type.Strip()
				continue
			}
			offset += f.Offset
		}
		to := paths[0][len(paths[0])-1].Type
		pt := &Type{Kind: MemberPointer, Size: uint64(e.r.Arch.PtrSize), Order: e.r.order(), r: e.r, elem: to, elemRead: true, Class: owner}
		return pt.constant(offset), true, nil
	}
	m, found := e.method(t, last)
	if !found || m.Type.entry == nil || !m.Type.entry.Has(dwarf.AttrObjectPointer) {
		return v, false, nil
	}
	pt := &Type{Kind: MemberPointer, Size: 2 * uint64(e.r.Arch.PtrSize), Order: e.r.order(), r: e.r, elem: m.Type, elemRead: true, Class: t}
	b := make([]byte, pt.Size)
	address := e.pointer(e.r.pointerTo(e.r.void()), m.Addr)
	if raw, err := address.Bytes(); err == nil {
		copy(b, raw)
	}
	return Value{Type: pt, bytes: b, read: true, mem: e.c.mem, frame: e.c}, true, nil
}
