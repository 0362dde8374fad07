package scan

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Stacks tells on which thread's stack an address is.
type Stacks struct {
	list []stack // by ascending sp
}

type stack struct {
	sp, hi uint64
	thread int
}

// mostThreads bounds the threads whose stacks are known.
const mostThreads = 1 << 16

// StacksOf returns the stacks of threads. Each ends with the memory that the process can change
// and that it is in, or where the stack of another thread begins.
func StacksOf(a *arch.Arch, threads []target.Thread, writable []target.Mapping) *Stacks {
	s := &Stacks{}
	for _, th := range threads[:min(len(threads), mostThreads)] {
		var regs arch.Registers
		if th.Registers(&regs) != nil {
			continue
		}
		sp, ok := regs.Get(a.SP)
		if !ok {
			continue
		}
		for _, m := range writable {
			if sp >= m.Lo && sp < m.Hi {
				s.list = append(s.list, stack{sp, m.Hi, th.ID()})
			}
		}
	}
	slices.SortFunc(s.list, func(a, b stack) int { return cmp.Compare(a.sp, b.sp) })
	return s
}

// Thread returns the ID of the thread on whose stack an address is; 0 if there is none.
func (s *Stacks) Thread(addr uint64) int {
	i, exact := slices.BinarySearchFunc(s.list, addr, func(x stack, addr uint64) int { return cmp.Compare(x.sp, addr) })
	if !exact {
		i--
	}
	if i < 0 || addr >= s.list[i].hi {
		return 0
	}
	return s.list[i].thread
}
