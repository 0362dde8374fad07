package amd64

import "github.com/sfwalk/sfwalk/arch/abi"

// class is the class of an eightbyte (System V ABI, AMD64 supplement, 3.2.3).
type class uint8

const (
	noClass class = iota
	integer
	sse
	sseUp
	x87
	x87Up
	complexX87
	memory
)

// classes has the class of each of a type's eightbytes. A type in memory has class memory first.
type classes struct {
	eightbytes int
	class      [8]class
}

func (c classes) inMemory() bool { return c.class[0] == memory }

// none reports whether there is nothing to pass.
func (c classes) none() bool { return c.class == [8]class{} }

func (c classes) count(of class) (n int) {
	for _, class := range c.class[:c.eightbytes] {
		if class == of {
			n++
		}
	}
	return n
}

// part is what goes into one register.
type part struct {
	class      class
	eightbytes int
}

// registers yields the parts that a register has, by their first eightbyte.
func (c classes) registers(yield func(int, part) bool) {
	for i := 0; i < c.eightbytes; {
		p := part{c.class[i], 1}
		for p.class == sse && i+p.eightbytes < c.eightbytes && c.class[i+p.eightbytes] == sseUp {
			p.eightbytes++
		}
		if p.class != noClass && !yield(i, p) {
			return
		}
		i += p.eightbytes
	}
}

var inMemory = classes{class: [8]class{memory}}

// classify returns the classes of a type. vectorBytes is the widest vector that is passed in a
// register; 0 stands for SSE's.
func classify(t *abi.Type, vectorBytes uint64) classes {
	switch {
	case t.ByReference || t.Size > 64:
		return inMemory
	case t.Kind == abi.Complex && t.Elem.Kind == abi.X87:
		return classes{eightbytes: 4, class: [8]class{complexX87}}
	}
	for i := range t.Members { // a union of a long double and an integer is in memory, and what it is a member of
		m := &t.Members[i]
		if m.BitSize == 0 && m.Type.Composite() && hasX87(m.Type) && classify(m.Type, vectorBytes).inMemory() {
			return inMemory
		}
	}
	c := classes{eightbytes: int((t.Size + 7) / 8)}
	for s := range t.Scalars {
		// What is not aligned is in memory. Compilers ask so of each scalar, not of each struct.
		if s.BitSize == 0 && s.BitOffset%(8*s.Type.Size) != 0 || s.Type.Kind == abi.Vector && s.Type.Size > max(16, vectorBytes) {
			return inMemory
		}
		first, bits := s.BitOffset/64, 8*s.Type.Size
		if s.BitSize != 0 {
			bits = s.BitSize
		}
		for i := first; i <= (s.BitOffset+bits-1)/64; i++ {
			c.class[i] = merge(c.class[i], scalarClass(s.Type, i == first))
		}
	}
	c.clean()
	return c
}

func hasX87(t *abi.Type) bool {
	for s := range t.Scalars {
		if s.Type.Kind == abi.X87 {
			return true
		}
	}
	return false
}

// scalarClass returns the class of a scalar's first eightbyte, or of one that follows.
func scalarClass(t *abi.Type, first bool) class {
	switch {
	case t.Kind == abi.X87 && first:
		return x87
	case t.Kind == abi.X87:
		return x87Up
	case t.Kind == abi.Float, t.Kind == abi.Vector && t.Size > 4:
		if first {
			return sse
		}
		return sseUp
	}
	return integer // narrow vectors, too: compilers agree on it where the ABI is silent
}

func merge(a, b class) class {
	is := func(of ...class) bool {
		for _, c := range of {
			if a == c || b == c {
				return true
			}
		}
		return false
	}
	switch {
	case a == b || b == noClass:
		return a
	case a == noClass:
		return b
	case is(memory):
		return memory
	case is(integer):
		return integer
	case is(x87, x87Up, complexX87):
		return memory
	}
	return sse
}

// clean is the clean-up after all parts are merged.
func (c *classes) clean() {
	for i := range c.eightbytes {
		switch {
		case c.class[i] == memory,
			c.class[i] == x87Up && (i == 0 || c.class[i-1] != x87),
			c.eightbytes > 2 && (i == 0 && c.class[i] != sse || i > 0 && c.class[i] != sseUp):
			*c = inMemory
			return
		case c.class[i] == sseUp && (i == 0 || c.class[i-1] != sse && c.class[i-1] != sseUp):
			c.class[i] = sse
		}
	}
}
