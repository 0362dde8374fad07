package waitfor

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Options help [Find].
type Options struct {
	// Functions returns the names of the functions in which a thread is, the innermost first; nil
	// if nobody knows them. A few are enough.
	Functions func(target.Thread) []string
	// Thread returns the ID that the target has for the thread that the process itself knows by
	// another one, as in a container; 0 if there is none. It is nil if they are the same.
	Thread func(own int) int
}

// Find returns the threads that wait in futex(2), in the target's order. The target's threads and
// memory must be of one moment.
func Find(t target.Target, opts Options) ([]Wait, error) {
	a := t.Arch()
	if a.SystemCalls == nil {
		return nil, nil
	}
	threads, err := t.Threads()
	if err != nil {
		return nil, err
	}
	f := &finder{arch: a, opts: opts, threads: map[int]bool{}, pointers: map[uint64]int{}, code: map[uint64][]byte{}}
	regs := make([]arch.Registers, len(threads))
	for i, th := range threads {
		f.threads[th.ID()] = true
		if th.Registers(&regs[i]) == nil {
			if p := f.threadPointer(&regs[i]); p != 0 {
				f.pointers[p] = th.ID()
			}
		}
	}
	var list []Wait
	for i, th := range threads {
		f.memory = target.MemoryOf(t, th)
		if w, ok := f.wait(th, &regs[i]); ok {
			list = append(list, w)
		}
	}
	return list, nil
}

// finder finds out for what one thread after the other waits.
type finder struct {
	arch     *arch.Arch
	opts     Options
	memory   target.Memory
	threads  map[int]bool
	pointers map[uint64]int    // threads by the addresses of their own storage
	code     map[uint64][]byte // by PC
}

// threadPointer returns the address of a thread's own storage; 0 if it is not known.
func (f *finder) threadPointer(r *arch.Registers) (p uint64) {
	for _, n := range f.arch.ThreadPointer {
		v, ok := r.Get(n)
		if !ok {
			return 0
		}
		p = p<<32 | v // one register, or two of 32 bits
	}
	return p
}

// wait returns for what a thread waits.
func (f *finder) wait(th target.Thread, r *arch.Registers) (Wait, bool) {
	pc, ok := r.Get(f.arch.PC)
	if !ok {
		return Wait{}, false
	}
	code, ok := f.code[pc]
	if !ok {
		code = make([]byte, arch.SystemCallCode)
		if n, _ := f.memory.ReadMemory(pc-arch.SystemCallCode/2, code); n < len(code) {
			code = nil
		}
		f.code[pc] = code
	}
	at, ok := f.arch.Futex(r, code)
	if !ok {
		return Wait{}, false
	}
	word, ok := f.word(at.Word)
	if !ok {
		return Wait{}, false
	}
	pi := at.Op == arch.FutexLockPI || at.Op == arch.FutexLockPI2
	if pi && word&futexWaiters == 0 || !pi && word != at.Expected {
		return Wait{}, false // it is about to go on
	}
	w := Wait{Thread: th.ID(), Object: at.Word, Futex: at.Word, Timed: at.Timed}
	l := &lock{finder: f, at: at, word: word, sp: r.Value[f.arch.SP], pi: pi}
	if f.opts.Functions != nil {
		l.name(f.opts.Functions(th))
	}
	l.fill(&w)
	return w, true
}

// word reads a word of 32 bits.
func (f *finder) word(addr uint64) (uint32, bool) {
	var b [4]byte
	if n, _ := f.memory.ReadMemory(addr, b[:]); n < len(b) {
		return 0, false
	}
	return f.arch.Order.Uint32(b[:]), true
}

// pointer reads an address.
func (f *finder) pointer(addr uint64) (uint64, bool) {
	b := make([]byte, f.arch.PtrSize)
	if n, _ := f.memory.ReadMemory(addr, b); n < len(b) {
		return 0, false
	}
	return f.arch.Word(b), true
}

// thread returns the target's ID for a thread's own; 0 if it is none of the target's.
func (f *finder) thread(own uint32) int {
	if own == 0 || own > maxThread {
		return 0
	}
	id := int(own)
	if f.opts.Thread != nil {
		id = f.opts.Thread(id)
	}
	if !f.threads[id] {
		return 0
	}
	return id
}

// maxThread is the highest thread ID of Linux (PID_MAX_LIMIT, linux/threads.h).
const maxThread = 4 << 20
