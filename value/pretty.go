package value

import "iter"

// PrettyPrinter knows objects that their users do not know as the structs that they are: the
// containers and strings of a library, or a type of your own. It is what a pretty printer is to
// GDB. A Reader has an ordered list of them ([Printers]).
type PrettyPrinter interface {
	// Name is what the printer is called: mostly the name of its library.
	Name() string
	// For returns what shows the objects of a type, nil if the printer does not know the type. t
	// has no typedefs and qualifiers. The Reader asks once for each type.
	For(t *Type) Show
}

// Show returns how an object is written. It returns nil for one that does not have the members that
// it must have: then the next printer of the list is asked, and if there is none, the object is
// written as the struct that it is.
type Show func(w *Writer, v *Value) *Shown

// Shown is how an object is written: a text, and children in braces behind it. The Writer asks for
// the children one after the other, and no longer than the limits of its [Printer] allow: a list
// may go on without an end.
type Shown struct {
	Text string // stands before the children, if there are any
	Bare bool   // there is no text, and no " = " before the children
	Err  error  // memory that the text needs is not there: this is written in its place, and no children
	Hint Hint
	// Children are what the object contains; nil if it is no container. An empty container has no
	// braces. A child's Relation is not asked for. An error says why no further child can be read.
	Children iter.Seq2[Child, error]
	// Write writes the object instead of all this, for a printer whose texts have another form.
	Write func(w *Writer)
}

// Hint says how children are written, as GDB's display hints do.
type Hint uint8

const (
	ByName  Hint = iota // {name = child, …}
	AsArray             // {child, …}
	AsMap               // {[child] = child, …}: keys and values alternate
)

// Printers are what a [Reader] knows of libraries and languages. Package value/printers has
// printers for the usual ones. Without any, all is written as C's structs and numbers are.
type Printers struct {
	// Pretty are asked in order: the first that shows an object has it.
	Pretty []PrettyPrinter
	// Languages write the values of frames of a language, by GDB's name of it, also Raw ones. They
	// report false for values that are written as in C.
	Languages map[string]func(w *Writer, v *Value) bool
}

// Operators is a [PrettyPrinter] that also knows what expressions mean for its objects where no
// code can be called, as GDB's xmethods do. ok is false for objects that it does not know.
type Operators interface {
	// Deref returns what * of an object is: of a smart pointer, an iterator, an optional.
	Deref(v *Value) (to Value, ok bool, err error)
	// Index returns what object[i] is. checked says that an index behind the end is an error, as of
	// at(). Of a container that Index does not know, the Children of its Shown are counted.
	Index(v *Value, i int64, checked bool) (x Value, ok bool, err error)
	// Run returns the elements of an object that lie one behind the other.
	Run(v *Value) (run Run, ok bool, err error)
	// Method returns what a method without arguments returns.
	Method(v *Value, name string) (x Value, ok bool, err error)
}

// Run are elements that lie one behind the other: the characters of a string, the elements of a
// vector.
type Run struct {
	Elem *Type
	Addr uint64 // of the first one
	Len  int64  // how many elements there are
	Cap  int64  // how many elements there is room for
	Text bool   // they are the characters of a text
}

// shower is what one printer shows the objects of a type with.
type shower struct {
	by   PrettyPrinter
	show Show
}

// showers returns what shows the objects of a type, in the order of the printers.
func (t *Type) showers() []shower {
	if !t.showersRead {
		t.showersRead = true
		for _, p := range t.r.Printers.Pretty {
			if show := p.For(t); show != nil {
				t.shown = append(t.shown, shower{p, show})
			}
		}
	}
	return t.shown
}
