package cfi

import (
	"errors"
	"fmt"
)

// Errors of this package; test with errors.Is.
var (
	// ErrNotFound means that no FDE covers the address.
	ErrNotFound = errors.New("cfi: no FDE covers the address")
	// ErrMalformed means that the bytes break the format. The error is an [*Error].
	ErrMalformed = errors.New("malformed call frame information")
	// ErrUnsupported means that the bytes may be right, but have a version, an
	// augmentation or an instruction that this package does not know. The error is
	// an [*Error].
	ErrUnsupported = errors.New("unsupported call frame information")
	// ErrNoCFA means that a line of the table has no rule for the CFA and is not outermost.
	// Functions with ".cfi_startproc simple" have such lines. ErrNoCFA wraps ErrMalformed; the
	// error is an [*Error].
	ErrNoCFA = fmt.Errorf("%w: no rule for the CFA", ErrMalformed)
)

// Error says what is wrong with an entry of the section, and where.
type Error struct {
	Kind   Kind   // the section
	Entry  string // what was being read: "entry", "CIE" or "FDE"
	Offset int    // of the entry, in bytes from the start of the section
	What   string // the field or instruction of the entry; may be empty
	At     int    // offset of What, in bytes from the start of the section
	Reason string
	Err    error // ErrMalformed, ErrNoCFA or ErrUnsupported
}

func (e *Error) Error() string {
	if e.What == "" {
		return fmt.Sprintf("cfi: %v %s at %#x: %s", e.Kind, e.Entry, e.Offset, e.Reason)
	}
	return fmt.Sprintf("cfi: %v %s at %#x: %s at %#x: %s", e.Kind, e.Entry, e.Offset, e.What, e.At, e.Reason)
}

// Unwrap returns the sentinel, e.Err.
func (e *Error) Unwrap() error { return e.Err }

const truncated = "runs past the end of the entry"
