// Package coroutines finds the coroutines of Lua and of LuaJIT, which keep them alike: a
// global_State has a main state, and leads to a list of all objects of the garbage collector, the
// newest first. Coroutines are among these.
package coroutines

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of what is looked at in one process.
const (
	mostSearched = 4 << 30 // bytes that are searched for states
	mostGroups   = 1 << 12 // of states that share a global_State
	mostObjects  = 1 << 25
	mostTasks    = 1 << 18
	mostFrames   = 1 << 20 // of all coroutines together
	near         = 2 << 10 // how far a main state is from its global_State at most, bytes: both are in one piece of memory
)

// Mains are the main states of a process. The zero Mains is ready to use. It is safe for concurrent
// use.
type Mains struct{ known atomic.Pointer[found] }

type found struct {
	list []uint64
	err  error // why there may be more
}

// In returns the addresses of the main states in memory. A state has the address of its
// global_State at an offset; is reports whether a main state is at an address. The process is
// searched through once: from then on, states count that were there then, while one of them is. The
// error says why there may be more.
func (x *Mains) In(m target.Memory, order binary.ByteOrder, writable []target.Mapping, offset uint64, is func(state uint64) bool) (list []uint64, err error) {
	if before := x.known.Load(); before != nil {
		for _, at := range before.list {
			if is(at) {
				list = append(list, at)
			}
		}
		if len(list) > 0 {
			return list, before.err
		}
	}
	var room scan.Room
	whole := room.Words(m, writable, mostSearched, func(at uint64, data []byte) {
		for i := 0; i < len(data); i += 8 {
			state := at + uint64(i) - offset
			if order.Uint64(data[i:])-state+near < 2*near && is(state) && len(list) <= mostGroups {
				list = append(list, state)
			}
		}
	})
	switch {
	case len(list) > mostGroups:
		list, err = list[:mostGroups], fmt.Errorf("there are more than %d groups of states", mostGroups)
	case !whole:
		err = fmt.Errorf("the process has more than %d GiB of memory that can have states of Lua: the rest was not searched", mostSearched>>30)
	}
	x.known.Store(&found{list, err})
	return list, err
}

// Walk goes through the objects of all groups of a process. The zero Walk is ready to use.
type Walk struct{ objects, tasks, frames int }

// Objects calls each for the objects of a list, from the first on, until that returns an error.
// next is the offset of the address of the next object in one.
func (w *Walk) Objects(m *structs.Reader, first, next uint64, each func(object uint64) error) error {
	begin, mark := w.objects, uint64(0) // a list that goes round comes back to a mark
	for at := first; at != 0; at = m.Pointer(at + next) {
		if w.objects++; w.objects > mostObjects {
			return fmt.Errorf("there are more than %d objects", mostObjects)
		}
		if n := w.objects - begin; n&(n-1) == 0 {
			mark = at
		} else if at == mark {
			return fmt.Errorf("the list of objects from %#x on goes round", first)
		}
		if err := each(at); err != nil {
			return err
		}
	}
	return m.Err()
}

// Task counts a coroutine with so many frames. The error says that there are too many.
func (w *Walk) Task(frames int) error {
	if w.tasks, w.frames = w.tasks+1, w.frames+frames; w.tasks > mostTasks || w.frames > mostFrames {
		return fmt.Errorf("there are more than %d coroutines, or more than %d frames of them", mostTasks, mostFrames)
	}
	return nil
}
