package minidump

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Module is a file that was mapped (MINIDUMP_MODULE).
type Module struct {
	Name     string // its path, as the system has it
	Base     uint64
	Size     uint64 // bytes
	Checksum uint32
	Time     time.Time // Windows: when it was linked, if its linker says so
	Stamp    uint32    // what Time is of
	Version  string    // "10.0.19041.546"; "" if there is none
	CodeView CodeView
	Misc     string // the debug file of an old linker's (IMAGE_DEBUG_MISC); "" if there is none

	// Annotations are what Crashpad's client has noted of the module.
	Annotations []Annotation
}

// CodeView is the record by which a module's symbols are found.
type CodeView struct {
	Kind    CodeViewKind
	File    string   // of a PDB: its path
	GUID    [16]byte // of RSDS
	Time    uint32   // of NB10
	Age     uint32
	BuildID []byte // of an ELF file
	ID      string // of a microdump: Breakpad's identifier
}

// CodeViewKind is the kind of a CodeView record: its first four bytes.
type CodeViewKind string

// The kinds that are read; "" is none.
const (
	RSDS CodeViewKind = "RSDS" // a PDB of 7.0 on
	NB10 CodeViewKind = "NB10" // a PDB of 2.0
	ELF  CodeViewKind = "LEpB" // Breakpad's: a build ID

	named CodeViewKind = "named" // not of a dump: a microdump has the identifier as text
)

// Unloaded is a module that was mapped once (MINIDUMP_UNLOADED_MODULE).
type Unloaded struct {
	Name  string
	Base  uint64
	Size  uint64
	Stamp uint32
}

const moduleSize = 108

func (f *File) readModules(s Stream) error {
	b, err := f.r.list(s.Location, moduleSize)
	if err != nil {
		return err
	}
	f.Modules = make([]Module, 0, len(b)/moduleSize)
	for ; len(b) > 0; b = b[moduleSize:] {
		m := Module{Base: f.Order.Uint64(b), Size: uint64(f.Order.Uint32(b[8:])), Checksum: f.Order.Uint32(b[12:]), Stamp: f.Order.Uint32(b[16:])}
		if m.Stamp != 0 {
			m.Time = time.Unix(int64(m.Stamp), 0).UTC()
		}
		var bad error
		if m.Name, bad = f.r.text(uint64(f.Order.Uint32(b[20:]))); bad != nil {
			err = fmt.Errorf("the name of the module at %#x: %w", m.Base, bad)
		}
		m.Version = f.version(b[24:])
		if m.CodeView, bad = f.codeView(f.r.location(b[76:])); bad != nil {
			err = fmt.Errorf("the CodeView record of %s: %w", m.Name, bad)
		}
		if l := f.r.location(b[84:]); l.Size > 12 {
			if m.Misc, bad = f.debugMisc(l); bad != nil {
				err = fmt.Errorf("the debug file of %s: %w", m.Name, bad)
			}
		}
		f.Modules = append(f.Modules, m)
	}
	return err
}

// version returns the version in VS_FIXEDFILEINFO.
func (f *File) version(b []byte) string {
	const fixedFileInfo, structVersion = 0xfeef04bd, 0x10000
	if f.Order.Uint32(b) != fixedFileInfo || f.Order.Uint32(b[4:])&structVersion == 0 {
		return ""
	}
	hi, lo := f.Order.Uint32(b[8:]), f.Order.Uint32(b[12:])
	return fmt.Sprintf("%d.%d.%d.%d", hi>>16, hi&0xffff, lo>>16, lo&0xffff)
}

// codeViewAt is a CodeView record, or why there is none.
type codeViewAt struct {
	CodeView
	err error
}

// codeView returns the record at l. Many modules may refer to one record: it is read once, and they
// share it.
func (f *File) codeView(l Location) (CodeView, error) {
	if l.Size == 0 {
		return CodeView{}, nil
	}
	v, ok := f.codeViews[l]
	if !ok {
		v.CodeView, v.err = f.readCodeView(l)
		if f.codeViews == nil {
			f.codeViews = make(map[Location]codeViewAt)
		}
		f.codeViews[l] = v
	}
	err := v.err
	if err == nil {
		if err = f.r.refer(v.File); err != nil {
			v.File = ""
		}
	}
	return v.CodeView, err
}

// maxBuildID bounds build IDs, bytes. Linkers make some of 8 to 20.
const maxBuildID = 256

