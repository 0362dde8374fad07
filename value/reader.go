package value

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Reader reads the variables of frames of one process. It keeps the types and the scopes that it
// has read. One goroutine at a time may use it.
type Reader struct {
	Symbols *symbol.Symbolizer
	Modules *target.Modules
	Arch    *arch.Arch
	// Memory is the process's. Values of a frame are read by the memory of its stack instead.
	Memory target.Memory
	// Budget bounds the work for expressions, and for what is read; nil for no bound. A Printer has
	// it, too.
	Budget *Budget
	// Printers are asked how values are written. They must not change any more when the first is.
	Printers Printers

	types     map[symbol.Ref]*Type
	partial   map[symbol.Ref]string // languages of units that do not tell it, by their first entries
	scopes    map[uint64]*scopes
	entries   int // of all scopes
	tails     map[tailKey]*symbol.TailCalls
	loops     map[uint64]bool // by entry: whether the function may call itself by tail calls
	names     dataNames
	golang    goKept                               // types and constants of Go
	unitTypes map[symbol.Ref]map[string]symbol.Ref // by unit, and name
	basics    map[string]*Type                     // C's own, by GDB's names
	finder    finder
	env       environment
	room      room
	imports   map[symbol.Ref]*imports // by the first entry of a unit
	storage   *threadlocal.Finder     // nil if nobody has asked for any yet
}

// NewReader returns a Reader of a target's process. Package value/printers has the usual printers.
func NewReader(t target.Target, symbols *symbol.Symbolizer, printers Printers) *Reader {
	r := NewTypes(t.Arch(), t.Modules(), t.Memory(), symbols)
	r.Printers = printers
	return r
}

// NewTypes returns a Reader that is asked for types, and knows no target.
func NewTypes(a *arch.Arch, modules *target.Modules, memory target.Memory, symbols *symbol.Symbolizer) *Reader {
	return &Reader{
		Symbols: symbols, Modules: modules, Arch: a, Memory: memory,
		types: make(map[symbol.Ref]*Type), partial: make(map[symbol.Ref]string), scopes: make(map[uint64]*scopes),
	}
}

// maxTypes bounds the types that are kept. When there are more, all are dropped, and are read anew.
const maxTypes = 1 << 18

func (r *Reader) order() binary.ByteOrder { return r.Arch.Order }

func (r *Reader) void() *Type    { return &Type{Kind: Void, Name: "void", r: r, elemRead: true} }
func (r *Reader) unknown() *Type { return &Type{Kind: Unknown, r: r, elemRead: true} }
