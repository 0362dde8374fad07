package live

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Sleepers reads threads of a process that sleep in a system call, without stopping them: they do
// not notice, and it takes less time than a stop. It serves threads of all targets, and is not safe
// for concurrent use.
type Sleepers struct {
	one    Sleeper // what Read has returned last
	stack  [firstCopy]byte
	ahead  [mostPages * pageSize]byte
	local  [2]unix.Iovec
	remote [1 + mostPages]unix.RemoteIovec
}

// Sleeper is a thread that sleeps in a system call. It implements [target.Thread]. Of its
// registers, PC and SP are known, which the kernel tells (proc_pid_syscall(5)), and what Read was
// given.
//
// Its memory is of the moment of its registers: whenever some was read, the kernel says that the
// thread has not got a processor since. Memory that others write to is as the thread would find it.
type Sleeper struct {
	// Turns is how often the thread had got a processor: see [Seen].
	Turns uint64

	files  *files
	memory *memory

	id    int
	name  string
	regs  arch.Registers
	stack block
	pages []page // outside of stack, ascending
	added bool   // some of pages were not copied ahead
	woke  bool   // the thread has got a processor, or needs too much memory

	notes  bool   // what is read is noted
	noted  []span // in the order in which it was read
	failed bool   // something could not be read since Note, or too much was
}

// page is a copy of one page.
type page struct {
	lo   uint64
	data []byte
	read bool // somebody has read it
}

// Read reads a thread. fixed are registers that it has as long as it lives, such as the address of
// its own storage; none if fixed is nil. before is what was read of the thread before, which may be
// the same now; nil for nothing. Read returns nil if the thread does not sleep in a system call, or
// cannot be read. The Sleeper is valid until the next Read.
func (s *Sleepers) Read(th *Thread, fixed *arch.Registers, before *Reads) *Sleeper {
	x := &s.one
	f, is := th.target.files.(*files)
	m, also := th.target.memory.(*memory)
	if !is || !also || m.turns == nil {
		return nil
	}
	clear(x.pages) // copies of an earlier thread
	*x = Sleeper{Turns: m.turns(th.id), files: f, memory: m, id: th.id, name: th.name, pages: x.pages[:0], noted: x.noted[:0]}
	if x.Turns == 0 {
		return nil
	}
	sp, pc, ok := f.proc.watch.blocked(f.proc.pid, th.id)
	if !ok {
		return nil
	}
	if fixed != nil {
		x.regs = *fixed
	}
	x.regs.Set(m.arch.SP, sp)
	x.regs.Set(m.arch.PC, pc)
	k, ok := procmaps.Find(m.maps, sp)
	if !ok || !m.maps[k].Read || !m.maps[k].Write {
		return nil
	}
	x.stack.lo = max(m.maps[k].Lo, sp-min(sp, uint64(m.arch.RedZone)))
	most := uint64(firstCopy)
	if before != nil && before.regs == x.regs {
		most = max(before.stack, pageSize)
	}
	x.stack.data = s.stack[:min(m.maps[k].Hi-x.stack.lo, most)]
	// No memory is another program's if this one runs still.
	if !s.copy(x) || f.replaced() || !x.sleeps() {
		return nil
	}
	return x
}

// copy copies the stack, and the pages outside of it that were read of the thread the last time.
func (s *Sleepers) copy(x *Sleeper) bool {
	s.local[0] = iovec(x.stack.data)
	remote := append(s.remote[:0], unix.RemoteIovec{Base: uintptr(x.stack.lo), Len: len(x.stack.data)})
	for i, lo := range x.files.proc.watch.readBefore(x.id) {
		x.pages = append(x.pages, page{lo: lo, data: s.ahead[i*pageSize : (i+1)*pageSize]})
		if last := &remote[len(remote)-1]; i > 0 && uint64(last.Base)+uint64(last.Len) == lo {
			last.Len += pageSize
		} else {
			remote = append(remote, unix.RemoteIovec{Base: uintptr(lo), Len: pageSize})
		}
	}
	local := s.local[:1]
	if n := len(x.pages) * pageSize; n > 0 {
		local = append(local, iovec(s.ahead[:n]))
	}
	n, err := unix.ProcessVMReadv(x.id, local, remote, 0)
	if err != nil || n < len(x.stack.data) {
		return false
	}
	x.pages = x.pages[:(n-len(x.stack.data))/pageSize] // none from one on that cannot be read
	return true
}

