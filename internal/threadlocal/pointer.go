package threadlocal

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
)

// Pointer returns the thread pointer by the registers of a thread's innermost frame.
func Pointer(a *arch.Arch, innermost *frame.Frame) (tp uint64, ok bool) {
	ok = len(a.ThreadPointer) > 0
	for _, r := range a.ThreadPointer {
		v := innermost.Register(r)
		ok = ok && v.Known()
		tp = tp<<32 | v.Bits // of several registers, each has 32 bits
	}
	return tp, ok
}

// maxListed bounds the threads that are looked for in the C library's lists.
const maxListed = 1 << 16

// ListedPointer returns the pointer of a thread by the lists that glibc keeps of all threads (2.34
// and later), for targets without the register. The threads have the kernel's numbers there.
func (f *Finder) ListedPointer(tid int) (tp uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.library()
	d := f.glibc
	if d == nil || tid <= 0 {
		return 0, false
	}
	if tp, ok = d.pointers[tid]; ok {
		return tp, true
	}
	if d.listed {
		return 0, false
	}
	d.listed = true
	l := look{f, nil}
	d.pointers = make(map[int]uint64)
	for _, name := range []string{"_dl_stack_user", "_dl_stack_used"} {
		head, ok := d.variable(name)
		if !ok || !d.knows("list_t_next", "pthread_list", "pthread_tid", "sizeof_pthread") {
			continue
		}
		at, err := l.word(head + d.offset("list_t_next"))
		for range maxListed {
			if err != nil || at == head || at == 0 {
				break
			}
			own := at - d.offset("pthread_list")
			var b [4]byte
			if l.bytes(own+d.offset("pthread_tid"), b[:]) != nil {
				break
			}
			p := own
			if f.arch.ThreadBlock > 0 {
				p = own + d.size("pthread")
			}
			d.pointers[int(f.arch.Order.Uint32(b[:]))] = f.arch.Wrap(p)
			at, err = l.word(at + d.offset("list_t_next"))
		}
	}
	tp, ok = d.pointers[tid]
	return tp, ok
}
