package breakpad

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Record is one line of a symbol file: a [Module], [Info], [SourceFile], [Func], [Line],
// [InlineOrigin], [Inline], [Public], [StackWin], [StackCFIInit], [StackCFI] or [Unknown].
type Record interface {
	// AppendText appends the record's line to b, without an end of line. It fails if the record has
	// a text that would not be read again as it is: one with an end of line, or with a space where
	// a space ends the field.
	AppendText(b []byte) ([]byte, error)
}

// Module says of which file the symbols are. It is the first record of a file. ("MODULE records")
type Module struct {
	OS   string // "Linux", "mac", "windows", …
	Arch string // "x86", "x86_64", "arm", "arm64", …
	ID   string // the debug identifier: hexadecimal digits
	Name string // of the file with debug information: "libc.so.6", "ntdll.pdb"; may have spaces
}

// Info is a record that look-ups do not need: "CODE_ID 5C8AD05F12000 a.dll", "URL …".
type Info struct {
	Text string // all behind "INFO "
}

// SourceFile gives a source file's name a number. ("FILE records")
type SourceFile struct {
	Number int // 0 and up
	Name   string
}

// Func is a function. ("FUNC records")
type Func struct {
	Address, Size uint64 // of its code, bytes
	ParamSize     uint64 // of its arguments on the stack, bytes
	// Multiple says that the linker has folded several functions into this code, and Name is one of
	// them.
	Multiple bool
	Name     string // demangled; empty if the file has none
}

// Line says from which source line code was made. It belongs to the last Func before it. ("Line
// records")
type Line struct {
	Address, Size uint64 // of the code, bytes
	Line          int    // 1 and up; 0 if the code belongs to no line
	File          int    // the number of a SourceFile
}

// InlineOrigin gives the name of an inlined function a number.
type InlineOrigin struct {
	Number int
	Name   string
	// File is the number of the SourceFile in which the function is, in files of the older form; -1
	// for none. OldForm says that the file has it.
	File    int
	OldForm bool
}

// Inline is a call that was inlined into the last Func before it.
type Inline struct {
	Depth    int // 0 for a call in the function itself, 1 for a call in that, …
	CallLine int // where the call is; 0 if not known
	CallFile int // the number of a SourceFile; -1 if not known
	Origin   int // the number of the InlineOrigin that was called
	Ranges   []Range
	// OldForm says that the record has no CallFile.
	OldForm bool
}

// Range is the code from Address on, Size bytes.
type Range struct{ Address, Size uint64 }

// Contains reports whether addr is in r.
func (r Range) Contains(addr uint64) bool { return addr-r.Address < r.Size }

// Public is a symbol of the linker's. Its code goes on to the next Public or Func. ("PUBLIC
// records")
type Public struct {
	Address   uint64
	ParamSize uint64 // as in Func
	Multiple  bool   // as in Func
	Name      string
}

// Types of StackWin.
const (
	FPO       = 0 // FrameTypeFPO: a frame of fixed size
	FrameData = 4 // FrameTypeFrameData: a frame that a program describes
)

// StackWin says how Windows' 32-bit code unwinds. ("STACK WIN records") Sizes are in bytes.
type StackWin struct {
	Type             int // FPO, FrameData, or another of StackFrameTypeEnum
	Address          uint64
	CodeSize         uint64
	PrologueSize     uint64
	EpilogueSize     uint64
	ParamSize        uint64
	SavedRegsSize    uint64
	LocalSize        uint64
	MaxStackSize     uint64
	HasProgram       bool   // whether Program is there; else AllocatesBasePtr
	Program          string // "$T0 .raSearch = $eip $T0 ^ = …"
	AllocatesBasePtr bool   // the function uses ebp as it uses other registers
}

// StackCFIInit begins the rules of a function, or of a part of it. ("STACK CFI INIT records")
type StackCFIInit struct {
	Address, Size uint64
	Rules         string // ".cfa: $rsp 8 + .ra: .cfa 8 - ^"
}

