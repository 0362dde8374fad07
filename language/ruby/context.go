package ruby

import (
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
)

// context returns the execution context of a stack's thread: it is in its thread-local storage. It
// is 0 if the thread has none, as threads have that Ruby has not made, and threads that wait for
// another one of Ruby's to run.
func (r *runtime) context(m *memory, s *language.Stack) uint64 {
	if len(s.Frames) == 0 {
		return 0
	}
	tp, ok := threadlocal.Pointer(s.Arch, s.Frames[0])
	if !ok {
		if tp, ok = r.storage.ListedPointer(s.Thread.ID()); !ok {
			return 0
		}
	}
	storage, err := r.storage.Storage(s.Memory, r.module, tp)
	if err != nil {
		return 0
	}
	if slot := r.slot.Load(); slot != nil {
		return m.contextAt(storage+*slot, true)
	}
	// Later releases do not export the variable's name. There are few others.
	const most = 64 // words
	block := threadlocal.Block(r.image)
	for slot := uint64(0); slot+8 <= block.Memsz && slot < 8*most; slot += 8 {
		if ec := m.contextAt(storage+slot, false); ec != 0 {
			r.slot.Store(&slot)
			return ec
		}
	}
	return 0
}

// contextAt returns the context to which a thread-local variable leads, 0 if it is none: it leads
// to a thread, and to a virtual machine. A variable of which that is not known yet is taken for it
// if the thread leads back to the context, too.
func (m *memory) contextAt(variable uint64, known bool) (ec uint64) {
	m.quietly(func() {
		at := m.Pointer(variable)
		thread := m.Pointer(at + m.contextThread)
		now := m.Pointer(thread + m.threadContext)
		ractor := m.Pointer(m.Pointer(thread+m.threadVM) + m.vmMainRactor)
		dead := m.Arch.RubyThreads && m.Uint(thread+m.threadStatusByte, 1)>>m.threadStatusBit&3 == m.statusKilled
		if isObject(at) && isObject(ractor) && m.OK() && (known || now == at) && !dead {
			ec = at
		}
	})
	return ec
}
