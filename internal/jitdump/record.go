package jitdump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// Errors of a jitdump.
var (
	ErrMagic   = errors.New("it does not begin as a jitdump")
	ErrVersion = errors.New("it is not of version 1")
)

// IsName reports whether a file's path is a jitdump's: jit-PID.dump. A process maps the file as
// code to tell where it is.
func IsName(name string) bool {
	pid, ok := strings.CutPrefix(path.Base(name), "jit-")
	pid, ok2 := strings.CutSuffix(pid, ".dump")
	n, err := strconv.Atoi(pid)
	return ok && ok2 && err == nil && n > 0
}

// Kind is the kind of a record.
type Kind uint32

const (
	Load      Kind = 0 // code is there
	Move      Kind = 1 // code is at another place
	Debug     Kind = 2 // the lines of the code of the next Load with the address
	Close     Kind = 3 // no more code will come
	Unwinding Kind = 4 // the unwind table of the code of the next Load
)

// least returns how many bytes a record has at least.
func (k Kind) least() int64 {
	switch k {
	case Load:
		return loadSize
	case Move:
		return moveSize
	case Debug:
		return debugSize
	case Unwinding:
		return unwindingSize
	}
	return prefixSize
}

// Sizes of records, bytes.
const (
	magic = 0x4a695444 // "JiTD"
	// HeaderSize is the size of the header of the file, at least.
	HeaderSize    = 40
	maxHeader     = 4096
	prefixSize    = 16 // of each record: u32 kind, u32 size, u64 time
	loadSize      = prefixSize + 40
	moveSize      = prefixSize + 48
	debugSize     = prefixSize + 16
	unwindingSize = prefixSize + 24
	entrySize     = 16      // of a line in a Debug record, with a name behind it
	maxLines      = 1 << 20 // bytes of a Debug record that are read
	sameAsAbove   = "\xff"  // the file name of a line that is in the same file as the one before
)

// Header is the header of a file.
type Header struct {
	Order   binary.ByteOrder
	Length  int64  // bytes; the records come behind
	Machine uint32 // ELF's number of the processor
	// ArchTime says that times are the processor's own, and no nanoseconds of CLOCK_MONOTONIC.
	ArchTime bool
}

// ReadHeader reads the header of a file that has at least [HeaderSize] bytes.
func ReadHeader(r io.ReaderAt) (h Header, err error) {
	p, err := read(r, 0, HeaderSize)
	if err != nil {
		return h, err
	}
	switch uint32(magic) {
	case binary.LittleEndian.Uint32(p):
		h.Order = binary.LittleEndian
	case binary.BigEndian.Uint32(p):
		h.Order = binary.BigEndian
	default:
		return h, fmt.Errorf("%w: %x", ErrMagic, p[:4])
	}
	version, length := h.Order.Uint32(p[4:]), h.Order.Uint32(p[8:])
	h.Length, h.Machine, h.ArchTime = int64(length), h.Order.Uint32(p[12:]), h.Order.Uint64(p[32:])&1 != 0
	switch {
	case version != 1:
		return h, fmt.Errorf("%w: %d", ErrVersion, version)
	case length < HeaderSize || length > maxHeader:
		return h, fmt.Errorf("a header of %d bytes; it has %d to %d", length, HeaderSize, maxHeader)
	}
	return h, nil
}

// Record is a record without what has no fixed size.
type Record struct {
	Kind   Kind
	At     int64 // its place in the file
	Length int64 // bytes
	Time   uint64

	Addr   uint64 // Load, Move: where the code is from now on; Debug: where it will be
	Size   uint64 // Load, Move: of the code, bytes; Unwinding: of the table with its header
	Number uint64 // Load, Move: which code it is
	Header uint64 // Unwinding: of the table's header (.eh_frame_hdr), which comes last, bytes
}

// End returns the first address behind the code of a Load or Move; ok is false if it has none.
func (x *Record) End() (end uint64, ok bool) {
	end = x.Addr + x.Size
	return end, x.Size > 0 && end > x.Addr
}

// Record reads the record at a place. An [io.EOF] says that the file ends before; the record itself
// may lack its end.
func (h *Header) Record(r io.ReaderAt, at int64) (x Record, err error) {
	var room [moveSize]byte
	n, err := r.ReadAt(room[:], at)
	p := room[:n]
	if n < prefixSize {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return x, fmt.Errorf("record at offset %d: %w", at, err)
	}
	x = Record{Kind: Kind(h.Order.Uint32(p)), At: at, Length: int64(h.Order.Uint32(p[4:])), Time: h.Order.Uint64(p[8:])}
	if x.Length < prefixSize {
		return x, fmt.Errorf("record at offset %d has %d bytes; %d is the least", at, x.Length, prefixSize)
	}
	need := x.Kind.least()
	switch {
	case x.Length < need:
		return x, fmt.Errorf("record at offset %d has %d bytes; one of its kind has %d at least", at, x.Length, need)
	case int64(n) < need:
		return x, fmt.Errorf("record at offset %d: %w", at, io.EOF)
	}
	u := func(at int) uint64 { return h.Order.Uint64(p[at:]) }
	switch x.Kind {
	case Load:
		x.Addr, x.Size, x.Number = u(32), u(40), u(48)
	case Move:
		x.Addr, x.Size, x.Number = u(40), u(48), u(56)
	case Debug:
		x.Addr = u(16)
	case Unwinding:
		x.Size, x.Header = u(16), u(24)
	}
	return x, nil
}

// Name returns the name in a Load, most bytes of it at most. size is how many bytes the name has in
// the file, with its end, if it is not cut.
func (h *Header) Name(r io.ReaderAt, x *Record, most int) (name string, size int64, err error) {
	p, err := read(r, x.At+loadSize, min(x.Length-loadSize, int64(most)+1))
	if err != nil {
		return "", 0, err
	}
	size = int64(len(p))
	if end := bytes.IndexByte(p, 0); end >= 0 {
		p, size = p[:end], int64(end)+1
	}
	return string(p[:min(len(p), most)]), size, nil
}

// Line is the place in the source of the code from an address on.
type Line struct {
	Addr uint64
	File string
	Line int
}

// Lines returns the lines of a Debug record, as far as they ascend.
func (h *Header) Lines(r io.ReaderAt, x *Record) (lines []Line, err error) {
	p, err := read(r, x.At, min(x.Length, maxLines))
	if err != nil || len(p) < debugSize {
		return nil, err
	}
	file, n := "", h.Order.Uint64(p[24:])
	for p = p[debugSize:]; n > 0 && len(p) > entrySize; n-- {
		name, rest, ok := bytes.Cut(p[entrySize:], []byte{0})
		if !ok {
			break
		}
		if string(name) != sameAsAbove {
			file = string(name)
		}
		l := Line{h.Order.Uint64(p), file, int(int32(h.Order.Uint32(p[8:])))}
		if len(lines) > 0 && l.Addr < lines[len(lines)-1].Addr {
			break
		}
		lines, p = append(lines, l), rest
	}
	return lines, nil
}

// read reads n bytes at offset at, not fewer.
func read(r io.ReaderAt, at, n int64) ([]byte, error) {
	p := make([]byte, n)
	if got, err := r.ReadAt(p, at); got < len(p) {
		return nil, fmt.Errorf("%d bytes at offset %d: %w", n, at, err)
	}
	return p, nil
}
