package record

import (
	"bufio"
	"bytes"
	"os"
	"sort"
	"strconv"
)

// kernelSymbols are the functions of the kernel that runs, from /proc/kallsyms. They are read when a name is first asked for.
// For users without privileges, all addresses there are 0: then no function has a name.
type kernelSymbols struct {
	read  bool
	addrs []uint64
	names []string
}

// name returns the function that holds addr; "" if it is not known.
func (k *kernelSymbols) name(addr uint64) string {
	if !k.read {
		k.read = true
		k.load("/proc/kallsyms")
	}
	i := sort.Search(len(k.addrs), func(i int) bool { return k.addrs[i] > addr })
	if i == 0 {
		return ""
	}
	return k.names[i-1]
}

func (k *kernelSymbols) load(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) < 3 || len(fields[1]) != 1 || !bytes.ContainsAny(fields[1], "tTwW") {
			continue
		}
		addr, err := strconv.ParseUint(string(fields[0]), 16, 64)
		if err != nil || addr == 0 {
			continue
		}
		k.addrs, k.names = append(k.addrs, addr), append(k.names, string(fields[2]))
	}
	sort.Sort(k)
}

func (k *kernelSymbols) Len() int           { return len(k.addrs) }
func (k *kernelSymbols) Less(i, j int) bool { return k.addrs[i] < k.addrs[j] }
func (k *kernelSymbols) Swap(i, j int) {
	k.addrs[i], k.addrs[j] = k.addrs[j], k.addrs[i]
	k.names[i], k.names[j] = k.names[j], k.names[i]
}
