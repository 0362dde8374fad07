package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// perfMap is the format of /tmp/perf-PID.map (Linux's
// tools/perf/Documentation/jit-interface.txt): lines of
//
//	START SIZE NAME
//
// with START and SIZE in hexadecimal. A line may be of code that replaces older code.
type perfMap struct {
	skipped int  // lines that are not of that form
	long    bool // the line at which to read on is too long
	zeros   int  // bytes before the place at which to read on, where that is in a line which is too long
}

// scan implements [format].
func (p *perfMap) scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, from, size-from), int(min(perfmap.MaxLine, size-from+1)))
	next = from
	for n := 1; n%1024 != 0 || until(); n++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break // its end is not written yet
		}
		part := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !part {
			return records, next, fmt.Errorf("offset %d: %w", next, err)
		}
		lo, hi, _, ok := perfmap.Line(text)
		switch {
		case ok && !part && !p.long:
			records = append(records, code{lo, hi, next})
		case !part:
			p.skipped++
		}
		if len(records) > maxCode {
			return nil, next, errTooMany
		}
		if p.zeros += len(text); !part || bytes.Count(text, []byte{0}) < len(text) {
			p.zeros = 0
		}
		if p.zeros >= elffile.HoleSize {
			return records, next, fmt.Errorf("offset %d: %w", next, elffile.ErrHole)
		}
		p.long = part
		next += int64(len(text))
	}
	return records, next, nil
}

// describe implements [format].
func (p *perfMap) describe(r io.ReaderAt, at int64) (description, error) {
	text, err := bufio.NewReaderSize(io.NewSectionReader(r, at, perfmap.MaxLine), 256).ReadBytes('\n')
	if err != nil {
		return description{}, fmt.Errorf("line at offset %d: %w", at, err)
	}
	lo, hi, name, ok := perfmap.Line(text)
	if !ok {
		return description{}, fmt.Errorf("line at offset %d: %q is not START SIZE NAME", at, text[:min(len(text), 80)])
	}
	return description{lo: lo, hi: hi, name: string(name[:min(len(name), protocol.MaxText)])}, nil
}
