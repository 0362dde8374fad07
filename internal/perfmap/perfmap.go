// Package perfmap reads the names that compilers at run time give their code for Linux's perf, in /tmp/perf-PID.map
// (tools/perf/Documentation/jit-interface.txt): lines of START SIZE NAME, the numbers in hexadecimal. A line may be of code
// that replaces older code.
package perfmap

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
)

// MaxLine is how long a line may be, in bytes; longer ones are skipped.
const MaxLine = 64 << 10

// Line splits a line, with or without its newline: name is of the code from lo on to below hi.
func Line(text []byte) (lo, hi uint64, name []byte, ok bool) {
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
	return lo, lo + n, name, true
}

// maxNames bounds the lines of a Map, and maxName the bytes of a name.
const (
	maxNames = 1 << 20
	maxName  = 1 << 10
)

// Map has the names of a process's code.
type Map struct{ list []named }

type named struct {
	lo, hi uint64
	line   int
	name   string
}

// Read reads a whole map. Lines of another form, and what is beyond a million lines, are left out.
func Read(r io.Reader) (*Map, error) {
	m := &Map{}
	in := bufio.NewReaderSize(r, MaxLine)
	part := false // of a line that is too long
	for len(m.list) < maxNames {
		text, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			part = true
			continue
		}
		if lo, hi, name, ok := Line(text); ok && !part && err == nil {
			m.list = append(m.list, named{lo, hi, len(m.list), string(name[:min(len(name), maxName)])})
		}
		part = false
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(m.list, func(a, b named) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.line, b.line)) })
	return m, nil
}

// maxBefore bounds how many lines before an address are looked at: code that begins earlier may overlap later code.
const maxBefore = 64

// Name returns the name of the code at an address: that of the last line which has it; "" if none has.
func (m *Map) Name(addr uint64) (name string) {
	end, _ := slices.BinarySearchFunc(m.list, addr, func(x named, addr uint64) int {
		if x.lo <= addr {
			return -1
		}
		return 1
	})
	last := -1
	for i := end - 1; i >= max(0, end-maxBefore); i-- {
		if x := &m.list[i]; addr < x.hi && x.line > last {
			last, name = x.line, x.name
		}
	}
	return name
}
