package kernelnames

import (
	"bufio"
	"bytes"
	"sort"
)

// table has the lines of the kernel's own functions, as the list has them: their addresses ascend.
// The first lines have the address of _stext, the last line has the address of _etext. Modules, and
// what else comes and goes, are outside of these two.
type table []byte

const (
	firstName = "_stext"
	lastName  = "_etext"
	// maxTable bounds a table, bytes. Kernels have 5 to 10 MiB.
	maxTable = 64 << 20
)

// list reads a list from its beginning.
type list struct {
	in    *bufio.Reader
	lines table
	last  uint64 // the address of the last line
	group int    // where the lines of the last address begin
}

// to reads up to the line of a name, and reports whether it is there and all before it is as a
// table has it.
func (l *list) to(name string) bool {
	for {
		line, err := l.in.ReadSlice('\n')
		if err != nil {
			return false
		}
		addr, rest, ok := address(line)
		if !ok || addr < l.last || len(rest) < 3 || bytes.IndexByte(rest, '\t') >= 0 || len(l.lines)+len(line) > maxTable {
			return false
		}
		if addr != l.last {
			l.group = len(l.lines)
		}
		l.last = addr
		_, function, _ := parse(line)
		found := string(bytes.TrimSuffix(rest[2:], []byte{'\n'})) == name
		if function != nil || found {
			l.lines = append(l.lines, line...)
		}
		if found {
			return addr != 0 // all addresses are 0 for users without privileges
		}
	}
}

// begin reads up to _stext, and leaves out what is before its address.
func (l *list) begin() bool {
	if !l.to(firstName) {
		return false
	}
	l.lines = l.lines[l.group:]
	return true
}

// name returns the function that holds an address. Of several at one address, the first counts, as
// for [Read]. ok is false where the table does not tell.
func (t table) name(addr uint64) (name string, ok bool) {
	behind := t.find(func(at uint64) bool { return at > addr })
	if behind == 0 || behind == len(t) {
		return "", false
	}
	of := t.address(behind - 1)
	line := t[t.find(func(at uint64) bool { return at >= of }):]
	line, _, _ = bytes.Cut(line, []byte{'\n'})
	_, function, _ := parse(line)
	return string(function), function != nil
}

// find returns where the first line begins whose address is as is says. The addresses of all lines
// that follow are so, too.
func (t table) find(is func(addr uint64) bool) int {
	return sort.Search(len(t), func(i int) bool { return is(t.address(i)) })
}

// address returns the address of the line that has the byte at i.
func (t table) address(i int) uint64 {
	addr, _, _ := address(t[bytes.LastIndexByte(t[:i], '\n')+1:])
	return addr
}
