package record

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/interval"
	"github.com/sfwalk/sfwalk/internal/kernelnames"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// kernelMaps knows what a recording tells of the kernel: where it and its modules were, and the
// names of code that it has made.
type kernelMaps struct {
	places Places
	ids    []perfdata.BuildID // when the recording was read
	own    bool
	list   []kernelMap
	jit    []kernelMap // of the last to the first
	bytes  int         // of the names in both
	full   bool        // a name was left out
	warn   func(format string, args ...any)
	symbol string // the symbol whose address the recording has, so that another start of the same kernel has names, too
	at     uint64
}

// kernelMap is the kernel, one of its modules, or a function that it has compiled.
type kernelMap struct {
	lo, hi uint64
	name   string
}

// These bound the modules, and the functions, of one kernel, and the bytes of their names.
const (
	maxKernelMaps  = 1 << 16
	maxKernelNames = 8 << 20
)

// mayName reports whether there is room for one more name beside n others of its kind, and counts
// it. The first that has none is said.
func (k *kernelMaps) mayName(name string, n int) bool {
	if n < maxKernelMaps && k.bytes+len(name) <= maxKernelNames {
		k.bytes += len(name)
		return true
	}
	if !k.full {
		k.full = true
		k.warn("the kernel's modules, or the functions that it has compiled, are more than %d, or have more than %d MiB of names: code of further ones has no names, or names of older code", maxKernelMaps, maxKernelNames>>20)
	}
	return false
}

