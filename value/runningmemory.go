package value

import "github.com/sfwalk/sfwalk/target"

// watched is the memory of a process that runs on. It notes whether something was of another moment
// than the frame.
type watched struct {
	target.RunningMemory
	late bool
}

func (w *watched) ReadMemory(addr uint64, p []byte) (n int, err error) {
	n, err = w.RunningMemory.ReadMemory(addr, p)
	if n > 0 && w.RunningMemory.MovedOn(addr, n) {
		w.late = true
	}
	return n, err
}

// MovedOn reports whether memory that was read for the frame's values, since MovedOn was called
// last, is of another moment than the frame: the process has run on meanwhile.
func (f *Frame) MovedOn() bool {
	if f.in == nil {
		return false
	}
	w, ok := f.in.mem.(*watched)
	if !ok {
		return false
	}
	late := w.late
	w.late = false
	return late
}
