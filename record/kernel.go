package record

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
)

// kernelNames returns the functions of the kernel that runs which hold addresses, from /proc/kallsyms. For users without privileges, all
// addresses there are 0: then no function has a name.
func kernelNames(addrs []uint64) map[uint64]string {
	if len(addrs) == 0 {
		return nil
	}
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil
	}
	defer f.Close()
	return readKernelNames(f, addrs)
}

// readKernelNames reads lines of an address, a type and a name, in any order. Of the symbols at or below an address, the highest counts. There
// are hundreds of thousands, so only those are kept that may be it.
func readKernelNames(r io.Reader, addrs []uint64) map[uint64]string {
	addrs = slices.Clone(addrs)
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	type symbol struct {
		addr uint64
		name string
	}
	next := make([]symbol, len(addrs)) // the highest of those that have addrs[i] as the first address at or above them
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && len(line) == 0 {
			break
		}
		text, rest, ok := bytes.Cut(line, []byte{' '})
		if !ok || len(rest) < 3 || rest[1] != ' ' || bytes.IndexByte([]byte("tTwW"), rest[0]) < 0 {
			continue
		}
		addr, bad := strconv.ParseUint(string(text), 16, 64)
		if bad != nil || addr == 0 {
			continue
		}
		i, _ := slices.BinarySearch(addrs, addr)
		if i == len(addrs) || next[i].addr >= addr {
			continue
		}
		name := rest[2:]
		if end := bytes.IndexAny(name, "\t\n "); end >= 0 { // the module's name follows
			name = name[:end]
		}
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
