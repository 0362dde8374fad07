package gopclntab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// ErrNotTable says that bytes are not a table of Go functions. Errors of [Open] wrap it.
var ErrNotTable = errors.New("not a Go function table")

// Version is the format of a table, named after the first Go release that writes it.
type Version uint8

const (
	Go12  Version = 1 + iota // Go 1.2 to 1.15
	Go116                    // Go 1.16 and 1.17: separate parts for names and files
	Go118                    // Go 1.18 and 1.19: addresses relative to the text's start
	Go120                    // since Go 1.20
)

// magics are the first words of tables, in the table's byte order.
var magics = map[uint32]Version{0xfffffffb: Go12, 0xfffffffa: Go116, 0xfffffff0: Go118, 0xfffffff1: Go120}

// Table is one binary's table. It is safe for concurrent use.
type Table struct {
	Version   Version
	ByteOrder binary.ByteOrder
	PtrSize   int    // size of a pointer in bytes: 4 or 8
	Quantum   int    // the least size of an instruction in bytes: 1, 2 or 4
	Text      uint64 // address that functions are relative to since Go 1.18

	// FuncData reads the data that the functions' FUNCDATA words point to. Its offsets are from
	// moduledata.gofunc (the symbol go:func.*, go.func.* before Go 1.20). Before Go 1.18 the words
	// are addresses, and so are the offsets. If FuncData is nil, no inlined calls are known. It
	// must be set before the table is used.
	FuncData io.ReaderAt

	big     bool
	n       int    // number of functions
	functab []byte // pairs of an address and an offset in records, by address; then the end's address
	field   int    // bytes of an address or an offset in functab
	records []byte // struct _func of each function
	names   []byte
	cus     []byte // file tables of compilation units, since Go 1.16
	files   []byte // names; before Go 1.16 offsets of names in names
	values  []byte // tables of values by address
}

// Header is the content of a table's first bytes.
type Header struct {
	Version   Version
	ByteOrder binary.ByteOrder
	PtrSize   int
	Quantum   int
	Functions uint64
	Text      uint64 // 0 before Go 1.18 and since Go 1.26, where the table does not have it
}

// HeaderSize is the number of bytes that [ReadHeader] needs.
const HeaderSize = 8 + 3*8

// ReadHeader reads the header of a table that begins with data. ok is false if no table begins so.
// ReadHeader is quick to find that out.
func ReadHeader(data []byte) (h Header, ok bool) {
	if len(data) < HeaderSize || data[4] != 0 || data[5] != 0 {
		return h, false
	}
	h.ByteOrder = binary.LittleEndian
	if h.Version = magics[binary.LittleEndian.Uint32(data)]; h.Version == 0 {
		h.ByteOrder = binary.BigEndian
		if h.Version = magics[binary.BigEndian.Uint32(data)]; h.Version == 0 {
			return h, false
		}
	}
	h.Quantum, h.PtrSize = int(data[6]), int(data[7])
	if h.Quantum != 1 && h.Quantum != 2 && h.Quantum != 4 || h.PtrSize != 4 && h.PtrSize != 8 {
		return h, false
	}
	h.Functions = h.word(data, 0)
	if h.Version >= Go118 {
		h.Text = h.word(data, 2)
	}
	return h, true
}

// word returns the i-th word of a header.
func (h *Header) word(data []byte, i int) uint64 {
	if h.PtrSize == 4 {
		return uint64(h.ByteOrder.Uint32(data[8+4*i:]))
	}
	return h.ByteOrder.Uint64(data[8+8*i:])
}

// Open opens the table at the start of data. data must not change afterwards. The bytes that
// follow the table do not matter. text is the address that functions are relative to (the
// symbol runtime.text, moduledata.text). Tables before Go 1.18 hold addresses and do not
// need it.
func Open(data []byte, text uint64) (*Table, error) {
	h, ok := ReadHeader(data)
	if !ok {
		return nil, fmt.Errorf("%w: it begins with % x", ErrNotTable, data[:min(len(data), 8)])
	}
	t := &Table{
		Version: h.Version, ByteOrder: h.ByteOrder, PtrSize: h.PtrSize, Quantum: h.Quantum, Text: text,
		big: h.ByteOrder == binary.BigEndian, field: 4,
	}
	if t.Version < Go118 {
		t.field = t.PtrSize
	}
	var err error
	if t.Version == Go12 {
		err = t.openGo12(data, &h)
	} else {
		err = t.openParts(data, &h)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// openParts finds the parts of a table since Go 1.16. The header has their offsets
// (struct pcHeader).
func (t *Table) openParts(data []byte, h *Header) error {
	first := 2 // words before the first offset
	if t.Version >= Go118 {
		first = 3
	}
	if size := 8 + (first+5)*t.PtrSize; len(data) < size {
		return fmt.Errorf("%w: %d bytes, expected a header of %d", ErrNotTable, len(data), size)
	}
	for i, part := range []*[]byte{&t.names, &t.cus, &t.files, &t.values, &t.records} {
		off := h.word(data, first+i)
		if off >= uint64(len(data)) {
			return fmt.Errorf("%w: its part %d of 5 begins at %#x, behind its %#x bytes", ErrNotTable, i+1, off, len(data))
		}
		*part = data[off:]
	}
	return t.openFunctions(t.records, h.Functions)
}

// openGo12 finds the parts of a table before Go 1.16. All offsets are from its beginning.
func (t *Table) openGo12(data []byte, h *Header) error {
	t.names, t.values, t.records = data, data, data
	if err := t.openFunctions(data[8+t.PtrSize:], h.Functions); err != nil {
		return err
	}
	at := 8 + t.PtrSize + len(t.functab)
	if len(data)-at < 4 {
		return fmt.Errorf("%w: it ends behind its functions, at %#x", ErrNotTable, at)
	}
	off := t.u32(data, at)
	if uint64(off)+4 > uint64(len(data)) {
		return fmt.Errorf("%w: its list of files begins at %#x, behind its %#x bytes", ErrNotTable, off, len(data))
	}
	t.files = data[off:]
	if n := uint64(t.u32(t.files, 0)); 4*n <= uint64(len(t.files)) {
		t.files = t.files[:4*n]
	}
	return nil
}

// openFunctions takes the list of functions from the beginning of data.
func (t *Table) openFunctions(data []byte, n uint64) error {
	if n > uint64(len(data))/uint64(2*t.field) || n == 0 || int(2*n+1)*t.field > len(data) {
		return fmt.Errorf("%w: %d functions in %#x bytes", ErrNotTable, n, len(data))
	}
	t.n = int(n)
	t.functab = data[:(2*t.n+1)*t.field]
	return nil
}

// u32 loads a word. The caller has checked the bounds.
func (t *Table) u32(p []byte, off int) uint32 {
	v := binary.LittleEndian.Uint32(p[off : off+4])
	if t.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// pointer loads a word of the size of a pointer. The caller has checked the bounds.
func (t *Table) pointer(p []byte, off int) uint64 {
	if t.PtrSize == 4 {
		return uint64(t.u32(p, off))
	}
	v := binary.LittleEndian.Uint64(p[off : off+8])
	if t.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// text returns the NUL-terminated text at off in p, "" if there is none.
func text(p []byte, off uint64) string {
	const longest = 1 << 16
	if off >= uint64(len(p)) {
		return ""
	}
	p = p[off:]
	for i, c := range p[:min(len(p), longest)] {
		if c == 0 {
			return string(p[:i])
		}
	}
	return ""
}
