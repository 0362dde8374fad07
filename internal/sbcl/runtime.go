package sbcl

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// The errors of [Of].
var (
	ErrNone      = errors.New("no run time of SBCL is mapped")
	ErrProcessor = errors.New("SBCL's code is not known on this processor")
	errVariables = errors.New("the run time of SBCL lacks variables that all known releases have")
)

// Runtime is the run time of a process.
type Runtime struct {
	Module *target.Module
	// Packages is the address of the variable that leads to the packages of symbols, by number.
	Packages uint64

	// Gates are the run time's functions by which C calls Lisp.
	Gates []Gate

	order                       orderer
	textLo, textHi              uint64 // code that does not move
	dynamicLo, dynamicHi        uint64
	fixedLo                     uint64 // from here up to textLo are objects that have code of a few instructions
	linkage                     uint64 // a table of jumps to functions of C
	routinesStart, routinesEnds uint64 // variables: the bounds of the assembly routines
}

// Gate is the code [Lo, Hi) of a function of C that calls Lisp. Its frame has a frame record; below
// that it has saved the registers that a function of C must preserve.
type Gate struct{ Lo, Hi uint64 }

// orderer is what [Runtime] needs of a byte order.
type orderer interface {
	Uint32([]byte) uint32
	Uint64([]byte) uint64
}

// marker is exported by all run times of SBCL, and called by no other file's name.
var marker = elf.Seldom("call_into_lisp")

// In reports whether a module is SBCL's run time. A module that is none costs next to nothing.
func In(m *target.Module) bool {
	im, _, err := m.PeekImage()
	return err == nil && im.MayHaveSymbol(marker) && len(im.LookupExported(marker, 1)) > 0
}

type key struct{}

type found struct {
	runtime *Runtime
	err     error
}

// Of returns the run time of a process, which is looked for once for all who ask. walked is the
// memory in which a stack is walked, for modules without a memory of their own.
func Of(modules *target.Modules, walked target.Memory, a *arch.Arch) (*Runtime, error) {
	x := modules.Memo(key{}, func() any {
		for _, m := range modules.All() {
			if In(m) {
				r, err := open(modules.MemoryOr(walked), m, a)
				return found{r, err}
			}
		}
		return found{nil, ErrNone}
	}).(found)
	return x.runtime, x.err
}

// mostAlike bounds the symbols that begin with the same name.
const mostAlike = 16

// linkageSize is the size of the table of jumps to C at most, bytes.
const linkageSize = 1 << 20

func open(mem target.Memory, m *target.Module, a *arch.Arch) (*Runtime, error) {
	if a.SBCL == nil {
		return nil, ErrProcessor
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, err
	}
	r := &Runtime{Module: m, order: a.Order}
	symbol := func(names ...string) uint64 {
		for _, name := range names {
			if s, ok := im.LookupExported(name, mostAlike)[name]; ok {
				return bias + s.Addr
			}
		}
		return 0
	}
	number := func(addr uint64, size int) uint64 {
		var b [8]byte
		if n, _ := mem.ReadMemory(addr, b[:size]); addr == 0 || n < size {
			return 0
		}
		return a.Order.Uint64(b[:]) // numbers of 4 bytes have zeros behind them
	}
	r.textLo = number(symbol("TEXT_SPACE_START"), 8)
	r.textHi = r.textLo + number(symbol("text_space_size"), 4)
	r.dynamicLo = number(symbol("DYNAMIC_SPACE_START"), 8)
	r.dynamicHi = r.dynamicLo + number(symbol("dynamic_space_size"), 8)
	r.fixedLo = number(symbol("FIXEDOBJ_SPACE_START"), 8)
	r.linkage = number(symbol("ALIEN_LINKAGE_SPACE_START", "ALIEN_LINKAGE_TABLE_SPACE_START"), 8)
	r.Packages = symbol("lisp_package_vector")
	r.routinesStart, r.routinesEnds = symbol("asm_routines_start"), symbol("asm_routines_end")
	for _, name := range []string{"call_into_lisp_", "funcall_alien_callback"} {
		if s, ok := im.LookupExported(name, mostAlike)[name]; ok {
			r.Gates = append(r.Gates, Gate{bias + s.Addr, bias + s.Addr + s.Size})
		}
	}
	if r.textLo == 0 || r.dynamicLo == 0 || r.textHi < r.textLo || r.dynamicHi < r.dynamicLo || r.Packages == 0 || r.routinesStart == 0 {
		return nil, errVariables
	}
	return r, nil
}

// A Kind says what is at an address.
type Kind uint8

const (
	Nothing Kind = iota
	Lisp         // the text space or the heap, where compiled code is
	Object       // objects that have code of a few instructions, which jumps to a function
	Linkage      // jumps to functions of C
)

// At returns what is at an address.
func (r *Runtime) At(addr uint64) Kind {
	switch {
	case addr >= r.linkage && addr < r.linkage+linkageSize && (addr < r.textLo || addr >= r.textHi):
		return Linkage
	case addr >= r.textLo && addr < r.textHi, addr >= r.dynamicLo && addr < r.dynamicHi:
		return Lisp
	case r.fixedLo < r.textLo && addr >= r.fixedLo && addr < r.textLo:
		return Object
	}
	return Nothing
}
