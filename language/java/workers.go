package java

import "github.com/sfwalk/sfwalk/language"

// worker tells of a thread of the virtual machine that runs no Java: a collector's, the VM thread.
// The virtual machine has no list of them that it tells of. But the C library keeps, above the
// thread pointer, what the thread was started with, and that is the machine's record of it: it
// leads to the system's record, which must have this thread's ID.
func (r *reading) worker(s *language.Stack, sp uint64) *language.Thread {
	pointer, ok := threadPointer(s)
	name, has := r.tables.Fields["NamedThread::_name"]
	if !ok || !has || s.Arch.PtrSize != 8 {
		return nil
	}
	var room [threadRecord]byte
	n, _ := s.Memory.ReadMemory(pointer, room[:])
	for i := 0; i+8 <= n; i += 8 {
		at := s.Arch.Order.Uint64(room[i:])
		if at == 0 || at%8 != 0 || at-pointer < threadRecord {
			continue
		}
		th, ok := r.stackOf(at)
		if !ok || sp < th.limit || sp >= th.base {
			continue
		}
		of, _ := r.word(at, "JavaThread::_osthread", "Thread::_osthread")
		if id, ok := r.word(of, "OSThread::_pthread_id"); !ok || id != pointer {
			continue
		}
		text, _ := r.Word(at + name.Offset)
		if text := r.Name(text); printed(text) {
			return &language.Thread{Name: text}
		}
		return nil
	}
	return nil
}

// threadRecord is how much of the C library's record of a thread is looked through, bytes: in
// glibc 2.36 what a thread was started with is at 0x648.
const threadRecord = 0x900

// printed reports whether a name is one: some threads of the virtual machine have none, and their
// record may have anything there.
func printed(name string) bool {
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return name != ""
}

// threadPointer returns the address of the thread's own storage.
func threadPointer(s *language.Stack) (pointer uint64, ok bool) {
	if len(s.Frames) == 0 || len(s.Arch.ThreadPointer) != 1 || s.Arch.ThreadBlock != 0 {
		return 0, false
	}
	v := s.Frames[0].Register(s.Arch.ThreadPointer[0])
	return v.Bits, v.Known()
}
