package kernelnames

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// listFile is the kernel's own list of its symbols.
const listFile = "/proc/kallsyms"

// Running returns the functions of the kernel that runs which hold addresses, from /proc/kallsyms.
// For users without privileges, all addresses there are 0: then no function has a name.
func Running(addrs []uint64) map[uint64]string { return running(listFile, addrs) }

func running(list string, addrs []uint64) map[uint64]string {
	if len(addrs) == 0 {
		return nil
	}
	f, err := os.Open(list)
	if err != nil {
		return nil
	}
	defer f.Close()
	return Read(f, addrs)
}

// Read returns the functions of a list that hold addresses. It reads lines of an address, a type
// and a name. Of the symbols at or below an address, the highest counts. There are hundreds of
// thousands, so only those are kept that may be it. The kernel's own symbols come first and ascend
// (scripts/kallsyms.c), then its modules' symbols, which are elsewhere: so once one of its own is
// above all addresses, nothing that follows is asked for. The kernel takes longer to write the
// lines than this takes to read them.
func Read(r io.Reader, addrs []uint64) map[uint64]string {
	addrs = slices.Clone(addrs)
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	type symbol struct {
		addr uint64
		name string
	}
	next := make([]symbol, len(addrs)) // the highest symbol for which addrs[i] is the first address at or above it
	in := bufio.NewReaderSize(r, 64<<10)
	ascend := true
	var last uint64
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && (len(line) == 0 || errors.Is(err, bufio.ErrBufferFull)) { // a hole may have lines without end
			break
		}
		addr, function, ok := parse(line)
		if !ok || addr == 0 {
			continue
		}
		if ascend = ascend && addr >= last; ascend && last > addrs[len(addrs)-1] {
			break
		}
		last = addr
		if function == nil {
			continue
		}
		i, _ := slices.BinarySearch(addrs, addr)
		if i == len(addrs) || next[i].addr >= addr {
			continue
		}
		name, _, _ := bytes.Cut(function, []byte{'\t'}) // the module's name follows
		next[i] = symbol{addr, string(name)}
	}
	names := make(map[uint64]string, len(addrs))
	var best symbol
	for i, addr := range addrs {
		if next[i].addr > best.addr {
			best = next[i]
		}
		names[addr] = best.name
	}
	return names
}

// parse reads a line. function is its name, with its module's if it is of one; nil if the line is
// of no function.
func parse(line []byte) (addr uint64, function []byte, ok bool) {
	addr, rest, ok := address(line)
	if !ok || len(rest) < 3 || rest[1] != ' ' || strings.IndexByte("tTwW", rest[0]) < 0 {
		return addr, nil, ok
	}
	return addr, bytes.TrimSuffix(rest[2:], []byte{'\n'}), true
}

// address reads the hexadecimal number that a line begins with, and the space behind it.
func address(line []byte) (addr uint64, rest []byte, ok bool) {
	for i, c := range line {
		switch {
		case c == ' ':
			return addr, line[i+1:], i > 0
		case i == 16:
			return 0, nil, false
		case '0' <= c && c <= '9':
			addr = addr<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			addr = addr<<4 | uint64(c-'a'+10)
		default:
			return 0, nil, false
		}
	}
	return 0, nil, false
}
