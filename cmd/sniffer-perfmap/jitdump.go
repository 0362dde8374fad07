package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// jitDump is the format of jit-PID.dump (Linux's
// tools/perf/Documentation/jitdump-specification.txt, version 1): a header, and records
// in the byte order of the process that writes it.
type jitDump struct {
	machine uint16 // ELF's number of the process's architecture

	order   binary.ByteOrder
	loads   map[uint64]int64 // by a function's number: the place of its code load record
	lines   map[int64]int64  // by the place of a code load record: the place of its lines
	pending map[uint64]int64 // by the address of code whose load record is still to come: the place of its lines
}

// Errors of a jitdump.
var (
	errMagic   = errors.New("it does not begin as a jitdump")
	errVersion = errors.New("it is not of version 1")
	errMachine = errors.New("it is of another architecture")
)

// Sizes and kinds of records (jitdump-specification.txt).
const (
	dumpMagic   = 0x4a695444 // "JiTD"
	headerSize  = 40
	maxHeader   = 4096
	prefixSize  = 16 // of each record: u32 kind, u32 size, u64 time
	loadSize    = prefixSize + 40
	moveSize    = prefixSize + 48
	debugSize   = prefixSize + 16
	entrySize   = 16      // of a line in a debug record, with a name behind it
	maxRecord   = 1 << 20 // bytes of a record that are read
	kindLoad    = 0
	kindMove    = 1
	kindDebug   = 2
	sameAsAbove = "\xff" // the file name of a line that is in the same file as the one before
)

// scan implements [format].
func (d *jitDump) scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error) {
	next = from
	if d.order == nil {
		if size < headerSize {
			return nil, from, nil
		}
		if next, err = d.header(r); err != nil {
			return nil, from, err
		}
		if next > size {
			d.order = nil
			return nil, from, nil
		}
	}
	for n := 1; n%256 != 0 || until(); n++ {
		kind, length, err := d.prefix(r, next)
		if next+length > size || errors.Is(err, io.EOF) {
			break // the rest is not written yet
		}
		if err != nil {
			return records, next, err
		}
		switch kind {
		case kindLoad:
			records, err = d.load(r, next, length, records)
		case kindMove:
			records, err = d.move(r, next, length, records)
		case kindDebug:
			err = d.debug(r, next, length)
		}
		if err != nil {
			return records, next, err
		}
		if len(records) > maxCode || len(d.loads) > maxCode || len(d.pending) > maxCode {
			return nil, next, errTooMany
		}
		next += length
	}
	return records, next, nil
}

// header reads the file's header and returns its length.
func (d *jitDump) header(r io.ReaderAt) (int64, error) {
	p, err := read(r, 0, headerSize)
	if err != nil {
		return 0, err
	}
	switch uint32(dumpMagic) {
	case binary.LittleEndian.Uint32(p):
		d.order = binary.LittleEndian
	case binary.BigEndian.Uint32(p):
		d.order = binary.BigEndian
	default:
		return 0, fmt.Errorf("%w: %x", errMagic, p[:4])
	}
	version, length, machine := d.order.Uint32(p[4:]), d.order.Uint32(p[8:]), d.order.Uint32(p[12:])
	switch {
	case version != 1:
		err = fmt.Errorf("%w: %d", errVersion, version)
	case length < headerSize || length > maxHeader:
		err = fmt.Errorf("a header of %d bytes; it has %d to %d", length, headerSize, maxHeader)
	case machine != uint32(d.machine):
		err = fmt.Errorf("%w: ELF machine %d, the process's is %d", errMachine, machine, d.machine)
	}
	if err != nil {
		d.order = nil
		return 0, err
	}
	d.loads, d.lines, d.pending = map[uint64]int64{}, map[int64]int64{}, map[uint64]int64{}
	return int64(length), nil
}

// prefix reads the fields with which each record begins.
func (d *jitDump) prefix(r io.ReaderAt, at int64) (kind uint32, length int64, err error) {
	p, err := read(r, at, prefixSize)
	if err != nil {
		return 0, 0, err
	}
	kind, length = d.order.Uint32(p), int64(d.order.Uint32(p[4:]))
	if length < prefixSize {
		return 0, 0, fmt.Errorf("record at offset %d has %d bytes; %d is the least", at, length, prefixSize)
	}
	return kind, length, nil
}

// fixed reads the fixed part of a record, of need bytes.
func fixed(r io.ReaderAt, at, length, need int64) ([]byte, error) {
	if length < need {
		return nil, fmt.Errorf("record at offset %d has %d bytes; one of its kind has %d at least", at, length, need)
	}
	return read(r, at, need)
}

