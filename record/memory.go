package record

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// sampled is the memory that a sample's stack is walked in: the copy of the stack, which is of the
// sample's moment, and what no moment changes: memory that the process may not write to, and code.
type sampled struct {
	lo    uint64
	stack []byte
	space *space
	chain []uint64 // the kernel's own, of the program
	// beyond says that memory right behind the copy was asked for, elsewhere that other memory was
	// which the process may have written to since.
	beyond, elsewhere bool
}

// ReadMemory implements [target.Memory].
func (m *sampled) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if at := addr - m.lo; at < uint64(len(m.stack)) {
		if n = copy(p, m.stack[at:]); n == len(p) {
			return n, nil
		}
		m.beyond = true
		return n, fmt.Errorf("read memory at %#x: %w", addr+uint64(n), target.ErrUnmapped)
	}
	if m.space.changes(addr) {
		if behind := addr - m.lo - uint64(len(m.stack)); behind < 1<<20 {
			m.beyond = true
		} else {
			m.elsewhere = true
		}
		return 0, fmt.Errorf("read memory at %#x: %w", addr, target.ErrUnmapped)
	}
	return m.space.memory.ReadMemory(addr, p)
}

// Window implements [target.CopiedMemory].
func (m *sampled) Window(addr uint64) (lo uint64, data []byte) {
	if addr-m.lo < uint64(len(m.stack)) {
		return m.lo, m.stack
	}
	return 0, nil
}

// CallerOf implements [target.WalkedMemory].
func (m *sampled) CallerOf(pcs []uint64) (ra uint64, ok bool) {
	if rest := beyond(m.chain, pcs); len(rest) > 0 {
		return rest[0], true
	}
	if len(pcs) == 1 && len(m.chain) > 1 && m.chain[0] == pcs[0] {
		return m.chain[1], true
	}
	return 0, false
}

// withoutProbes returns the PCs of a walk as the kernel's own walk has them: where a probe of a
// function's return has replaced the return address, the true one takes the place of the kernel's
// page.
func (s *space) withoutProbes(pcs []uint64) []uint64 {
	probe := func(pc uint64) bool { return s.modules.KernelName(pc) == "[uprobes]" }
	if !slices.ContainsFunc(pcs, probe) {
		return pcs
	}
	return slices.DeleteFunc(slices.Clone(pcs), probe)
}

// changes reports whether the memory at addr may have changed since a sample was taken, or is not
// known.
func (s *space) changes(addr uint64) bool {
	i, ok := procmaps.Find(s.maps, addr)
	return !ok || s.maps[i].Write && !s.maps[i].Exec
}
