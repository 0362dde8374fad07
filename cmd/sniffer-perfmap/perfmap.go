package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

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
}

const maxLine = 64 << 10 // bytes of a line; longer ones are skipped

// scan implements [format].
func (p *perfMap) scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, from, size-from), int(min(maxLine, size-from+1)))
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
		lo, hi, _, ok := parseLine(text)
		switch {
		case ok && !part && !p.long:
			records = append(records, code{lo, hi, next})
		case !part:
			p.skipped++
		}
		if len(records) > maxCode {
			return nil, next, errTooMany
		}
		p.long = part
		next += int64(len(text))
	}
	return records, next, nil
}

// describe implements [format].
func (p *perfMap) describe(r io.ReaderAt, at int64) (description, error) {
	text, err := bufio.NewReaderSize(io.NewSectionReader(r, at, maxLine), 256).ReadBytes('\n')
	if err != nil {
		return description{}, fmt.Errorf("line at offset %d: %w", at, err)
	}
	lo, hi, name, ok := parseLine(text)
	if !ok {
		return description{}, fmt.Errorf("line at offset %d: %q is not START SIZE NAME", at, text[:min(len(text), 80)])
	}
	return description{lo: lo, hi: hi, name: string(name)}, nil
}

// parseLine splits a line, with or without its newline.
func parseLine(text []byte) (lo, hi uint64, name []byte, ok bool) {
	text = bytes.TrimRight(text, "\r\n")
	start, text, _ := bytes.Cut(text, []byte{' '})
	size, name, ok := bytes.Cut(text, []byte{' '})
	if !ok {
		return 0, 0, nil, false
	}
	lo, err := strconv.ParseUint(string(bytes.TrimPrefix(start, []byte("0x"))), 16, 64)
	n, err2 := strconv.ParseUint(string(bytes.TrimPrefix(size, []byte("0x"))), 16, 64)
	if err != nil || err2 != nil || n == 0 || lo+n < lo || len(name) == 0 {
		return 0, 0, nil, false
	}
	return lo, lo + n, name[:min(len(name), protocol.MaxText)], true
}
