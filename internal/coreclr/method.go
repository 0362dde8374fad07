package coreclr

import (
	"bytes"
	"math/bits"

	"github.com/sfwalk/sfwalk/target"
)

// A method's number among the methods of its assembly has this many of its bits in the method's
// record, and the others in the record of the chunk that the method is of.
const (
	remainderBits = 12
	numberBits    = 24
	descAlign     = 8 // bytes: the unit of a record's index in its chunk
)

// The lowest bits of a method's flags say what kind of method it is.
const (
	kindMask    = 7
	kindDynamic = 7
	mostName    = 256 // bytes
)

// Method is a method's record.
type Method struct {
	Row    uint32 // of the method in its assembly's metadata; 0 if it is in none
	Module uint64 // the address of its assembly's record
	Name   string // of a method that is in no assembly: a stub, or one that the program has made
}

// Method reads the record of a method (MethodDesc). It has neither Row nor Name if it cannot be
// read.
func (r *Runtime) Method(m target.Memory, at uint64) (x Method) {
	l := &r.desc
	var b [8]byte
	if !read(m, at, b[:]) {
		return x
	}
	index, flags := b[l.index%8], order.Uint16(b[l.flags%8:][:2])
	remainder := order.Uint16(b[l.remainder%8:][:2])
	if flags&kindMask == kindDynamic {
		x.Name = text(m, word(m, at+l.name))
		return x
	}
	chunk := at - uint64(index)*descAlign - l.chunk
	tokens, ok := half(m, chunk+l.tokens)
	table := word(m, chunk+l.table)
	x.Module = r.moduleOf(m, table)
	if ok && x.Module != 0 {
		const high = numberBits - remainderBits
		x.Row = tokens&(1<<high-1)<<remainderBits | uint32(remainder)&(1<<remainderBits-1)
	}
	return x
}

// Optional fields of a type. Those before the module's say where that is.
const (
	overridden    = 0x10
	optionsBefore = 0x0f
	perVirtual    = 8 // virtual methods that share a pointer behind the type's record
)

// moduleOf returns the module of a type (MethodTable).
func (r *Runtime) moduleOf(m target.Memory, table uint64) uint64 {
	l := &r.desc
	flags, ok := half(m, table+l.flags2)
	if !ok {
		return 0
	}
	if !l.overrides || flags&overridden == 0 {
		return word(m, table+l.module)
	}
	at := l.size - 16 // the last two fields serve for the first two options
	if n := uint64(bits.OnesCount32(flags & optionsBefore)); n < 2 {
		at += 8 * n
	} else {
		virtuals, _ := half(m, table+l.virtuals)
		at = l.size + 8*(n-2) + 8*((uint64(virtuals&0xffff)+perVirtual-1)/perVirtual)
	}
	return word(m, table+at)
}

// text reads a text that ends with a zero.
func text(m target.Memory, at uint64) string {
	var p [mostName]byte
	if at == 0 {
		return ""
	}
	n, _ := m.ReadMemory(at, p[:])
	if end := bytes.IndexByte(p[:n], 0); end >= 0 {
		return string(p[:end])
	}
	return ""
}
