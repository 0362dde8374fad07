package live

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Snapshot returns what was copied as a value that outlives the process: the threads, the copies of
// the stacks, the other memory that was read so far, and all that [snapshot.Snapshot.Gather] reads
// now. Walk the stacks first, so that the snapshot has all that walking them needs. The error says
// that the target is closed.
func (t *Target) Snapshot() (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{
		Arch: t.arch, PID: t.PID, Exe: t.Exe, Pause: t.Pause, Consistent: t.Consistent, Maps: t.maps,
	}
	var err error
	if s.Auxv, err = t.files.about("auxv"); err == errClosed {
		return nil, fmt.Errorf("snapshot of process %d: %w", t.PID, err)
	}
	if len(s.Auxv) == 0 {
		s.Auxv = t.leastAuxv() // the process has ended meanwhile
	}
	command, _ := t.files.about("cmdline")
	s.Command = string(bytes.ReplaceAll(bytes.TrimRight(command, "\x00"), []byte{0}, []byte{' '}))
	t.mu.Lock()
	threads := t.threads
	s.Taken = t.taken
	kept := t.kept
	t.mu.Unlock()
	s.Monotonic = kept.Clock
	var copied []snapshot.Block // several copies may be of the same addresses: see memory.copies
	for _, th := range threads {
		th.mu.Lock()
		th.view.settle()
		s.Pause = max(s.Pause, th.Held)
		s.Threads = append(s.Threads, snapshot.Thread{TID: th.id, Comm: th.name, Regs: th.regs, Sets: th.sets, Blocked: th.blocked, Held: th.Held, Err: th.Err, MovedOn: th.view.moved.Load()})
		for _, b := range th.view.all() {
			copied = append(copied, snapshot.Block{Addr: b.lo, Data: b.data, Late: b.late})
		}
		copied = append(copied, th.view.sharedBlocks()...)
		th.mu.Unlock()
	}
	if m, ok := t.memory.(*memory); ok {
		var blocks []snapshot.Block
		for _, c := range kept.Copies {
			blocks = append(blocks, snapshot.Block{Addr: c.Lo, Data: c.Data})
		}
		s.AddMemory(blocks)
		s.AddMemory(m.later(kept.Later)) // before copies for threads, which stand for their own stacks alone
		blocks = nil
		for _, b := range m.copies() {
			blocks = append(blocks, snapshot.Block{Addr: b.lo, Data: b.data})
		}
		s.AddMemory(blocks)
		s.AddMemory(copied)
		s.MarkLate(copied)
		s.AddRegistered(t.modules())
		now := m.live.blocks()
		for i := range now {
			now[i].Late = slices.ContainsFunc(kept.Later, func(r Range) bool { return r.Lo < now[i].End() && now[i].Addr < r.Hi })
		}
		s.AddMemory(now)
	}
	s.Gather(t.memory, t.modules())
	return s, nil
}

// later copies ranges of memory as it is now, as long as there is room for copies.
func (m *memory) later(ranges []Range) (list []snapshot.Block) {
	for _, r := range ranges {
		size := int64(r.Hi - r.Lo)
		if size <= 0 || m.left.Add(-size) < 0 {
			m.left.Add(max(size, 0))
			continue
		}
		data := make([]byte, size)
		if n, _ := m.live.fetch(r.Lo, data); n > 0 {
			list = append(list, snapshot.Block{Addr: r.Lo, Data: data[:n], Late: true})
		}
	}
	return list
}

// ProcFile returns what is in a file of the process's folder in /proc, such as "status". If the
// process has ended, that is an error.
func (t *Target) ProcFile(name string) ([]byte, error) { return t.files.about(name) }

// leastAuxv returns an auxiliary vector that leads to the vDSO.
func (t *Target) leastAuxv() []byte {
	for i := range t.maps {
		if m := &t.maps[i]; m.IsVDSO() {
			b := make([]byte, 32) // AT_NULL last
			t.arch.Order.PutUint64(b, linkmap.ATSysinfoEhdr)
			t.arch.Order.PutUint64(b[8:], m.Lo)
			return b
		}
	}
	return nil
}

// blocks returns the pages that the cache keeps.
func (c *pageCache) blocks() (list []snapshot.Block) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for lo, k := range c.chunks {
		for i, page := range k.pages {
			if page != nil {
				list = append(list, snapshot.Block{Addr: lo + uint64(i)*pageSize, Data: page})
			}
		}
	}
	return list
}