// StackCFI changes rules from Address on. It belongs to the StackCFIInit before it. ("STACK CFI
// records")
type StackCFI struct {
	Address uint64
	Rules   string // only the rules that differ
}

// Unknown is a line of a type that this package does not know.
type Unknown struct {
	Text string
}

// errText is the error of a record that cannot be written.
var errText = errors.New("a text has an end of line, or a space where a space ends the field")

func (m Module) AppendText(b []byte) ([]byte, error) {
	for _, word := range []string{m.OS, m.Arch, m.ID} {
		if word == "" || strings.ContainsAny(word, " \r\n") {
			return b, fmt.Errorf("MODULE of %q: %w", m.Name, errText)
		}
	}
	return appendLast(append(b, "MODULE "+m.OS+" "+m.Arch+" "+m.ID+" "...), m.Name)
}

func (i Info) AppendText(b []byte) ([]byte, error) { return appendLast(append(b, "INFO "...), i.Text) }

func (f SourceFile) AppendText(b []byte) ([]byte, error) {
	return appendLast(fmt.Appendf(b, "FILE %d ", f.Number), f.Name)
}

func (f Func) AppendText(b []byte) ([]byte, error) {
	b = appendMultiple(append(b, "FUNC "...), f.Multiple)
	return appendLast(fmt.Appendf(b, "%x %x %x ", f.Address, f.Size, f.ParamSize), f.Name)
}

func (l Line) AppendText(b []byte) ([]byte, error) {
	b = append(strconv.AppendUint(b, l.Address, 16), ' ')
	b = append(strconv.AppendUint(b, l.Size, 16), ' ')
	b = append(strconv.AppendInt(b, int64(l.Line), 10), ' ')
	return strconv.AppendInt(b, int64(l.File), 10), nil
}

func (o InlineOrigin) AppendText(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "INLINE_ORIGIN %d ", o.Number)
	if o.OldForm {
		b = fmt.Appendf(b, "%d ", o.File)
	}
	return appendLast(b, o.Name)
}

func (i Inline) AppendText(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "INLINE %d %d ", i.Depth, i.CallLine)
	if !i.OldForm {
		b = fmt.Appendf(b, "%d ", i.CallFile)
	}
	b = strconv.AppendInt(b, int64(i.Origin), 10)
	for _, r := range i.Ranges {
		b = fmt.Appendf(b, " %x %x", r.Address, r.Size)
	}
	return b, nil
}

func (p Public) AppendText(b []byte) ([]byte, error) {
	b = appendMultiple(append(b, "PUBLIC "...), p.Multiple)
	return appendLast(fmt.Appendf(b, "%x %x ", p.Address, p.ParamSize), p.Name)
}

func (w StackWin) AppendText(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "STACK WIN %x %x %x %x %x %x %x %x %x ", w.Type, w.Address, w.CodeSize, w.PrologueSize,
		w.EpilogueSize, w.ParamSize, w.SavedRegsSize, w.LocalSize, w.MaxStackSize)
	switch {
	case w.HasProgram:
		return appendLast(append(b, "1 "...), w.Program)
	case w.AllocatesBasePtr:
		return append(b, "0 1"...), nil
	}
	return append(b, "0 0"...), nil
}

func (c StackCFIInit) AppendText(b []byte) ([]byte, error) {
	return appendLast(fmt.Appendf(b, "STACK CFI INIT %x %x ", c.Address, c.Size), c.Rules)
}

func (c StackCFI) AppendText(b []byte) ([]byte, error) {
	return appendLast(fmt.Appendf(b, "STACK CFI %x ", c.Address), c.Rules)
}

func (u Unknown) AppendText(b []byte) ([]byte, error) { return appendLast(b, u.Text) }

func appendMultiple(b []byte, multiple bool) []byte {
	if multiple {
		return append(b, "m "...)
	}
	return b
}

// appendLast appends the last field of a record, which may have spaces.
func appendLast(b []byte, s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return b, fmt.Errorf("%q: %w", s, errText)
	}
	return append(b, s...), nil
}
