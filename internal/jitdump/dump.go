package jitdump

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Bounds on what a process can make of its file.
const (
	maxCodes   = 1 << 20 // pieces of code
	maxPending = 1 << 16 // lines of code that is still to come
	maxPages   = 1 << 19 // of all code together
	maxListed  = 1 << 22 // pages, each with each piece of code that it has
	maxMoved   = 1 << 4  // pages of code that was moved; larger code is searched for
	maxLoaded  = 1 << 8  // pages of code that was loaded: a record may be of a hole
	maxLarge   = 1 << 10 // pieces of code that is searched for
	maxLooked  = 1 << 12 // pieces of code in a page that are looked at for one address, the last first
	maxFound   = 1 << 16 // addresses whose code is kept at hand
	maxSize    = 1 << 30 // of one piece, bytes
	pageBits   = 12
)

// Errors of a file that cannot be read further.
var (
	ErrMachine = errors.New("it is of another processor")
	errTooMany = fmt.Errorf("it has more than %d pieces of code: the others are left out", maxCodes)
	errShorter = errors.New("it is shorter than it was")
)

// Dump is the part of a file that was read, by addresses and times.
type Dump struct {
	r       window
	machine uint32
	header  Header
	next    int64 // where to read on; 0 before the header
	last    uint64
	err     error

	codes   []Code
	loads   map[uint64]uint32   // the index in codes of the last Load of a number
	pages   map[uint64][]uint32 // the indices of the code that a page has, in the order of the file
	listed  int                 // indices in pages
	large   []uint32            // the indices of code that is in no page
	found   map[uint64]found    // by address, until there is more code
	lines   map[uint64]int64    // the places of lines of code that is still to come, by its address
	unwinds int64               // the place of the unwind table of the code that is still to come; 0 for none
}

// Code is a piece of code, from a time on. Two pieces of one file are never equal.
type Code struct {
	Lo, Hi uint64
	Time   uint64 // nanoseconds of CLOCK_MONOTONIC; 0 if it is not known

	first   uint64 // where it was loaded
	load    int64  // the places of its records
	lines   int64  // 0 for none
	unwinds int64  // 0 for none
}

// New returns a Dump of a file, of which nothing was read yet. machine is ELF's number of the
// processor of the process.
func New(r io.ReaderAt, machine uint16) *Dump {
	return &Dump{
		r: window{r: r}, machine: uint32(machine), loads: map[uint64]uint32{}, pages: map[uint64][]uint32{},
		lines: map[uint64]int64{}, found: map[uint64]found{},
	}
}

// Last returns the time of the last record that was read: code of an earlier time is all known.
func (d *Dump) Last() uint64 { return d.last }

// Read reads what there is of a file of size bytes, most records at most. It returns how many it
// has read; fewer than most if there are no more. An error is final: what was read before stays.
func (d *Dump) Read(size int64, most int) (records int, err error) {
	if d.err != nil || size == d.next {
		return 0, d.err
	}
	d.r.forget() // the file may have grown in the window
	records, d.err = d.read(size, most)
	return records, d.err
}

func (d *Dump) read(size int64, most int) (records int, err error) {
	if size < d.next {
		return 0, errShorter
	}
	if d.next == 0 {
		if size < HeaderSize {
			return 0, nil
		}
		if d.header, err = ReadHeader(&d.r); err != nil {
			return 0, err
		}
		if d.header.Machine != d.machine {
			return 0, fmt.Errorf("%w: ELF machine %d, the process's is %d", ErrMachine, d.header.Machine, d.machine)
		}
		d.next = d.header.Length
	}
	for records < most {
		x, err := d.header.Record(&d.r, d.next)
		if x.Length > size-d.next || errors.Is(err, io.EOF) {
			break // the rest is not written yet
		}
		if err != nil {
			return records, err
		}
		if err := d.take(&x); err != nil {
			return records, err
		}
		d.next += x.Length
		records++
	}
	return records, nil
}