func (f *File) readCodeView(l Location) (v CodeView, err error) {
	if l.Size > maxString {
		return v, fmt.Errorf("%d bytes: more than %d", l.Size, maxString)
	}
	b, err := f.r.at(l)
	if err != nil {
		return v, err
	}
	if len(b) < 4 {
		return v, errShort
	}
	kind := CodeViewKind(b[:4])
	if f.Order.Uint32(b) != uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24 {
		kind = CodeViewKind([]byte{b[3], b[2], b[1], b[0]})
	}
	switch {
	case kind == RSDS && len(b) >= 24:
		copy(v.GUID[:], b[4:])
		v.Age, v.File = f.Order.Uint32(b[20:]), upToZero(b[24:])
	case kind == NB10 && len(b) >= 16:
		v.Time, v.Age, v.File = f.Order.Uint32(b[8:]), f.Order.Uint32(b[12:]), upToZero(b[16:])
	case kind == ELF && len(b)-4 > maxBuildID:
		return v, fmt.Errorf("a build ID of %d bytes: more than %d", len(b)-4, maxBuildID)
	case kind == ELF:
		v.BuildID = b[4:]
	default:
		return v, nil // another one, such as of symbols inside the module
	}
	v.Kind = kind
	return v, nil
}

// debugMisc reads IMAGE_DEBUG_MISC: type, length, whether the text is UTF-16, padding, text.
func (f *File) debugMisc(l Location) (string, error) {
	return f.r.once(textAt{debugMisc, l}, func() (string, error) {
		b, err := f.r.at(Location{min(l.Size, maxString), l.Offset})
		switch {
		case err != nil:
			return "", nil // as if there were none: the CodeView record counts
		case b[8] != 0:
			return f.r.utf16(b[12:]), nil
		}
		return upToZero(b[12:]), nil
	})
}

// DebugFile returns the path of the file that has the symbols, as its linker has it; "" if it is
// not known.
func (m *Module) DebugFile() string {
	switch {
	case m.CodeView.Kind == ELF:
		return m.Name
	case m.CodeView.File != "":
		return m.CodeView.File
	}
	return m.Misc
}

// DebugID returns Breakpad's identifier of the symbols: a GUID and an age, without hyphens; "" if
// there is none.
func (m *Module) DebugID(f *File) string {
	v := &m.CodeView
	switch v.Kind {
	case RSDS:
		return guid(f, v.GUID[:]) + fmt.Sprintf("%x", v.Age)
	case NB10:
		return fmt.Sprintf("%08X%x", v.Time, v.Age)
	case ELF:
		var id [16]byte
		copy(id[:], v.BuildID)
		return guid(f, id[:]) + "0"
	case named:
		return v.ID
	}
	return ""
}

// guid returns the GUID, whose first three numbers have the dump's byte order.
func guid(f *File, b []byte) string {
	return fmt.Sprintf("%08X%04X%04X%X", f.Order.Uint32(b), f.Order.Uint16(b[4:]), f.Order.Uint16(b[6:]), b[8:16])
}

// CodeID returns the identifier of the file itself, as stores have it: on Windows the time stamp
// and the size, else the build ID; "" if there is none.
func (m *Module) CodeID(f *File) string {
	switch {
	case f.System.Known && f.System.OS.IsWindows():
		return fmt.Sprintf("%08X%x", m.Stamp, m.Size)
	case m.CodeView.Kind == ELF:
		return hex.EncodeToString(m.CodeView.BuildID)
	}
	return ""
}

// Main returns the index of the program's own module, -1 if there is none. It is the first of the
// list.
func (f *File) Main() int {
	if len(f.Modules) == 0 {
		return -1
	}
	return 0
}

// readUnloaded reads MINIDUMP_UNLOADED_MODULE_LIST, whose header says how large it and its entries
// are.
func (f *File) readUnloaded(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 12 {
		return errShort
	}
	header, size, n := uint64(f.Order.Uint32(b)), uint64(f.Order.Uint32(b[4:])), uint64(f.Order.Uint32(b[8:]))
	if size < 24 || header > uint64(len(b)) {
		return errShort
	}
	n, ok := f.r.entries(n, size, b[header:])
	if !ok {
		return errShort
	}
	for b = b[header:]; n > 0; n, b = n-1, b[size:] {
		m := Unloaded{Base: f.Order.Uint64(b), Size: uint64(f.Order.Uint32(b[8:])), Stamp: f.Order.Uint32(b[16:])}
		var bad error
		if m.Name, bad = f.r.text(uint64(f.Order.Uint32(b[20:]))); bad != nil {
			err = bad
		}
		f.Unloaded = append(f.Unloaded, m)
	}
	return err
}
