package value

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/symbol"
)

// Printer writes values as GDB's print does. The zero Printer has GDB's limits.
type Printer struct {
	Elements   int  // of an array, and characters of a string; 0 is 200, a negative number all
	Repeats    int  // more equal elements than this in a row are written once, with their number; 0 is 10
	Depth      int  // of structs within each other; 0 is 20, a negative number any
	Raw        bool // the containers and strings of libraries are written as structs
	UTF8       bool // characters beyond ASCII are written as they are
	NoSymbols  bool // names of what pointers point to are left out
	MaxText    int  // bytes of one value's text; 0 is 1 MiB
	ByteBudget int  // bytes of memory that one value may read; 0 is 16 MiB

	Budget *Budget // of all values together; nil for no bound
}

func (p *Printer) elements() int {
	switch {
	case p.Elements == 0:
		return 200
	case p.Elements < 0:
		return math.MaxInt
	}
	return p.Elements
}

func (p *Printer) repeats() int {
	if p.Repeats == 0 {
		return 10
	}
	return p.Repeats
}

func (p *Printer) depth() int {
	switch {
	case p.Depth == 0:
		return 20
	case p.Depth < 0:
		return 1 << 30
	}
	return p.Depth
}

// Text writes a value as GDB's info locals does: of a reference, also the object.
func (p *Printer) Text(v *Value) string {
	text, err := p.text(v, 0)
	if err != nil {
		text += unreadable(err)
	}
	return text
}

// text writes a value that is so deep within others. The error says what memory has ended the text.
func (p *Printer) text(v *Value, depth int) (string, error) {
	w := p.begin()
	defer w.free()
	w.depth = depth
	w.top(v)
	return w.String(), w.failure
}

// Argument writes the value of an argument as GDB's backtrace does: "..." if it is no scalar.
func (p *Printer) Argument(v *Value) string {
	w := p.begin()
	defer w.free()
	w.argument(v)
	return w.String()
}

// argument is Argument.
func (w *Writer) argument(v *Value) {
	scalar := v.Type.scalar()
	if !scalar || len(v.Type.Strip().showers()) > 0 {
		if text, ok := w.p.summary(v); ok {
			w.Put(text)
			return
		}
	}
	if !scalar {
		if t := v.Type.Strip(); (t.Kind == Reference || t.Kind == RvalueReference) && errors.Is(v.Err(), ErrSynthetic) {
			w.Put("<synthetic pointer>")
		}
		w.Put("...")
		return
	}
	if w.top(v); w.failure != nil {
		w.add(unreadable(w.failure))
	}
}

// Error writes why a variable cannot be read, as GDB does.
func Error(name string, err error) string {
	return fmt.Sprintf("<error reading variable %s (%s)>", name, err)
}

// Writer writes one value.
type Writer struct {
	p       *Printer
	buf     []byte
	start   int // of the value's text in buf
	depth   int // of structs
	full    bool
	named   []string // static members whose class is being written
	structs int      // that are not elements of containers
	summary bool     // as an argument: the elements of containers are left out
	nesting int      // of texts within each other
	inside  int      // of objects that contain one another and nothing else
	endless bool     // they were too many
	failure error    // memory that is not there has ended the text
	cost    *int     // of what was read, also by texts around this one

	chars []element // of the text that is being written
	held  []*Value  // room for the parts that are being written, from the outer to the inner
	holds int       // so many of these are in use

	base    *Value       // the object that is written is this base of one
	virtual []symbol.Ref // classes of virtual bases that were written of the same object

	contents *Contents // to be filled instead of a text; nil for a text
}

func (p *Printer) writer() *Writer { return &Writer{p: p, cost: new(int)} }

// writers have no text any more, for it was taken: their room is used again.
var writers = sync.Pool{New: func() any { return (*Printer)(nil).writer() }}

// begin returns a writer, to be freed.
func (p *Printer) begin() *Writer {
	w := writers.Get().(*Writer)
	w.p = p
	return w
}

// next begins the text of another value behind what is written.
func (w *Writer) next() {
	*w.cost = 0
	*w = Writer{p: w.p, buf: w.buf, start: len(w.buf), cost: w.cost, chars: w.chars, held: w.held}
}

// add writes something beside the value, which has no part of the bound of its text.
func (w *Writer) add(s string) {
	w.p.Budget.Spend(len(s))
	w.buf = append(w.buf, s...)
}

// free ends the use of a writer.
func (w *Writer) free() {
	const most = 64 << 10
	if cap(w.buf) > most {
		w.buf = nil
	}
	*w.cost = 0
	if cap(w.chars) > most/64 {
		w.chars = nil
	}
	if len(w.held) > 64 {
		w.held = nil
	}
	*w = Writer{buf: w.buf[:0], cost: w.cost, chars: w.chars[:0], held: w.held}
	writers.Put(w)
}

// hold returns room for a part of a value, until drop is called.
func (w *Writer) hold() *Value {
	if w.holds == len(w.held) {
		w.held = append(w.held, new(Value))
	}
	w.holds++
	return w.held[w.holds-1]
}

// drop ends the use of the room that hold has returned last.
func (w *Writer) drop() {
	w.holds--
	*w.held[w.holds] = Value{}
}

// String returns what was written so far.
func (w *Writer) String() string { return string(w.buf) }

func (w *Writer) maxText() int {
	if w.p.MaxText == 0 {
		return 1 << 20
	}
	return w.p.MaxText
}

