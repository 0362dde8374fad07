package exidx

import (
	"errors"
	"fmt"
)

// Errors of this package; test with errors.Is.
var (
	// ErrNotFound means that no entry covers the address.
	ErrNotFound = errors.New("exidx: no entry covers the address")
	// ErrCantUnwind means that the entry says that the function cannot be unwound
	// (EXIDX_CANTUNWIND).
	ErrCantUnwind = errors.New("exidx: the function cannot be unwound")
	// ErrRefuse means that the instructions refuse to unwind (0x80 0x00).
	ErrRefuse = errors.New("exidx: the instructions refuse to unwind")
	// ErrMalformed means that the bytes break the format. The error is an [*Error].
	ErrMalformed = errors.New("malformed exception table")
	// ErrUnsupported means that the bytes may be right, but no row can hold what they say, or they
	// are not defined. The error is an [*Error].
	ErrUnsupported = errors.New("unsupported exception table")
)

// Error says what is wrong with the tables, and where.
type Error struct {
	What   string // what was read: "index", "table" or "instruction"
	Addr   uint32 // its address; of an instruction, its offset in bytes among the instructions
	Reason string
	Err    error // ErrMalformed or ErrUnsupported
}

func (e *Error) Error() string {
	return fmt.Sprintf("exidx: %s at %#x: %s", e.What, e.Addr, e.Reason)
}

// Unwrap returns the sentinel, e.Err.
func (e *Error) Unwrap() error { return e.Err }

func malformed(what string, addr uint32, reason string) error {
	return &Error{what, addr, reason, ErrMalformed}
}
