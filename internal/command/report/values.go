package report

import (
	"github.com/sfwalk/sfwalk/internal/command/values"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/target"
)

// addValues adds the values in the frame p to x: the values that were read for readValues, if it
// came so far.
func (w *Walker) addValues(x *Frame, p *logical.Frame) {
	if w.values == nil {
		return
	}
	if p.Level < len(w.valued) {
		x.Shown = w.valued[p.Level]
		return
	}
	w.values.Anew()
	w.values.Read(&x.Shown, p)
}

// maxValueFrames bounds how many frames of a thread have values of the moment of its stack. Those
// further out may be marked.
const maxValueFrames = 2000

// readValues reads all values that are to be printed, so that the memory is copied in which they
// lie.
func (w *Walker) readValues(th target.Thread) {
	if w.values == nil {
		return
	}
	w.valued = w.valued[:0]
	w.values.Begin(target.MemoryOf(w.Target, th))
	level, size := 0, 0
	for f, err := range w.stack.AllOnce() {
		if err != nil || f.Level == maxValueFrames {
			return
		}
		w.room = w.view.Append(w.room[:0], level, f)
		for i := range w.room {
			w.valued = append(w.valued, values.Shown{})
			x := &w.valued[len(w.valued)-1]
			w.values.Read(x, &w.room[i])
			size += x.Size()
		}
		if size > maxValued {
			return
		}
		level += len(w.room)
	}
}

// maxValueRetakes is how often a thread is read once more, at most, for its values to be of the
// moment of its stack.
const maxValueRetakes = 3

// readHeap reads what is to be printed of a thread beside its stack: values, and what languages
// say.
func (w *Walker) readHeap(th target.Thread) {
	w.readValues(th)
	w.decorate(th)
}

// retakeForHeap reads the values of a thread, and what languages say of it. If memory that these
// lie in was read at another moment than the stack, it reads the thread once more, and all of this
// while the thread is held: what was read of the program's files by then, need not be read again.
// If that does not help, values and frames are marked.
func (w *Walker) retakeForHeap(th target.RunningThread) {
	if w.values == nil && !w.languages.any() {
		return
	}
	if w.values != nil && !w.trimmed {
		w.trimmed = true
		w.Flags.Values.Trim() // the stack has been walked: files were opened, and their tables read
		defer w.Flags.Values.Trim()
	}
	w.readHeap(th)
	for n := 0; th.MovedOn() && n < maxValueRetakes; n++ {
		err := th.Retake(func() {
			if w.stack.Reset(w.Target, th) != nil {
				return
			}
			w.readHeap(th)
		})
		if err != nil {
			return
		}
	}
}

// maxValued bounds the texts of a thread's values that are kept until its frames are printed,
// bytes.
const maxValued = 16 << 20
