package fromcfi

import (
	"debug/elf"
	"fmt"
	"io"
)

// readFull reads a part of a segment. What the header says of its size is
// believed as far as there are bytes.
func readFull(p *elf.Prog, off, size uint64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(p, int64(off), int64(size)))
	if err != nil {
		return nil, fmt.Errorf("read segment at %#x: %w", p.Vaddr, err)
	}
	if uint64(len(data)) != size {
		return nil, fmt.Errorf("read segment at %#x: %#x bytes from %#x on, want %#x", p.Vaddr, len(data), off, size)
	}
	return data, nil
}