// sleeps reports whether the thread has slept since its registers were read.
func (x *Sleeper) sleeps() bool {
	x.woke = x.woke || x.memory.turns(x.id) != x.Turns
	return !x.woke
}

// ID implements [target.Thread].
func (x *Sleeper) ID() int { return x.id }

// Name implements [target.Thread].
func (x *Sleeper) Name() string { return x.name }

// Registers implements [target.Thread].
func (x *Sleeper) Registers(r *arch.Registers) error {
	*r = x.regs
	return nil
}

// StackMemory returns the memory in which to walk the thread's stack. Once the thread has got a
// processor, nothing can be read there that was not read before.
func (x *Sleeper) StackMemory() target.Memory { return x }

// Slept reports whether all that was asked for was read. Call it when the stack is walked.
func (x *Sleeper) Slept() bool {
	if x.added || slices.ContainsFunc(x.pages, func(p page) bool { return !p.read }) {
		var list []uint64
		for i := range x.pages {
			if x.pages[i].read {
				list = append(list, x.pages[i].lo)
			}
		}
		x.files.proc.watch.wasRead(x.id, list)
	}
	return !x.woke
}

// Window implements [target.CopiedMemory].
func (x *Sleeper) Window(addr uint64) (lo uint64, data []byte) {
	if !x.notes && x.stack.holds(addr) {
		return x.stack.lo, x.stack.data
	}
	return 0, nil
}

// ReadMemory implements [target.Memory].
func (x *Sleeper) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		data, err := x.bytes(addr + uint64(n))
		if err != nil {
			x.failed = true
			return n, err
		}
		n += copy(p[n:], data)
	}
	if x.notes && !x.failed {
		x.noted = append(x.noted, span{addr, addr + uint64(n)})
		x.failed = len(x.noted) > mostNoted
	}
	return n, nil
}

// bytes returns what is at an address and behind it, as far as one copy has it.
func (x *Sleeper) bytes(at uint64) ([]byte, error) {
	if x.stack.holds(at) {
		return x.stack.data[at-x.stack.lo:], nil
	}
	m, lo := x.memory, at&^(pageSize-1)
	var data []byte
	var err error
	if k, ok := procmaps.Find(m.maps, at); ok && !m.maps[k].Write {
		data, err = m.live.page(at)
	} else {
		data = x.page(lo)
	}
	if data == nil && err == nil {
		err = target.ErrUnmapped
	}
	if err != nil {
		return nil, fmt.Errorf("read memory of thread %d at %#x: %w", x.id, at, err)
	}
	return data[at-lo:], nil
}

// mostSlept bounds the pages that are read of one thread outside of its stack. A thread that needs
// more is not read asleep.
const mostSlept = 1 << 10

// page returns the copy of a page, nil if it cannot be read.
func (x *Sleeper) page(lo uint64) []byte {
	i, ok := slices.BinarySearchFunc(x.pages, lo, func(p page, lo uint64) int { return cmp.Compare(p.lo, lo) })
	if !ok {
		if len(x.pages) >= mostSlept {
			x.woke = true
			return nil
		}
		data := make([]byte, pageSize)
		if n, _ := x.memory.live.fetch(lo, data); !x.sleeps() || n < pageSize {
			return nil
		}
		x.pages = slices.Insert(x.pages, i, page{lo: lo, data: data})
		x.added = true
	}
	x.pages[i].read = true
	return x.pages[i].data
}
