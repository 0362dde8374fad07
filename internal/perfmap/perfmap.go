// Package perfmap reads the names that compilers at run time give their code for Linux's perf, in
// /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt): lines of START SIZE NAME, the
// numbers in hexadecimal. A line may be of code that replaces older code.
package perfmap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/interval"
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

const (
	maxName = 1 << 10     // bytes of a name
	maxFile = 1 << 30     // bytes that are read
	maxHits = 1 << 18     // lines that are kept until it is known which count
	maxHead = 2 * maxName // bytes of a line that are read for its name, unless it is longer
)

var errLarge = fmt.Errorf("it is larger than %d MiB: the names behind are left out", maxFile>>20)

// hit is a line of code that has one of the addresses.
type hit struct {
	lo, hi uint64
	at     int64
}

// Names returns the names of the code at addresses, by a map of size bytes: of several lines that
// have an address, the last counts. It reads the map once, and keeps no more of it than the
// addresses need. Lines of another form are left out. The error says why a part of the map is left
// out, which may be a hole; names that were found come with it.
func Names(r io.ReaderAt, size int64, addrs []uint64) (names map[uint64]string, err error) {
	if size > maxFile {
		size, err = maxFile, errLarge
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(elffile.Solid(r), 0, size), 2*elffile.HoleSize)
	all := interval.NewClaims(addrs)
	var hits []hit
	for at := int64(0); ; {
		text, failed := lines.ReadSlice('\n')
		n := int64(len(text))
		for failed == bufio.ErrBufferFull {
			text, failed = lines.ReadSlice('\n')
			n += int64(len(text))
		}
		if lo, hi, _, ok := Line(text); ok && failed == nil && n <= MaxLine && all.Has(lo, hi) {
			if hits = append(hits, hit{lo, hi, at}); len(hits) >= maxHits {
				rest, _ := lastOf(hits, addrs)
				hits = append(hits[:0], rest...)
			}
		}
		if at += n; failed == io.EOF {
			break
		} else if failed != nil {
			err = failed
			break
		}
	}
	_, last := lastOf(hits, addrs)
	names = make(map[uint64]string, len(last))
	for addr, at := range last {
		if name := nameAt(r, at); name != "" {
			names[addr] = name
		}
	}
	return names, err
}

// lastOf returns those lines which are the last of an address, and where they are.
func lastOf(hits []hit, addrs []uint64) (rest []hit, last map[uint64]int64) {
	last = map[uint64]int64{}
	claims := interval.NewClaims(addrs)
	for _, h := range slices.Backward(hits) {
		before := len(last)
		for addr := range claims.Claim(h.lo, h.hi) {
			last[addr] = h.at
		}
		if len(last) > before {
			rest = append(rest, h)
		}
	}
	slices.Reverse(rest)
	return rest, last
}

// nameAt returns the name of the line at an offset; "" if there is another one by now.
func nameAt(r io.ReaderAt, at int64) string {
	_, _, name := lineAt(r, at)
	return name
}

// lineAt reads the line at an offset; name is "" if there is none.
func lineAt(r io.ReaderAt, at int64) (lo, hi uint64, name string) {
	for _, most := range [...]int{maxHead, MaxLine} {
		line := make([]byte, most)
		n, _ := r.ReadAt(line, at)
		text, _, whole := bytes.Cut(line[:n], []byte{'\n'})
		if !whole {
			continue
		}
		lo, hi, name, _ := Line(text)
		return lo, hi, string(name[:min(len(name), maxName)])
	}
	return 0, 0, ""
}