// mapped notes a record of what the kernel has mapped.
func (k *kernelMaps) mapped(m *perfevent.Mmap) {
	if m.Size == 0 || m.Addr+m.Size < m.Addr {
		return
	}
	if symbol, ok := strings.CutPrefix(m.Path, kernelName); ok {
		k.symbol, k.at = symbol, m.Offset
		return
	}
	name := path.Base(m.Path)
	for _, suffix := range []string{".xz", ".zst", ".gz", ".ko"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name = strings.Clone(strings.Trim(name, "[]")); k.mayName(name, len(k.list)) {
		k.list = append(k.list, kernelMap{m.Addr, m.Addr + m.Size, name})
	}
}

// kernelName is the kernel's path in recordings.
const kernelName = "[kernel.kallsyms]"

// compiled notes the name of a function that the kernel has compiled, such as one of BPF's.
func (k *kernelMaps) compiled(s *perfevent.Ksymbol) {
	if !s.Gone && s.Size != 0 && s.Addr+uint64(s.Size) > s.Addr && k.mayName(s.Name, len(k.jit)) {
		k.jit = append(k.jit, kernelMap{s.Addr, s.Addr + uint64(s.Size), s.Name})
	}
}

// names returns the names of the kernel's functions that hold addresses; of a module whose
// functions are not known, its name and where in it the address is.
func (k *kernelMaps) names(addrs []uint64) map[uint64]string {
	list := slices.Clone(k.list)
	slices.SortStableFunc(list, func(a, b kernelMap) int { return cmp.Compare(a.lo, b.lo) })
	names := make(map[uint64]string, len(addrs))
	var own []uint64
	jitted := k.jitAt(addrs)
	for _, addr := range addrs {
		if name, ok := jitted[addr]; ok {
			names[addr] = name
			continue
		}
		i, _ := slices.BinarySearchFunc(list, addr, func(m kernelMap, addr uint64) int {
			if m.lo <= addr {
				return -1
			}
			return 1
		})
		if i--; i >= 0 && addr < list[i].hi {
			names[addr] = fmt.Sprintf("%s+%#x", list[i].name, addr-list[i].lo)
			continue
		}
		own = append(own, addr)
	}
	if len(own) == 0 {
		return names
	}
	f, shift := k.open()
	if f == nil {
		k.fromImage(own, names)
		return names
	}
	defer f.Close()
	for i := range own {
		own[i] -= shift
	}
	for addr, name := range kernelnames.Read(f, own) {
		names[addr+shift] = name
	}
	return names
}

// jitAt returns the names of those addresses that are in functions which the kernel has compiled,
// of several the first. Each address is named once, however many functions have it.
func (k *kernelMaps) jitAt(addrs []uint64) map[uint64]string {
	free := interval.NewClaims(addrs)
	names := map[uint64]string{}
	for _, m := range k.jit {
		for addr := range free.Claim(m.lo, m.hi) {
			names[addr] = m.name
		}
	}
	return names
}

// id returns the kernel's build ID; "" if it is not known.
func (k *kernelMaps) id() (id string) {
	for _, b := range k.ids {
		if b.Kernel && strings.HasPrefix(b.Path, kernelName) {
			id = b.ID
		}
	}
	return id
}

// fromImage adds names of the kernel's functions that hold addresses, from vmlinux, the program
// that the kernel is, or from its debug file.
func (k *kernelMaps) fromImage(addrs []uint64, names map[uint64]string) {
	id := k.id()
	if len(id) < 3 {
		return
	}
	list := k.places.byBuildID(id, "vmlinux", "elf")
	for _, dir := range k.places.DebugDirs {
		list = append(list, regular.At{Path: filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")})
	}
	for _, at := range list {
		if k.named(at, id, addrs, names) {
			return
		}
	}
}

// named adds names from a file, and reports whether it is the kernel that was recorded.
func (k *kernelMaps) named(at regular.At, id string, addrs []uint64, names map[uint64]string) bool {
	im, f, err := elf.OpenFileIn(at.Root, at.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	if im.BuildID != id {
		return false
	}
	shift := uint64(0)
	if k.symbol != "" {
		found := im.Lookup(k.symbol, 1)
		if len(found) == 0 {
			return false
		}
		shift = k.at - found[0].Addr
	}
	functions := im.Symbols()
	for _, addr := range addrs {
		if s, ok := functions.Find(addr - shift); ok {
			names[addr] = functions.Name(s)
		}
	}
	return functions.Len() > 0
}

// open opens the kernel's list of symbols, of the build that was recorded. shift is how much
// further up its code was.
func (k *kernelMaps) open() (f *os.File, shift uint64) {
	id := k.id()
	var candidates []string
	for _, dir := range k.places.Caches {
		if id != "" {
			candidates = append(candidates, filepath.Join(dir, kernelName, id, "kallsyms"), filepath.Join(dir, ".build-id", id[:2], id[2:], "kallsyms"))
		}
	}
	for _, name := range candidates {
		if f, err := regular.Open(name); err == nil {
			if shift, ok := k.shift(f); ok {
				return f, shift
			}
			f.Close()
		}
	}
	if id == "" && !k.own || id != "" && runningKernel() != id {
		return nil, 0
	}
	if f, err := os.Open("/proc/kallsyms"); err == nil {
		if shift, ok := k.shift(f); ok {
			return f, shift
		}
		f.Close()
	}
	return nil, 0
}

// shift finds out how much further up the kernel's code was when it was recorded, and goes back to
// the beginning of f.
func (k *kernelMaps) shift(f *os.File) (shift uint64, ok bool) {
	if k.symbol == "" {
		return 0, true
	}
	at := symbolAddress(f, k.symbol)
	if _, err := f.Seek(0, 0); err != nil || at == 0 {
		return 0, false
	}
	return k.at - at, true
}

// runningKernel returns the build ID of the kernel that runs; "" if it does not tell.
func runningKernel() string {
	notes, err := os.ReadFile("/sys/kernel/notes")
	if err != nil {
		return ""
	}
	return elf.BuildID(notes, binary.NativeEndian, 4)
}

// symbolAddress returns the address of a symbol of a list as /proc/kallsyms has it; 0 if it is not
// there.
func symbolAddress(r io.Reader, name string) uint64 {
	in := bufio.NewScanner(r)
	for in.Scan() {
		if fields := strings.Fields(in.Text()); len(fields) == 3 && fields[2] == name {
			addr, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil {
				return 0
			}
			return addr
		}
	}
	return 0
}
