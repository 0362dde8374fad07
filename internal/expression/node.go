package expression

import "fmt"

// Kind says what a Node is.
type Kind uint8

const (
	Integer    Kind = iota // Int, with Suffix
	Float                  // Float, with Suffix
	Char                   // Int
	String                 // Text, without the zero at its end
	Name                   // Text: a variable, or a function's address; qualified by :: perhaps
	Call                   // Args[0] is called with the others
	Cast                   // Args[0] as Type
	Address                // &Args[0]
	Negative               // -Args[0]
	Not                    // !Args[0]
	Complement             // ~Args[0]
	Array                  // {Args…}
)

// Node is an expression.
type Node struct {
	Kind   Kind
	At     int // the column of its first character, from 1
	Int    uint64
	Float  float64
	Suffix string // of a number, in lower case: "u", "ul", "f"
	Text   string
	Type   *Type
	Args   []*Node
}

// Type is a type as it is written.
type Type struct {
	At int
	// Name is the type's name without qualifiers: "unsigned long", "struct stat", "size_t".
	Name     string
	Pointers int // how many * follow
}

// String writes the type as C has it.
func (t *Type) String() string {
	text := t.Name
	for i := range t.Pointers {
		if i == 0 {
			text += " "
		}
		text += "*"
	}
	return text
}

// Error says what is wrong with a text, and where.
type Error struct {
	Text   string
	Column int // of the character, from 1
	What   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%q: %s at column %d", e.Text, e.What, e.Column)
}
