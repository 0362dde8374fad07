package value

import gocontext "context"

// Caller is what a target that is held adds to expressions: its functions run. Give one to a
// [Session].
type Caller interface {
	// Symbol returns the symbol of a name, which may be qualified, as the dynamic linker looks it
	// up. It returns nil if there is none.
	Symbol(name string) *Symbol
	// Call has the target call a function, and returns the bytes of the result; none if the
	// function has none. The error is a [*NotCallable] if the function cannot be called with these
	// arguments.
	Call(ctx gocontext.Context, c *Call) (result []byte, err error)
	// Place puts bytes into the target's memory, for as long as expressions are evaluated, and
	// returns their address.
	Place(b []byte) (addr uint64, err error)
}

// Symbol is what a symbol table tells of a name.
type Symbol struct {
	Addr     uint64
	Function bool
	// Indirect says that the function at Addr returns the address of the one that is meant
	// (STT_GNU_IFUNC).
	Indirect bool
	// Several says that several functions have the name: the arguments tell which is meant. Addr is
	// the address of C's function, 0 if all are C++'s.
	Several bool
}

// Call is a call of an expression.
type Call struct {
	Symbol
	// Type is the function's; nil if nothing is known of its parameters.
	Type *Type
	// Arguments have the types of the parameters. Those that follow these are as they are written.
	// Of a method, the object's address is the first.
	Arguments []Value
	// Result is the type of the result, of kind [Void] if there is none.
	Result *Type
}

// NotCallable says why a function cannot be called.
type NotCallable struct{ Why string }

func (e *NotCallable) Error() string { return e.Why }