// take takes in a record.
func (d *Dump) take(x *Record) error {
	d.last = max(d.last, x.Time)
	c := Code{Lo: x.Addr, Time: x.Time, first: x.Addr, load: x.At}
	if d.header.ArchTime {
		c.Time = 0
	}
	end, ok := x.End()
	ok = ok && x.Size <= maxSize
	c.Hi = end
	switch x.Kind {
	case Load:
		c.lines, c.unwinds = d.lines[x.Addr], d.unwinds
		delete(d.lines, x.Addr)
		d.unwinds = 0
		if ok {
			d.loads[x.Number] = uint32(len(d.codes))
		}
	case Move:
		i, loaded := d.loads[x.Number]
		if ok = ok && loaded; ok {
			of := &d.codes[i]
			c.first, c.load, c.lines, c.unwinds = of.first, of.load, of.lines, of.unwinds
		}
	case Debug:
		if len(d.lines) < maxPending {
			d.lines[x.Addr] = x.At
		}
		return nil
	case Unwinding:
		if d.unwinds = 0; x.Size > x.Header {
			d.unwinds = x.At
		}
		return nil
	}
	if !ok || x.Kind > Move {
		return nil
	}
	if len(d.codes) >= maxCodes {
		return errTooMany
	}
	index := uint32(len(d.codes))
	first, last := c.Lo>>pageBits, (c.Hi-1)>>pageBits
	most := uint64(maxMoved)
	if x.Kind == Load { // it has its code
		most = min(uint64(x.Length)>>pageBits+2, maxLoaded)
	}
	if len(d.found) > 0 {
		clear(d.found)
	}
	switch {
	case last-first < most && len(d.pages) < maxPages && d.listed < maxListed:
		d.listed += int(last - first + 1)
		for page := first; page <= last; page++ {
			d.pages[page] = append(d.pages[page], index)
		}
	case len(d.large) < maxLarge:
		d.large = append(d.large, index)
	default:
		return nil
	}
	d.codes = append(d.codes, c)
	return nil
}

// found is what [Dump.Find] has found: the index of the code, or -1, from a time on to before
// another one.
type found struct {
	index       int
	from, until uint64
}

// Find returns the code that an address had at a time, nanoseconds of CLOCK_MONOTONIC.
func (d *Dump) Find(addr, time uint64) (c Code, ok bool) {
	f, ok := d.found[addr]
	if !ok || time < f.from || time >= f.until {
		f = d.find(addr, time)
		if len(d.found) >= maxFound {
			clear(d.found)
		}
		d.found[addr] = f
	}
	if f.index < 0 {
		return Code{}, false
	}
	return d.codes[f.index], true
}

func (d *Dump) find(addr, time uint64) found {
	best := found{index: -1, until: math.MaxUint64}
	for _, list := range [...][]uint32{d.pages[addr>>pageBits], d.large} {
		for looked, i := range slices.Backward(list) {
			if int(i) <= best.index || len(list)-looked > maxLooked {
				break
			}
			c := &d.codes[i]
			switch {
			case addr < c.Lo || addr >= c.Hi:
			case c.Time <= time:
				best.index, best.from = int(i), max(best.from, c.Time)
			default:
				best.until = min(best.until, c.Time)
			}
		}
	}
	return best
}

// window reads a file in larger pieces.
type window struct {
	r    io.ReaderAt
	at   int64
	data []byte
}

const windowSize = 64 << 10

func (w *window) forget() { w.data = w.data[:0] }

// ReadAt implements [io.ReaderAt].
func (w *window) ReadAt(p []byte, at int64) (n int, err error) {
	if off := at - w.at; off < 0 || off+int64(len(p)) > int64(len(w.data)) {
		if len(p) > windowSize {
			return w.r.ReadAt(p, at)
		}
		if cap(w.data) == 0 {
			w.data = make([]byte, windowSize)
		}
		n, err = w.r.ReadAt(w.data[:windowSize], at)
		w.at, w.data = at, w.data[:n]
	}
	if n = copy(p, w.data[at-w.at:]); n == len(p) {
		return n, nil
	}
	if err == nil {
		err = io.EOF
	}
	return n, err
}
