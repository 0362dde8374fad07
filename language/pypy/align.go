package pypy

// element is a function that a record says runs.
type element struct {
	number uint64 // the function's
	record int    // the record's index
	inside bool   // compiled code has the function inlined
	enters bool   // the function has entered the compiled code of a record further in
	doubt  bool   // the instruction that the frame has may be an older one
	frame  *pythonFrame
	extra  []*pythonFrame // frames further in that no record has, the outermost first
}

// segment is a run of frames in memory, the innermost first, each of which leads to the next.
type segment struct {
	frames []*pythonFrame
	base   int // the element of the innermost frame; -1 if that is not known
}

// align gives elements, the innermost first, their frames. complete says that the last frame of the
// last segment is the outermost one.
//
// A frame is in memory unless compiled code keeps it in registers. So the frames are fewer than the
// elements, or more: while the compiler records what runs, functions have no records.
func align(elements []element, segments []segment, complete bool) {
	last := len(segments) - 1
	end := len(elements) // what is further out is aligned
	for s := last; s >= 0; s-- {
		frames := segments[s].frames
		switch base := segments[s].base; {
		case len(frames) == 0:
		case base >= 0:
			outward(elements[base:end], frames)
			end = base
		case s == last && complete:
			inward(elements[:end], frames)
			end = 0
		default:
			// Further out are functions of one frame of compiled code, which has no
			// frames in memory: all, or the outer ones.
			from := end
			for from > 0 && elements[from-1].inside && elements[from-1].record == elements[end-1].record {
				from--
			}
			for ; from < end; from++ {
				if from > 0 && fits(elements[:from], frames) {
					break
				}
			}
			inward(elements[:from], frames)
			end = 0
		}
	}
}

// fits reports whether the outermost of frames belong to the outermost of elements.
func fits(elements []element, frames []*pythonFrame) bool {
	for i, j := len(elements)-1, len(frames)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if elements[i].number != frames[j].code.number {
			return false
		}
	}
	return true
}

// mostExtra bounds the frames in a row that no record has.
const mostExtra = 64

// outward aligns frames from the innermost on.
func outward(elements []element, frames []*pythonFrame) {
	for i := range elements {
		if i >= len(frames) || elements[i].number != frames[i].code.number {
			return
		}
		elements[i].frame = frames[i]
	}
}

// inward aligns frames from the outermost on.
func inward(elements []element, frames []*pythonFrame) {
	i := len(elements) - 1
	for j := len(frames) - 1; j >= 0; j-- {
		switch {
		case i >= 0 && elements[i].number == frames[j].code.number:
			elements[i].frame = frames[j]
			i--
		case i >= 0 && !within(elements[i].number, frames[max(0, j-mostExtra):j]):
			i-- // it has no frame yet, or none any more
			j++
		case i+1 < len(elements):
			elements[i+1].extra = append(elements[i+1].extra, frames[j])
		}
	}
}

// within reports whether one of frames is of the function with a number.
func within(number uint64, frames []*pythonFrame) bool {
	for _, f := range frames {
		if f.code.number == number {
			return true
		}
	}
	return false
}
