package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// The process may write anything to its files. These bound what that costs.
const (
	maxFile = 256 << 20 // bytes of a file
	maxCode = 4 << 20   // functions

	// How long a file is read at a time: the host waits for five seconds when it begins
	// with a process, and for a quarter of one when it has asked a question.
	firstReading = 2 * time.Second
	laterReading = 50 * time.Millisecond
)

// Errors of [listing.update].
var (
	errTooLarge = errors.New("it is larger than 256 MiB")
	errTooMany  = errors.New("it lists more than four million functions")
	errNotYet   = errors.New("it has not been read to its end yet")
)

// format is a file format by which a JIT lists its code.
type format interface {
	// scan reads records from offset from on, as long as until allows. It returns the
	// code that they describe, in order, and the offset of the first record that it has
	// not read. That record may be half written.
	scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error)
	// describe reads a record again.
	describe(r io.ReaderAt, at int64) (description, error)
}

// description is the contents of a record.
type description struct {
	lo, hi uint64
	name   string
	lines  []line // ascending; may be empty
}

// line is the place in the source of the code from an address on.
type line struct {
	addr   uint64
	file   string
	number int
}

// file is the part of *os.File that a listing needs.
type file interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// listing is the part of a JIT's file that was read. It is safe for concurrent use.
type listing struct {
	path   string // as the process names it
	file   file
	format func() format

	mu    sync.Mutex
	state format
	next  int64 // offset to read on from
	index index
	err   error // why it cannot be read further
}

// update reads the records that were added to the file, for a bounded time. It returns [errNotYet]
// if there are more.
func (l *listing) update(most time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if l.state == nil || size < l.next { // it has been written anew
		l.state, l.next, l.index, l.err = l.format(), 0, nil, nil
	}
	switch {
	case l.err != nil || size == l.next:
		return l.err
	case size > maxFile:
		l.err, l.index = fmt.Errorf("%s: %w", l.path, errTooLarge), nil
		return l.err
	}
	end, early := time.Now().Add(most), false
	records, next, err := l.state.scan(l.file, l.next, size, func() bool {
		early = time.Now().After(end)
		return !early
	})
	l.index, l.next = overlay(l.index, flatten(records)), next
	switch {
	case err != nil:
		l.err = fmt.Errorf("%s: %w", l.path, err)
	case len(l.index) > maxCode:
		l.err, l.index = fmt.Errorf("%s: %w", l.path, errTooMany), nil
	case early:
		return fmt.Errorf("%s: %w", l.path, errNotYet)
	}
	return l.err
}

// same reports whether two listings are of one file.
func (l *listing) same(other *listing) bool {
	a, err := l.file.Stat()
	b, err2 := other.file.Stat()
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// find returns the code around an address.
func (l *listing) find(addr uint64) (code, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.index.find(addr)
}

// gap returns the range around an address that has no code in the listing.
func (l *listing) gap(addr uint64) (lo, hi uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.index.gap(addr)
}

// describe reads the record of c.
func (l *listing) describe(c code) (description, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, err := l.state.describe(l.file, c.at)
	if err == nil && (c.lo < d.lo || c.hi > d.hi) {
		err = fmt.Errorf("%s: the record at offset %d is another one now", l.path, c.at)
	}
	return d, err
}