// load takes in a code load record.
func (d *jitDump) load(r io.ReaderAt, at, length int64, records []code) ([]code, error) {
	p, err := fixed(r, at, length, loadSize)
	if err != nil {
		return records, err
	}
	lo, n, number := d.order.Uint64(p[32:]), d.order.Uint64(p[40:]), d.order.Uint64(p[48:])
	d.loads[number] = at
	if lines, ok := d.pending[lo]; ok {
		d.lines[at] = lines
		delete(d.pending, lo)
	}
	if n == 0 || lo+n < lo {
		return records, nil
	}
	return append(records, code{lo, lo + n, at}), nil
}

// move takes in a code move record.
func (d *jitDump) move(r io.ReaderAt, at, length int64, records []code) ([]code, error) {
	p, err := fixed(r, at, length, moveSize)
	if err != nil {
		return records, err
	}
	lo, n := d.order.Uint64(p[40:]), d.order.Uint64(p[48:])
	if n == 0 || lo+n < lo {
		return records, nil
	}
	return append(records, code{lo, lo + n, at}), nil
}

// debug takes in a debug information record, which comes before the code.
func (d *jitDump) debug(r io.ReaderAt, at, length int64) error {
	p, err := fixed(r, at, length, debugSize)
	if err == nil {
		d.pending[d.order.Uint64(p[16:])] = at
	}
	return err
}

// name reads the name in a code load record.
func (d *jitDump) name(r io.ReaderAt, at, length int64) (string, error) {
	p, err := read(r, at+loadSize, min(length-loadSize, protocol.MaxText+1))
	if err != nil {
		return "", err
	}
	if end := bytes.IndexByte(p, 0); end >= 0 {
		p = p[:end]
	}
	return string(p[:min(len(p), protocol.MaxText)]), nil
}

// describe implements [format].
func (d *jitDump) describe(r io.ReaderAt, at int64) (description, error) {
	if d.order == nil { // the process is writing the file anew
		return description{}, errMagic
	}
	kind, length, err := d.prefix(r, at)
	if err != nil {
		return description{}, err
	}
	if kind == kindLoad {
		return d.describeLoad(r, at, length)
	}
	p, err := fixed(r, at, length, moveSize)
	if err != nil {
		return description{}, err
	}
	number := d.order.Uint64(p[56:])
	load, ok := d.loads[number]
	if !ok {
		return description{}, fmt.Errorf("record at offset %d moves code %d, which was never loaded", at, number)
	}
	if kind, length, err = d.prefix(r, load); err != nil {
		return description{}, err
	}
	if kind != kindLoad {
		return description{}, fmt.Errorf("record at offset %d is no code load record any more", load)
	}
	x, err := d.describeLoad(r, load, length)
	return x.moved(d.order.Uint64(p[40:]), d.order.Uint64(p[48:])), err
}

// describeLoad reads a code load record again. V8's lines are ignored: for baseline code they are
// at offsets of the bytecode, for other code there are mostly none.
func (d *jitDump) describeLoad(r io.ReaderAt, at, length int64) (x description, err error) {
	p, err := fixed(r, at, length, loadSize)
	if err != nil {
		return x, err
	}
	x.lo = d.order.Uint64(p[32:])
	x.hi = x.lo + d.order.Uint64(p[40:])
	if x.name, err = d.name(r, at, length); err != nil {
		return x, err
	}
	if lines, ok := d.lines[at]; ok && !isV8(x.name) {
		x.lines, err = d.readLines(r, lines)
	}
	return x, err
}

// moved returns x for the same code at another place.
func (x description) moved(lo, n uint64) description {
	for i := range x.lines {
		x.lines[i].addr += lo - x.lo
	}
	x.lo, x.hi = lo, lo+n
	return x
}

// readLines reads a debug information record.
func (d *jitDump) readLines(r io.ReaderAt, at int64) (lines []line, err error) {
	_, length, err := d.prefix(r, at)
	if err != nil {
		return nil, err
	}
	p, err := fixed(r, at, length, min(length, maxRecord))
	if err != nil || len(p) < debugSize {
		return nil, err
	}
	file, n := "", d.order.Uint64(p[24:])
	for p = p[debugSize:]; n > 0 && len(p) > entrySize; n-- {
		name, rest, ok := bytes.Cut(p[entrySize:], []byte{0})
		if !ok {
			break
		}
		if string(name) != sameAsAbove {
			file = readable(string(name[:min(len(name), protocol.MaxText)]))
		}
		x := line{d.order.Uint64(p), file, int(int32(d.order.Uint32(p[8:])))}
		if len(lines) > 0 && x.addr < lines[len(lines)-1].addr {
			return lines, nil
		}
		lines, p = append(lines, x), rest
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
