package gopclntab

import "errors"

// ErrNotTable says that bytes are not a table of Go functions. Errors of [Open] wrap it.
var ErrNotTable = errors.New("not a Go function table")

// Table is one binary's table. It is safe for concurrent use.
type Table struct{}

// Open looks at the header of a table. The byte order and the size of a pointer are
// the table's own. text is the address that functions are relative to (the symbol
// runtime.text); tables before Go 1.18 have addresses of their own and do not need it.
func Open(data []byte, text uint64) (*Table, error) { return nil, ErrNotTable }

// Len returns how many functions the table has.
func (t *Table) Len() int { return 0 }

// Find returns the function that pc is in; ok is false where there is none.
func (t *Table) Find(pc uint64) (f Func, ok bool) { return Func{}, false }

// Func returns the function at an index, 0 to Len()-1, in the order of addresses.
func (t *Table) Func(i int) (f Func, ok bool) { return Func{}, false }

// Func is one function of a table.
type Func struct {
	Lo, Hi uint64 // its code: [Lo, Hi)
}

// Name returns the function's name with its package: "main.(*T).f".
func (f Func) Name() string { return "" }

// SPDelta returns how many bytes the stack pointer is below the frame's end when pc is
// about to run: on amd64 and 386 the place of the return address, elsewhere the CFA.
// It holds for [lo, hi).
func (f Func) SPDelta(pc uint64) (delta int32, lo, hi uint64, ok bool) { return 0, 0, 0, false }

// Line returns the file and the line, from 1, of the code at pc.
func (f Func) Line(pc uint64) (file string, line int, ok bool) { return "", 0, false }

// Call is an inlined call.
type Call struct {
	Function string // that was inlined
	File     string // where the code at pc, or the next inner call, is in it
	Line     int
}

// Inlined returns the calls that are inlined at pc, the innermost first, and last the
// function itself; one element where nothing is inlined.
func (f Func) Inlined(pc uint64) []Call { return nil }
