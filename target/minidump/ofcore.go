package minidump

import (
	"errors"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// usualStack is how much of a thread's stack is taken in any case, bytes, as long as there is room:
// what a system allows a stack by default.
const usualStack = 8 << 20

// OfCore returns what a minidump of a core file has: the threads, of their stacks what the core has
// from SP outward, the vDSO, and the modules. t is the core itself or a [snapshot.Target]; c is its
// core. read has the addresses of other pages, of the given size, that are to be in it if the core
// itself has them. most bounds the bytes of all memory together. cut says that some is left out for
// that. The error wraps [minidump.ErrProcessor].
func OfCore(t target.Target, c *core.Target, read []uint64, page uint64, most int64) (made *minidump.Contents, cut bool, err error) {
	threads, err := t.Threads()
	if err != nil {
		return nil, false, err
	}
	s := &snapshot.Snapshot{Arch: t.Arch(), PID: c.PID, Exe: c.Exe, Maps: c.Mappings()}
	if snap, ok := t.(*snapshot.Target); ok {
		s.Taken, s.Modules = snap.Taken, snap.Listed
	}
	listed := map[uint64]bool{}
	for _, m := range s.Modules {
		listed[m.Lo] = m.BuildID != ""
	}
	for _, m := range t.Modules().All() {
		if !listed[m.Lo()] {
			s.Modules = append(s.Modules, snapshot.Module{Path: m.Path, Lo: m.Lo(), BuildID: buildIDOf(t, m)})
		}
	}
	g := gathering{core: c, to: s, left: uint64(max(most, 0))}
	var died *minidump.Exception
	for _, th := range threads {
		one := snapshot.Thread{TID: th.ID(), Comm: th.Name()}
		th.Registers(&one.Regs) // without them, there are none in the dump
		s.Threads = append(s.Threads, one)
		if sp, ok := one.Regs.Get(t.Arch().SP); ok {
			g.stack(sp, max(usualStack, uint64(most)/uint64(len(threads))))
		}
		if x, ok := th.(*core.Thread); ok && x.Died && c.Signal != nil {
			died = &minidump.Exception{Thread: uint32(x.ID()), Code: uint32(c.Signal.Number), Flags: uint32(c.Signal.Code), Address: c.Signal.Addr}
		}
	}
	for i := range s.Maps {
		if m := &s.Maps[i]; m.IsVDSO() {
			g.add(m.Lo, m.Hi)
		}
	}
	for _, at := range read {
		if lo, hi, ok := c.Copied(at); ok {
			g.add(max(lo, at), min(hi, at+page))
		}
	}
	if g.err != nil {
		return nil, false, g.err
	}
	if made, err = Contents(s, t.Modules()); err != nil {
		return nil, false, err
	}
	made.Exception = died
	for i := range s.Maps {
		s.Maps[i].Inode = 0 // not known
	}
	made.Linux.Maps = procmaps.Text(s.Maps)
	return made, g.cut, nil
}

// buildIDOf returns the build ID of what is mapped, or else the build ID of the file that was
// found; "" if there is none.
func buildIDOf(t target.Target, m *target.Module) string {
	if len(m.Mappings) > 0 && m.Mappings[0].Offset == 0 {
		if im, err := elf.OpenMapped(t.Memory(), m.Lo(), m.Hi()-m.Lo()); err == nil && im.BuildID != "" {
			return im.BuildID
		}
	}
	return m.BuildID()
}

// gathering copies memory of a core.
type gathering struct {
	core *core.Target
	to   *snapshot.Snapshot
	left uint64 // bytes that may still be copied
	cut  bool
	err  error
}

// stack copies the stack that is around sp, from there outward, at most most bytes of it.
func (g *gathering) stack(sp, most uint64) {
	const below = 256 // bytes: the red zone, and what aligns the beginning
	lo, hi, ok := g.core.Copied(sp)
	if !ok {
		return
	}
	lo = max(lo, sp-min(sp, below))
	if hi-lo > most {
		hi, g.cut = lo+most, true
	}
	g.add(lo, hi)
}

// add copies the memory in [lo, hi) that is not there yet.
func (g *gathering) add(lo, hi uint64) {
	for _, b := range g.to.Memory { // of stacks of several threads that lie in one mapping, the rest is there already
		if lo >= b.Addr && lo < b.End() {
			lo = b.End()
		}
	}
	if lo >= hi || g.err != nil {
		return
	}
	if hi-lo > g.left {
		hi, g.cut = lo+g.left, true
	}
	data := make([]byte, hi-lo)
	n, err := g.core.Memory().ReadMemory(lo, data)
	if n == 0 {
		if err != nil && !errors.Is(err, target.ErrUnmapped) {
			g.err = err
		}
		return
	}
	g.left -= uint64(n)
	g.to.AddMemory([]snapshot.Block{{Addr: lo, Data: data[:n]}})
}