// Put writes s. If the text would be longer than the Printer allows, "..." ends it, and
// [Writer.Full] reports true from then on.
func (w *Writer) Put(s string) {
	if w.full {
		return
	}
	if len(w.buf)-w.start+len(s) > w.maxText() || !w.p.Budget.Spend(len(s)) {
		w.full = true
		w.buf = append(w.buf, "..."...)
		return
	}
	w.buf = append(w.buf, s...)
}

// number writes a number in decimal.
func (w *Writer) number(n int64) {
	var b [20]byte
	w.Put(string(strconv.AppendInt(b[:0], n, 10)))
}

// unsigned writes a number in a base.
func (w *Writer) unsigned(n uint64, base int) {
	var b [64]byte
	w.Put(string(strconv.AppendUint(b[:0], n, base)))
}

func (w *Writer) hex(n uint64) {
	w.Put("0x")
	w.unsigned(n, 16)
}

// IsAbsent reports whether an error says that a value is nowhere, or where nothing is known of:
// that it was optimized out, is unavailable, not saved, or the object of a synthetic pointer.
func IsAbsent(err error) bool {
	return errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNotSaved) || errors.Is(err, ErrSynthetic)
}

// Absent writes why a value is not known.
func (w *Writer) Absent(err error) {
	switch {
	case errors.Is(err, ErrOptimizedOut):
		w.Put("<optimized out>")
	case errors.Is(err, ErrSynthetic):
		w.Put("<synthetic pointer>")
	case errors.Is(err, ErrNotSaved):
		w.Put("<not saved>")
	case errors.Is(err, ErrUnavailable):
		w.Put("<unavailable>")
	case errors.Is(err, errNotAllocated), errors.Is(err, errNotAssociated):
		w.Put("<" + err.Error() + ">")
	default:
		w.Put("<error: " + err.Error() + ">")
	}
}

// top writes a value that is no part of another one.
func (w *Writer) top(v *Value) {
	if t := v.Type.Strip(); t.Kind == Reference || t.Kind == RvalueReference {
		if !w.p.Raw && v.Err() == nil && w.library(v, t) {
			return
		}
		w.reference(v, true)
		return
	}
	w.value(v)
}

// value writes a value that is no part of another one.
func (w *Writer) value(v *Value) {
	if t := v.Type.Strip(); t.Declared && (t.Kind == Struct || t.Kind == Union || t.Kind == Enum) {
		w.Put("<incomplete type>")
		return
	}
	if err := v.Err(); err != nil && !w.full && !errors.Is(err, ErrSynthetic) {
		w.Absent(err)
		return
	}
	if t := v.Type.Strip(); t.Kind == Unknown && t.Name != "" {
		w.Put(t.Name) // as GDB does: strict DWARF 2 has no encoding for decimal numbers
		return
	}
	w.Part(v)
}

// Part writes a value that is a part of another one. Where nothing of a struct or array is known,
// it says so of each member, as GDB does.
func (w *Writer) Part(v *Value) {
	if w.full {
		return
	}
	v.describe()
	t := v.Type.Strip()
	if err := v.Err(); err != nil && (v.err != nil || t.Kind != Struct && t.Kind != Union && t.Kind != Array) {
		if errors.Is(err, ErrSynthetic) && (t.Kind == Pointer || t.Kind == Reference) {
			w.Put("<synthetic pointer>")
			return
		}
		w.Absent(err)
		return
	}
	if !w.p.Raw && w.library(v, t) || w.ofLanguage(v, t) {
		return
	}
	if t.Declared {
		w.Put("<incomplete type>")
		return
	}
	switch t.Kind {
	case Struct, Union:
		w.structure(v, t)
		return
	case Array:
		w.array(v, t)
		return
	case Function:
		if w.p.Raw {
			w.Put("{" + t.rawString() + "} ")
		} else {
			w.Put("{" + t.String() + "} ")
		}
		w.Address(v, v.Addr)
		return
	case Void:
		w.Put("void")
		return
	}
	if t.isMethodPointer() {
		w.methodPointer(v, t)
		return
	}
	if n, ok := t.SizeOf(); ok {
		if why, _ := v.missing(0, 8*n); why != nil {
			w.Absent(why)
			return
		}
	}
	w.Scalar(v)
}

// SymbolAt returns the name of the symbol at an address, and how many bytes behind the symbol's
// beginning the address is. ok is false if no symbol is there.
func (r *Reader) SymbolAt(addr uint64) (name string, off uint64, ok bool) {
	if addr == 0 {
		return "", 0, false
	}
	if n, ok := r.names[addr]; ok {
		return n.name, n.off, n.name != ""
	}
	key := addr
	if r.Modules.IsCode(addr) {
		addr = r.Arch.CodeAddress(addr) // a pointer to Thumb code is odd
	}
	name, off, ok = r.Symbols.Symbol(r.Modules, addr)
	if r.Modules.IsCode(addr) {
		if full, start := r.functionAt(addr); full != "" {
			name, off, ok = full, addr-start, true
		} else if n := resultLength(name); n > 0 {
			if scopes, _, err := r.Symbols.Scopes(r.Modules, addr); err == nil && len(scopes) > 0 { // else GDB has it from the symbol table
				name = name[n:]
			}
		}
	}
	name = strings.TrimSuffix(name, "@plt")
	if r.names == nil || len(r.names) > maxDataNames {
		r.names = make(dataNames)
	}
	r.names[key] = dataName{name, off}
	return name, off, ok
}

// dataNames are the names of what is at addresses; "" if nothing is.
type dataNames map[uint64]dataName

type dataName struct {
	name string
	off  uint64
}

const maxDataNames = 1 << 14
