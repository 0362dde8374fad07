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
	return nil
}

// readThreadNames reads MINIDUMP_THREAD_NAME_LIST: a thread's ID, and the offset of its name, 8 bytes without padding.
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
