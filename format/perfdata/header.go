package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// These are sizes and bounds of the parts of a file.
const (
	pipeHeader  = 16      // struct perf_pipe_file_header
	fileHeader  = 104     // struct perf_file_header
	maxEvents   = 1 << 14 // a file has one for each event that the user has asked for
	maxIDs      = 1 << 22 // of all events: one for each thread and processor
	maxSection  = 64 << 20
	featureBits = 256
)

// ErrNotPerf says that a file was not written by perf record.
var ErrNotPerf = errors.New("no file of perf record: it does not begin with PERFILE2")

// errBeyond says that a part of the file is not there.
var errBeyond = errors.New("beyond the end of the file")

// section is struct perf_file_section: a part of the file.
type section struct{ offset, size uint64 }

// order returns the byte order in which a file was written, by its first eight bytes, PERF_MAGIC2.
func order(magic []byte) (binary.ByteOrder, error) {
	switch string(magic[:8]) {
	case "PERFILE2":
		return binary.LittleEndian, nil
	case "2ELIFREP":
		return binary.BigEndian, nil
	}
	return nil, ErrNotPerf
}

// Open reads the headers of a file of size bytes. The file may also be what perf record -o - has
// written to a pipe. The error is [ErrNotPerf], or says which header cannot be read.
func Open(f io.ReaderAt, size int64) (*Reader, error) {
	var b [fileHeader]byte
	n, err := f.ReadAt(b[:], 0)
	if n < pipeHeader {
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrNotPerf
		}
		return nil, err
	}
	o, err := order(b[:])
	if err != nil {
		return nil, err
	}
	switch length := o.Uint64(b[8:]); {
	case length == pipeHeader:
		r, err := Stream(io.NewSectionReader(f, 0, size))
		if err == nil {
			r.small(uint64(size))
		}
		return r, err
	case length < fileHeader || n < fileHeader:
		return nil, fmt.Errorf("the header has %d bytes, of which %d are there; want %d", length, n, fileHeader)
	}
	r := newReader(o)
	at := func(i int) section { return section{o.Uint64(b[i:]), o.Uint64(b[i+8:])} }
	attrs, data := at(24), at(40)
	if err := r.readEvents(f, size, o.Uint64(b[16:]), attrs); err != nil {
		return nil, err
	}
	if data.offset > uint64(size) {
		return nil, fmt.Errorf("the records begin at %#x, and the file ends at %#x", data.offset, size)
	}
	there := uint64(size) - data.offset
	r.Unfinished = data.size == 0 || data.size > there
	if !r.Unfinished {
		there = data.size
		var bits [featureBits / 64]uint64
		for i := range bits {
			bits[i] = o.Uint64(b[72+8*i:])
		}
		err := r.readFeatures(f, size, section{data.offset + data.size, 0}, bits)
		if r.Unfinished = errors.Is(err, errBeyond); err != nil && !r.Unfinished {
			return nil, err
		}
	}
	r.small(there)
	r.in, r.at = io.NewSectionReader(f, int64(data.offset), int64(there)), data.offset
	return r, nil
}

// small says how many bytes there are to be read.
func (r *Reader) small(size uint64) {
	r.pool.size = int(min(max(size, leastChunk), chunkSize))
	r.size = size
	r.most = int(min(leastWaiting+perByte*min(size, maxWaiting), maxWaiting))
}

// Stream reads the stream that perf record writes to a pipe. The error is [ErrNotPerf], or in's.
func Stream(in io.Reader) (*Reader, error) {
	var b [pipeHeader]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = ErrNotPerf
		}
		return nil, err
	}
	o, err := order(b[:])
	if err != nil {
		return nil, err
	}
	if length := o.Uint64(b[8:]); length != pipeHeader {
		return nil, errors.New("a whole perf.data comes through a pipe, in which one cannot go back: give the file's name, or write it by perf record -o -")
	}
	r := newReader(o)
	r.in, r.at = in, pipeHeader
	return r, nil
}

// readSection reads a part of the file whole.
func readSection(f io.ReaderAt, size int64, s section, what string) ([]byte, error) {
	switch {
	case s.size > maxSection:
		return nil, fmt.Errorf("%s: %d bytes are more than the %d that are read", what, s.size, maxSection)
	case s.offset > uint64(size) || s.size > uint64(size)-s.offset:
		return nil, fmt.Errorf("%s: %d bytes at %#x are %w, %#x", what, s.size, s.offset, errBeyond, size)
	}
	b, err := elffile.ReadPart(elffile.Solid(f), int64(s.offset), s.size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// readEvents reads the descriptions of the events, each of length bytes, with the places of their
// IDs.
func (r *Reader) readEvents(f io.ReaderAt, size int64, length uint64, at section) error {
	if length < leastAttr+16 || length > mostAttr {
		return fmt.Errorf("events: each description has %d bytes, want %d to %d", length, leastAttr+16, mostAttr)
	}
	b, err := readSection(f, size, at, "events")
	if err != nil {
		return err
	}
	n := uint64(len(b)) / length
	if n == 0 || n > maxEvents {
		return fmt.Errorf("events: there are %d, want 1 to %d", n, maxEvents)
	}
	for i := range n {
		one := b[i*length : (i+1)*length]
		e, err := readAttr(one[:length-16], r.Order)
		if err != nil {
			return err
		}
		ids, err := readSection(f, size, section{r.Order.Uint64(one[length-16:]), r.Order.Uint64(one[length-8:])}, "events' IDs")
		if err != nil {
			return err
		}
		if err := r.addEvent(e, ids); err != nil {
			return err
		}
	}
	return nil
}

// addEvent adds an event with its IDs.
func (r *Reader) addEvent(e *Event, ids []byte) error {
	if r.idCount += len(ids) / 8; len(r.Events) >= maxEvents || r.idCount > maxIDs {
		return fmt.Errorf("events: there are more than %d, or they have more than %d IDs", maxEvents, maxIDs)
	}
	e.index, e.known = uint16(len(r.Events)), len(ids) >= 8
	r.Events = append(r.Events, e)
	for ; len(ids) >= 8; ids = ids[8:] {
		r.ids[r.Order.Uint64(ids)] = e
	}
	return nil
}
