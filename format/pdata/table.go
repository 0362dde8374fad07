package pdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// Reader reads an image as it is mapped.
type Reader interface {
	// ReadRVA reads at an address relative to the image's base: n is less than len(p) if not all of
	// it is there.
	ReadRVA(rva uint32, p []byte) (n int)
}

// Function is an entry of .pdata: a function, or a part of one. Addresses are RVAs. ("struct
// RUNTIME_FUNCTION")
type Function struct {
	Begin, End uint32 // its code: [Begin, End)
	Unwind     uint32 // where its unwind codes are
}

// Contains reports whether rva is in the function's code.
func (f Function) Contains(rva uint32) bool { return rva-f.Begin < f.End-f.Begin }

// Table is the function table of an image, ascending by address.
type Table struct {
	r    Reader
	b    []byte
	unix bool // the code keeps to the System V ABI
}

// OfUnix returns a table for code that .NET has made for Unix: it uses these unwind codes, and the
// System V ABI's registers. The table has no functions: [Table.Row] takes functions that the run
// time tells.
func OfUnix(r Reader) *Table { return &Table{r: r, unix: true} }

const functionSize = 12

// maxTable bounds a function table, in bytes. That of a browser has 15 MiB.
const maxTable = 256 << 20

var (
	errShort = errors.New("the image ends before")
)

// New returns the function table of size bytes at rva (IMAGE_DIRECTORY_ENTRY_EXCEPTION). It ends
// where the image does. The error says that size is more than any image has.
func New(r Reader, rva, size uint32) (*Table, error) {
	if size > maxTable {
		return nil, fmt.Errorf("function table of %d bytes: more than %d", size, maxTable)
	}
	const part = 1 << 20 // what is said to be there may not be
	t := &Table{r: r}
	for size -= size % functionSize; size > 0; {
		p := make([]byte, min(size, part-part%functionSize))
		n := r.ReadRVA(rva, p)
		t.b = append(t.b, p[:n-n%functionSize]...)
		if n < len(p) {
			break
		}
		rva, size = rva+uint32(n), size-uint32(n)
	}
	if len(t.b) == 0 {
		return nil, fmt.Errorf("function table at %#x: %w", rva, errShort)
	}
	return t, nil
}

// Len returns how many functions the table has.
func (t *Table) Len() int { return len(t.b) / functionSize }

// At returns the function at an index.
func (t *Table) At(i int) Function {
	b := t.b[i*functionSize:]
	return Function{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])}
}

// Find returns the function that holds rva; ok is false if none does.
func (t *Table) Find(rva uint32) (f Function, ok bool) {
	i := sort.Search(t.Len(), func(i int) bool { return t.At(i).Begin > rva })
	if i == 0 {
		return Function{}, false
	}
	f = t.At(i - 1)
	return f, f.Contains(rva)
}

// Primary returns the entry at which a function begins. f is an entry of the function: its first
// one, or one whose codes are chained to another entry's. The error says that unwind information
// cannot be read, or that the chain has no end.
func (t *Table) Primary(f Function) (Function, error) {
	for range maxChain {
		info, err := t.Info(f)
		if err != nil || info.Chained == nil {
			return f, err
		}
		f = *info.Chained
	}
	return f, errChain
}

// direct returns the entry that f is, or stands for: an entry whose unwind address is odd names
// another entry.
func (t *Table) direct(f Function) (Function, error) {
	if f.Unwind&1 == 0 {
		return f, nil
	}
	var b [functionSize]byte
	if t.r.ReadRVA(f.Unwind&^1, b[:]) < len(b) {
		return f, fmt.Errorf("function table entry at %#x: %w", f.Unwind&^1, errShort)
	}
	f = parseFunction(b[:])
	if f.Unwind&1 != 0 {
		return f, fmt.Errorf("unwind codes at %#x: %w", f.Unwind, errChain)
	}
	return f, nil
}

func parseFunction(b []byte) Function {
	return Function{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])}
}
