package java

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// content is what a variable has.
type content struct {
	bits uint64 // a number's, or the address of an object
	// reference says that bits are an address, number that they are none; neither is known of the
	// interpreter's slots.
	reference, number bool
	why               string      // why it is not known: "optimized out"
	apart             *takenApart // an object that the compiler has taken apart; nil if it is none
}

// takenApart is an object that is not on the heap: the compiler has its fields.
type takenApart struct {
	class  uint64 // its java.lang.Class
	fields []content
}

// Why a value is not known.
const (
	optimizedOut = "<optimized out>"
	notSaved     = "<not saved>"
	unreadable   = "<unreadable>"
)

// slots are the variables of a frame, by the numbers that bytecodes have for them.
type slots interface {
	// at returns what a slot has. A value of two slots is asked for by its first one.
	at(slot int, wide bool) content
}

// interpretedSlots are words on the stack, the first one at the highest address.
type interpretedSlots struct {
	r     *vmstructs.Reader
	first uint64
}

// mostDistance bounds the distance of an interpreted frame's variables from it, in words.
const mostDistance = 1 << 20

// interpretedAt returns the variables of the interpreted frame with this frame pointer, which says
// in its slot where they are.
func interpretedAt(r *vmstructs.Reader, fp uint64, slot int) (s *interpretedSlots, ok bool) {
	first, ok := r.Word(fp - 8*uint64(-slot))
	if first < mostDistance {
		first = fp + 8*first
	}
	return &interpretedSlots{r, first}, ok && first%8 == 0 && first > fp && first-fp < 8*mostDistance
}

func (s *interpretedSlots) at(slot int, wide bool) (c content) {
	if wide {
		slot++
	}
	var ok bool
	if c.bits, ok = s.r.Word(s.first - 8*uint64(slot)); !ok {
		c.why = unreadable
	}
	return c
}

// compiledSlots are where the compiler has the variables of a scope.
type compiledSlots struct {
	*compiledPlace
	values []int
}

// compiledPlace is a place in a compiled method, where a frame is.
type compiledPlace struct {
	vm    *machine
	r     *reading
	arch  *arch.Arch
	frame *frame.Frame
	blob  *vmstructs.Blob
	sp    uint64 // from which offsets of slots count

	scopeValues
	objects map[uint64]int // the objects that were taken apart, by their numbers
}

func (s *compiledSlots) at(slot int, wide bool) content {
	if wide {
		slot++
	}
	if slot >= len(s.values) {
		return content{why: optimizedOut}
	}
	return s.content(s.values[slot], 0)
}

// mostApart bounds objects in objects that were taken apart.
const mostApart = 4

// content returns what a value of the scope is.
func (p *compiledPlace) content(i, depth int) content {
	v := &p.all[i]
	switch v.kind {
	case valueLocation:
		return p.located(v.bits)
	case valueInt, valueLong, valueDouble:
		return content{bits: v.bits, number: true}
	case valueReference:
		object, ok := p.constant(v.bits)
		if !ok {
			return content{why: unreadable}
		}
		return content{bits: object, reference: true}
	case valueObjectID:
		if of, ok := p.objects[v.bits]; ok && depth < mostApart {
			return p.content(of, depth+1)
		}
	case valueObject, valueBox:
		class, ok := p.constant(v.class)
		if !ok || depth >= mostApart {
			break
		}
		object := &takenApart{class: class}
		for _, f := range v.fields[:min(len(v.fields), mostItems+1)] {
			object.fields = append(object.fields, p.content(f, depth+1))
		}
		return content{reference: true, apart: object}
	case valueMerge:
		if depth >= mostApart {
			break
		}
		which := p.content(v.selector, depth+1)
		if which.why != "" || !which.number {
			break
		}
		n := int(int32(which.bits))
		if n == -1 {
			return p.content(v.merged, depth+1)
		}
		if n >= 0 && n < len(v.fields) {
			return p.content(v.fields[n], depth+1)
		}
	}
	return content{why: optimizedOut}
}

// locations say what the virtual machine calls the parts and the types of locations.
type locations struct {
	known                             bool
	typeMask, whereMask, offsetShift  uint64
	normal, oop, narrow, long, double uint64
	intInLong, floatInDouble, invalid uint64
	slotBytes                         uint64
}

func layOutLocations(t *vmstructs.Tables) (l locations) {
	n := vmstructs.Needed{Tables: t}
	of := func(name string) uint64 {
		v, ok := t.Constants[name]
		if !ok || v < 0 || v > 1<<16 {
			n.Lacks(name)
		}
		return uint64(v)
	}
	l.typeMask, l.whereMask, l.offsetShift = of("Location::TYPE_MASK"), of("Location::WHERE_MASK"), of("Location::OFFSET_SHIFT")
	l.normal, l.oop, l.narrow = of("Location::normal"), of("Location::oop"), of("Location::narrowoop")
	l.long, l.double, l.invalid = of("Location::lng"), of("Location::dbl"), of("Location::invalid")
	l.intInLong, l.floatInDouble = of("Location::int_in_long"), of("Location::float_in_dbl")
	l.slotBytes = 4 // JDK 8 does not tell it
	if _, ok := t.Constants["VMRegImpl::stack_slot_size"]; ok {
		l.slotBytes = of("VMRegImpl::stack_slot_size")
	}
	l.known = n.Err() == nil && l.offsetShift < 32
	return l
}

// located returns what is at a location.
func (p *compiledPlace) located(location uint64) content {
	l := &p.vm.locations
	kind, offset := location&l.typeMask, location>>l.offsetShift
	if kind == l.invalid {
		return content{why: optimizedOut}
	}
	var v uint64
	if location&l.whereMask != 0 {
		register, ok := p.register(offset)
		if !ok || kind == l.floatInDouble {
			return content{why: notSaved}
		}
		v = register
	} else {
		size := 8
		if kind == l.normal || kind == l.narrow {
			size = 4
		}
		b := p.r.Read(p.sp+offset*l.slotBytes, size)
		if len(b) < size {
			return content{why: unreadable}
		}
		if v = uint64(p.r.Order.Uint32(b)); size == 8 {
			v = p.r.Order.Uint64(b)
		}
	}
	switch kind {
	case l.oop:
		if v == p.r.oopBase && p.r.narrowOops {
			v = 0 // what null is when it was made wide for a check
		}
		return content{bits: v, reference: true}
	case l.narrow:
		return content{bits: p.r.widened(v & (1<<32 - 1)), reference: true}
	case l.normal, l.intInLong:
		return content{bits: uint64(uint32(v)), number: true}
	case l.long, l.double:
		return content{bits: v, number: true}
	}
	return content{why: optimizedOut} // a vector
}

// register returns the value of a register by the virtual machine's number of it.
func (p *compiledPlace) register(number uint64) (v uint64, ok bool) {
	names, has := p.vm.tables.Fields["VMRegImpl::regName[0]"]
	if !has || number > 1<<10 {
		return 0, false
	}
	at, ok := p.r.Word(names.Offset + 8*number)
	if !ok {
		return 0, false
	}
	name := p.r.Name(at)
	for i := range p.arch.Regs {
		if p.arch.Regs[i].Name == name {
			x := p.frame.Register(p.arch.Regs[i].Num)
			return x.Bits, x.Known()
		}
	}
	return 0, false
}
