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

// The process writes its files, and may write anything. These bound what that costs.
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

// A format is how a JIT writes down what code it has made.
type format interface {
	// scan reads records from offset from on, as long as until allows. It returns the
	// code that they describe, in order, and the offset of the first record that has
	// not been read. What follows may be half written.
	scan(r io.ReaderAt, from, size int64, until func() bool) (records []code, next int64, err error)
	// describe reads a record again.
	describe(r io.ReaderAt, at int64) (description, error)
}

// description is what a record says.
type description struct {
	lo, hi uint64
	name   string
	lines  []line // ascending; may be empty
}

// line is where in the source the code from an address on comes from.
type line struct {
	addr   uint64
	file   string
	number int
}

// file is what of *os.File is needed.
type file interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// listing is a file that a JIT writes, as far as it has been read. It is safe for
// concurrent use.
type listing struct {
	path   string // as the process names it
	file   file
	format func() format

	mu    sync.Mutex
	state format
	next  int64 // offset to read on from
	index index
	err   error // it cannot be read further
}

// update reads what the file has gained, for as long as that. [errNotYet] says that there
// is more.
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

// same reports whether the two are of one file.
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

// gap returns the range around an address that the listing says nothing of.
func (l *listing) gap(addr uint64) (lo, hi uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.index.gap(addr)
}

// describe reads what the file says of c.
func (l *listing) describe(c code) (description, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, err := l.state.describe(l.file, c.at)
	if err == nil && (c.lo < d.lo || c.hi > d.hi) {
		err = fmt.Errorf("%s: the record at offset %d is another one now", l.path, c.at)
	}
	return d, err
}
