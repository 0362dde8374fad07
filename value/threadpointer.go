package value

// threadPointer returns the address that a thread's storage is found by. No function changes it.
func (c *context) threadPointer() (tp uint64, err error) {
	regs := c.r.Arch.ThreadPointer
	f := c.frame.Physical
	if f == nil {
		return 0, noThreadLocal{"the thread pointer is not known"}
	}
	for next := f; next != nil && next.Level >= 0; next = next.Next() { // frame 0 has all registers
		f = next
	}
	known := len(regs) > 0
	for _, r := range regs {
		v := f.Register(r)
		known = known && v.Known()
		tp = tp<<32 | v.Bits // of several registers, each has 32 bits
	}
	if known {
		return tp, nil
	}
	if tp, ok := c.listedPointer(f.Stack().Thread); ok {
		return tp, nil
	}
	return 0, noThreadLocal{"the thread pointer is not known"}
}

// maxListed bounds the threads that are looked for in the C library's lists.
const maxListed = 1 << 16

// listedPointer returns the pointer of a thread by the lists that glibc keeps of all threads (2.34
// and later), for targets without the register. The threads have the kernel's numbers there.
func (c *context) listedPointer(tid int) (tp uint64, ok bool) {
	d := c.r.glibc()
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
	d.pointers = make(map[int]uint64)
	for _, name := range []string{"_dl_stack_user", "_dl_stack_used"} {
		head, ok := d.variable(name)
		if !ok || !d.knows("list_t_next", "pthread_list", "pthread_tid", "sizeof_pthread") {
			continue
		}
		at, err := c.word(head + d.offset("list_t_next"))
		for range maxListed {
			if err != nil || at == head || at == 0 {
				break
			}
			own := at - d.offset("pthread_list")
			var b [4]byte
			if readMemory(c.r.Memory, c.r.Arch.Wrap(own+d.offset("pthread_tid")), b[:]) != nil {
				break
			}
			p := own
			if c.r.Arch.ThreadBlock > 0 {
				p = own + d.size("pthread")
			}
			d.pointers[int(c.r.order().Uint32(b[:]))] = c.r.Arch.Wrap(p)
			at, err = c.word(at + d.offset("list_t_next"))
		}
	}
	tp, ok = d.pointers[tid]
	return tp, ok
}
