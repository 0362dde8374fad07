package sframe

import (
	"errors"
	"fmt"
)

var (
	// ErrNoFDE is returned for a PC that no FDE covers.
	ErrNoFDE = errors.New("sframe: no FDE covers the PC")
	// ErrNoRow is returned for a PC that an FDE covers but no FRE, such as a PC before the FDE's
	// first FRE.
	ErrNoRow = errors.New("sframe: the FDE has no row for the PC")
	// ErrSignalFrame is returned instead of ErrNoRow, which it wraps, if the FDE is one of V3 that
	// marks a signal frame: THIS is a trampoline, and its rules are not known. Assemblers write
	// such an FDE, without FREs, for a signal frame that SFrame has no form for.
	ErrSignalFrame = fmt.Errorf("%w: a signal frame without rules", ErrNoRow)
	// ErrMalformed means that bytes contradict the specification. The error is a
	// FormatError that wraps it.
	ErrMalformed = errors.New("malformed SFrame data")
	// ErrUnsupported means that the bytes may be right, but have a version, an ABI, a flag or a
	// type that this package does not know. The error is a FormatError that wraps it.
	ErrUnsupported = errors.New("unsupported SFrame data")
)

// A FormatError says which field cannot be read and why.
type FormatError struct {
	FDE int    // index of the FDE; -1 in the header
	FRE int    // index of the FRE in its FDE; -1 in the header or the FDE itself
	Off uint64 // of the field, from the start of the section
	Msg string // the value that was read and the expected one
	Err error  // ErrMalformed or ErrUnsupported
}

// Error returns the whole sentence, with the section offset of the field.
func (e *FormatError) Error() string {
	where := "header"
	switch {
	case e.FRE >= 0:
		where = fmt.Sprintf("FDE %d: FRE %d", e.FDE, e.FRE)
	case e.FDE >= 0:
		where = fmt.Sprintf("FDE %d", e.FDE)
	}
	return fmt.Sprintf("sframe: %s: %s, field at section offset %#x", where, e.Msg, e.Off)
}

// Unwrap returns ErrMalformed or ErrUnsupported.
func (e *FormatError) Unwrap() error { return e.Err }

func headerError(off uint64, kind error, format string, args ...any) error {
	return &FormatError{FDE: -1, FRE: -1, Off: off, Msg: fmt.Sprintf(format, args...), Err: kind}
}

// fdeError reports a field at offset off of FDE i's fixed part.
func (s *Section) fdeError(i int, off int, kind error, format string, args ...any) error {
	return &FormatError{FDE: i, FRE: -1, Off: s.fdeBase + uint64(i*s.fdeSize+off), Msg: fmt.Sprintf(format, args...), Err: kind}
}

// freError reports a field at offset off of the FRE sub-section. fre is -1
// for V3's attribute of the FDE.
func (s *Section) freError(fde, fre int, off uint64, kind error, format string, args ...any) error {
	return &FormatError{FDE: fde, FRE: fre, Off: s.freBase + off, Msg: fmt.Sprintf(format, args...), Err: kind}
}
