package core

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// mappedFile is one line of NT_FILE: a file mapped at [lo, hi).
type mappedFile struct {
	lo, hi, offset uint64
	path           string
}

// parseFiles reads NT_FILE: the count, the unit of offsets, count times start, end
// and offset, then as many names. What is broken ends the list, and an error
// says so.
func parseFiles(data []byte, order binary.ByteOrder) (list []mappedFile, err error) {
	if len(data) < 16 {
		return nil, fmt.Errorf("%d bytes", len(data))
	}
	count, unit := order.Uint64(data), order.Uint64(data[8:])
	if count > uint64(len(data)-16)/24 {
		return nil, fmt.Errorf("%d entries do not fit into %d bytes", count, len(data))
	}
	entries, names := data[16:16+24*count], data[16+24*count:]
	for ; len(entries) > 0; entries = entries[24:] {
		name, rest, ok := bytes.Cut(names, []byte{0})
		if !ok {
			return list, fmt.Errorf("%d names for %d entries", len(list), count)
		}
		names = rest
		f := mappedFile{lo: order.Uint64(entries), hi: order.Uint64(entries[8:]), path: string(name)}
		if page := order.Uint64(entries[16:]); unit > 0 && page < 1<<63/unit {
			f.offset = page * unit
		}
		if f.lo >= f.hi {
			return list, fmt.Errorf("%q is mapped from %#x to %#x", f.path, f.lo, f.hi)
		}
		list = append(list, f)
	}
	return list, nil
}

// group makes modules of mappings: those of one file that follow one another, as
// a loader maps it, in the order of its offsets.
func group(files []mappedFile, exec func(lo, hi uint64) bool) (paths []string, mappings [][]target.Mapping) {
	current := make(map[string]int)
	for _, f := range files {
		one := target.Mapping{Lo: f.lo, Hi: f.hi, Offset: f.offset, Exec: exec(f.lo, f.hi)}
		if i, ok := current[f.path]; ok {
			last := mappings[i][len(mappings[i])-1]
			const page = 0x1000
			if f.offset >= last.Offset && f.lo >= last.Hi && f.offset+page >= last.Offset+(last.Hi-last.Lo) {
				mappings[i] = append(mappings[i], one)
				continue
			}
		}
		current[f.path] = len(paths)
		paths, mappings = append(paths, f.path), append(mappings, []target.Mapping{one})
	}
	return paths, mappings
}
