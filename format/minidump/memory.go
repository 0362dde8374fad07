package minidump

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Range is a range of the process's addresses, and where the file has its bytes.
type Range struct {
	Lo uint64
	Location
}

// Region is a range of the process's addresses, as the system describes it (MINIDUMP_MEMORY_INFO).
type Region struct {
	Lo, Size   uint64
	State      uint32 // MEM_COMMIT 0x1000, MEM_RESERVE 0x2000, MEM_FREE 0x10000
	Protection uint32 // PAGE_…
	Type       uint32 // MEM_PRIVATE 0x20000, MEM_MAPPED 0x40000, MEM_IMAGE 0x1000000
}

// Executable reports whether code may run there.
func (r *Region) Executable() bool {
	const committed, execute = 0x1000, 0xf0 // PAGE_EXECUTE and the three others
	return r.State&committed != 0 && r.Protection&execute != 0
}

func (f *File) readMemory(s Stream) error {
	const size = 16
	b, err := f.r.list(s.Location, size)
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[size:] {
		f.Memory = append(f.Memory, Range{f.Order.Uint64(b), f.r.location(b[8:])})
	}
	return nil
}

// readMemory64 reads MINIDUMP_MEMORY64_LIST: the number of ranges, the offset of the first's bytes,
// and an address and a size for each. Their bytes follow one another.
func (f *File) readMemory64(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 16 {
		return errShort
	}
	n, at := f.Order.Uint64(b), f.Order.Uint64(b[8:])
	b = b[16:]
	n, ok := f.r.entries(n, 16, b)
	if !ok {
		return fmt.Errorf("%d ranges do not fit into %d bytes", n, len(b))
	}
	for ; n > 0; n, b = n-1, b[16:] {
		size := f.Order.Uint64(b[8:])
		if at+size < at {
			return fmt.Errorf("a range of %d bytes", size)
		}
		f.Memory = append(f.Memory, Range{f.Order.Uint64(b), Location{size, at}})
		at += size
	}
	return nil
}

// readRegions reads MINIDUMP_MEMORY_INFO_LIST, whose header says how large it and its entries are.
func (f *File) readRegions(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 16 {
		return errShort
	}
	header, size, n := uint64(f.Order.Uint32(b)), uint64(f.Order.Uint32(b[4:])), f.Order.Uint64(b[8:])
	if size < 44 || header > uint64(len(b)) {
		return errShort
	}
	n, ok := f.r.entries(n, size, b[header:])
	if !ok {
		return errShort
	}
	for b = b[header:]; n > 0; n, b = n-1, b[size:] {
		f.Regions = append(f.Regions, Region{
			Lo: f.Order.Uint64(b), Size: f.Order.Uint64(b[24:]),
			State: f.Order.Uint32(b[32:]), Protection: f.Order.Uint32(b[36:]), Type: f.Order.Uint32(b[40:]),
		})
	}
	return nil
}

// Ranges returns the memory that the file has, stacks and lists: ascending, disjoint, and cut where
// the file ends. Of ranges that overlap, the one that begins first counts.
func (f *File) Ranges() []Range {
	list := slices.Clone(f.Memory)
	for i := range f.Threads {
		list = append(list, f.Threads[i].Stack)
	}
	size := uint64(f.r.size)
	for i := range list {
		if r := &list[i]; r.Offset >= size {
			r.Size = 0
		} else {
			r.Size = min(r.Size, size-r.Offset, -r.Lo) // no range leads around the end of the addresses
		}
	}
	slices.SortStableFunc(list, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Size, a.Size))
	})
	kept, end := list[:0], uint64(0)
	for _, r := range list {
		if r.Lo < end {
			past := end - r.Lo
			if past >= r.Size {
				continue
			}
			r = Range{end, Location{r.Size - past, r.Offset + past}}
		}
		if r.Size > 0 {
			kept, end = append(kept, r), r.Lo+r.Size
		}
	}
	return kept
}

// Reader returns the bytes of the file, in which Locations count.
func (f *File) Reader() io.ReaderAt { return f.r.r }
