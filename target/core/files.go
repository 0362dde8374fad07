package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// aFile stands for the inode, which NT_FILE does not tell.
const aFile = 1

// PTFile is the type of a segment that has a whole file, one that is mapped from
// address p_vaddr on: snapshots (docs/snapshot.md) have those that will not be found
// at their paths. Debuggers skip types of segments that they do not know.
const PTFile elf.ProgType = 0x65736677

// carried opens a file that the core itself has, by its path.
func (l *loader) carried(path string) (r io.ReaderAt, size int64, err error) {
	for _, p := range l.core.progs {
		if p.Type != PTFile || p.Off >= uint64(l.core.size) {
			continue
		}
		for i := range l.notes.files {
			if m := &l.notes.files[i]; m.Lo == p.Vaddr && m.Path == path {
				size := int64(min(p.Filesz, uint64(l.core.size)-p.Off))
				return io.NewSectionReader(l.core.r, int64(p.Off), size), size, nil
			}
		}
	}
	return nil, 0, errNotCarried
}

var errNotCarried = errors.New("the core has no such file")

// parseFiles reads NT_FILE: the count, the unit of offsets, count times start, end
// and offset, then as many names. What is broken ends the list, and an error
// says so.
func parseFiles(data []byte, order binary.ByteOrder) (list []procmaps.Mapping, err error) {
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
		m := procmaps.Mapping{Lo: order.Uint64(entries), Hi: order.Uint64(entries[8:]), Read: true, Inode: aFile}
		if page := order.Uint64(entries[16:]); unit > 0 && page < 1<<63/unit {
			m.Offset = page * unit
		}
		m.Path, m.Deleted = strings.CutSuffix(string(name), " (deleted)")
		if m.Lo >= m.Hi || len(list) > 0 && m.Lo < list[len(list)-1].Hi {
			return list, fmt.Errorf("%q is mapped from %#x to %#x, which is not behind what comes before it", m.Path, m.Lo, m.Hi)
		}
		list = append(list, m)
	}
	return list, nil
}
