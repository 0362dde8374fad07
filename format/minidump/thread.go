package minidump

// Thread is a thread (MINIDUMP_THREAD).
type Thread struct {
	ID      uint32
	Name    string // "" if the dump has none
	Suspend uint32 // how often it is suspended
	TEB     uint64 // its environment block, on Windows
	Stack   Range  // whose bytes the file has
	Context Location
}

const threadSize = 48

func (f *File) readThreads(s Stream) error {
	b, err := f.r.list(s.Location, threadSize)
	if err != nil {
		return err
	}
	f.Threads = make([]Thread, 0, len(b)/threadSize)
	for ; len(b) > 0; b = b[threadSize:] {
		f.Threads = append(f.Threads, Thread{
			ID: f.Order.Uint32(b), Suspend: f.Order.Uint32(b[4:]), TEB: f.Order.Uint64(b[16:]),
			Stack: Range{f.Order.Uint64(b[24:]), f.r.location(b[32:])}, Context: f.r.location(b[40:]),
		})
	}
	f.dropRepeated()
	return nil
}

// dropRepeated drops records of a thread that an earlier record has with the same registers: LLDB
// 21 writes a thread twice if the stacks of two lie in one mapping.
func (f *File) dropRepeated() {
	type record struct {
		id      uint32
		context Location
	}
	place := make(map[record]int, len(f.Threads)) // in kept
	kept := f.Threads[:0]
	for _, t := range f.Threads {
		r := record{t.ID, t.Context}
		at, ok := place[r]
		if !ok || t.Context.Size == 0 {
			place[r] = len(kept)
			kept = append(kept, t)
			continue
		}
		if kept[at].Stack.Size == 0 {
			kept[at].Stack = t.Stack
		}
		f.warn("thread %d is in the list of threads twice", t.ID)
	}
	f.Threads = kept
}

// readThreadNames reads MINIDUMP_THREAD_NAME_LIST: a thread's ID, and the offset of its name, 8
// bytes without padding.
func (f *File) readThreadNames(s Stream) error {
	const size = 12
	b, err := f.r.list(s.Location, size)
	if err != nil {
		return err
	}
	names := make(map[uint32]uint64, len(b)/size)
	for ; len(b) > 0; b = b[size:] {
		names[f.Order.Uint32(b)] = f.Order.Uint64(b[4:])
	}
	for i := range f.Threads {
		t := &f.Threads[i]
		name, bad := f.r.text(names[t.ID])
		if bad != nil {
			err = bad
		}
		t.Name = name
	}
	return err
}
