package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/internal/jitdump"
	"github.com/sfwalk/sfwalk/internal/jitname"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// jitDump is the format of jit-PID.dump.
type jitDump struct {
	machine uint16 // ELF's number of the process's architecture

	header  *jitdump.Header  // nil before it was read
	loads   map[uint64]int64 // by a function's number: the place of its code load record
	lines   map[int64]int64  // by the place of a code load record: the place of its lines
	pending map[uint64]int64 // by the address of code whose load record is still to come: the place of its lines
}

// scan implements [format].
func (d *jitDump) scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error) {
	next = from
	if d.header == nil {
		if size < jitdump.HeaderSize {
			return nil, from, nil
		}
		h, err := jitdump.ReadHeader(r)
		if err == nil && h.Machine != uint32(d.machine) {
			err = fmt.Errorf("%w: ELF machine %d, the process's is %d", jitdump.ErrMachine, h.Machine, d.machine)
		}
		if err != nil || h.Length > size {
			return nil, from, err
		}
		d.header, next = &h, h.Length
		d.loads, d.lines, d.pending = map[uint64]int64{}, map[int64]int64{}, map[uint64]int64{}
	}
	for n := 1; n%256 != 0 || until(); n++ {
		x, err := d.header.Record(r, next)
		if x.Length > size-next || errors.Is(err, io.EOF) {
			break // the rest is not written yet
		}
		if err != nil {
			return records, next, err
		}
		switch x.Kind {
		case jitdump.Load:
			d.loads[x.Number] = x.At
			if lines, ok := d.pending[x.Addr]; ok {
				d.lines[x.At] = lines
				delete(d.pending, x.Addr)
			}
		case jitdump.Debug:
			d.pending[x.Addr] = x.At
		}
		if end, ok := x.End(); ok && (x.Kind == jitdump.Load || x.Kind == jitdump.Move) {
			records = append(records, code{x.Addr, end, x.At})
		}
		if len(records) > maxCode || len(d.loads) > maxCode || len(d.pending) > maxCode {
			return nil, next, errTooMany
		}
		next += x.Length
	}
	return records, next, nil
}

// describe implements [format].
func (d *jitDump) describe(r io.ReaderAt, at int64) (description, error) {
	if d.header == nil { // the process is writing the file anew
		return description{}, jitdump.ErrMagic
	}
	x, err := d.header.Record(r, at)
	if err != nil || x.Kind == jitdump.Load {
		return d.describeLoad(r, &x, err)
	}
	if x.Kind != jitdump.Move {
		return description{}, fmt.Errorf("record at offset %d is of no code", at)
	}
	place, ok := d.loads[x.Number]
	if !ok {
		return description{}, fmt.Errorf("record at offset %d moves code %d, which was never loaded", at, x.Number)
	}
	load, err := d.header.Record(r, place)
	if err == nil && load.Kind != jitdump.Load {
		err = fmt.Errorf("record at offset %d is no code load record any more", place)
	}
	moved, err := d.describeLoad(r, &load, err)
	return moved.moved(x.Addr, x.Size), err
}

// describeLoad reads what a code load record tells, unless there was an error. V8's lines are
// ignored: for baseline code they are at offsets of the bytecode, for other code there are mostly
// none.
func (d *jitDump) describeLoad(r io.ReaderAt, load *jitdump.Record, err error) (x description, _ error) {
	if err != nil {
		return x, err
	}
	x.lo, x.hi = load.Addr, load.Addr+load.Size
	if x.name, _, err = d.header.Name(r, load, protocol.MaxText); err != nil {
		return x, err
	}
	lines, ok := d.lines[load.At]
	if !ok || jitname.IsV8(x.name) {
		return x, nil
	}
	debug, err := d.header.Record(r, lines)
	if err != nil {
		return x, err
	}
	list, err := d.header.Lines(r, &debug)
	for _, l := range list {
		x.lines = append(x.lines, line{l.Addr, jitname.Readable(l.File[:min(len(l.File), protocol.MaxText)]), l.Line})
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
