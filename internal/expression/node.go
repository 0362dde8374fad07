package expression

import "fmt"

// Kind says what a Node is.
type Kind uint8

const (
	Integer     Kind = iota // Int, with Suffix
	Float                   // Float, with Suffix
	Char                    // Int
	String                  // Text, without the zero at its end
	Name                    // Text: a variable, or a function's address; qualified by :: perhaps
	Call                    // Args[0] is called with the others
	Cast                    // Args[0] as Type
	Address                 // &Args[0]
	Negative                // -Args[0]
	Not                     // !Args[0]
	Complement              // ~Args[0]
	Array                   // {Args…}
	Deref                   // *Args[0]
	Member                  // Args[0].Text, or Args[0]->Text
	Index                   // Args[0][Args[1]]
	Binary                  // Args[0] and Args[1] with the operator Text, such as "+"; "@" is GDB's for arrays
	Conditional             // Args[0] ? Args[1] : Args[2]
	SizeOf                  // sizeof Args[0], or sizeof (Type)
	At                      // {Type} Args[0]: what is at that address, as GDB has it
	Positive                // +Args[0]
	AlignOf                 // alignof (Type)
	TypeName                // Type, where an expression should be
	Slice                   // Args[0][Args[1]:Args[2]] of Go, [..] of Rust; a bound that is left out is nil
	Assert                  // Args[0].(Type), or Args[0].(data), of Go
	Range                   // Args[0]..Args[1] of Rust; a bound that is left out is nil
)

// Node is an expression.
type Node struct {
	Kind   Kind
	At     int // the column of its first character, from 1; of a Member, the name's column; of an operator between operands, the operator's
	Int    uint64
	Float  float64
	Suffix string // of a number, in lower case: "u", "ul", "f", Rust's "u8"; of a Char or String its prefix: "L", "u8"
	Base   int    // of an Integer: 10, 16, 8 or 2
	Text   string // of a Cast of C++ "static_cast" and such; of a Slice or Range ".." or "..=" for Rust's
	Arrow  bool   // of a Member: it was written with ->
	File   string // of a Name: of which source file, as GDB's 'file.c'::name has it; "" for any
	Type   *Type
	// Overload says that Parameters tell which of the functions with a Name it is: "f(int)".
	Overload   bool
	Parameters []*Type
	Args       []*Node
}

// Error says what is wrong with a text, and where.
type Error struct {
	Text   string
	Column int // of the character, from 1
	What   string
	Cause  error // what Unwrap returns; may be nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("%q: %s at column %d", e.Text, e.What, e.Column)
}

func (e *Error) Unwrap() error { return e.Cause }
