package v8

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// worker is a thread of worker_threads, in Node.js.
type worker struct {
	number uint64 // threadId
	name   string
}

// Bounds of a worker's record in Node.js, in words, and of its name.
const (
	workerWords    = 64
	mostWorkerName = 256
	mostWorkers    = 1 << 32
)

// workerOf finds the worker of a thread in an isolate, whose stack pointer is sp: a pointer on the
// stack leads to a record with the isolate, and behind it the worker's number, the limit of the
// stack, and the name. ok is false if there is none.
func (h *heap) workerOf(x *isolate, sp uint64) (w worker, ok bool) {
	limits := [2]uint64{x.words[stackLimit/8], x.words[realLimit/8]}
	seen := map[uint64]bool{}
	h.eachWord(sp&^7, mostStack, func(_, p uint64) bool {
		if p%8 != 0 || p < 1<<12 || p >= 1<<47 || seen[p] || p-sp < mostStack {
			return true
		}
		seen[p] = true
		var words [workerWords]uint64
		i := 0
		h.eachWord(p, 8*workerWords, func(_, word uint64) bool {
			words[i] = word
			i++
			return true
		})
		has := false
		for i := 0; i+3 < len(words); i++ {
			if has = has || words[i] == x.at; !has || words[i+1] != limits[0] && words[i+1] != limits[1] || words[i] == 0 || words[i] >= mostWorkers {
				continue
			}
			at, n := words[i+2], words[i+3]
			if n > mostWorkerName {
				continue
			}
			w.name = h.Text(at, n)
			if ok = h.Err() == nil; ok {
				w.number = words[i]
				return false
			}
		}
		return len(seen) < mostPointers
	})
	return w, ok
}

// told says what a thread does in an isolate. ok is false if it is in none.
func (w *walk) told() (t language.Thread, ok bool) {
	if w.async == nil || len(w.stack.Frames) == 0 {
		return t, false
	}
	sp := w.stack.Frames[0].Register(w.stack.Arch.SP)
	if !sp.Known() {
		return t, false
	}
	h := w.reader()
	x := h.isolateOf(sp.Bits)
	if x == nil {
		return t, false
	}
	if of, found := h.workerOf(x, sp.Bits); found {
		t.Name, t.State = of.name, fmt.Sprintf("worker %d", of.number)
	}
	does := ""
	switch h.Uint(x.at+h.async.state, 1) {
	case stateScript:
		does = "runs JavaScript"
	case stateCollect:
		does = "collects garbage"
	case stateIdle:
		does = "waits in the event loop"
		if loop := h.loopOf(sp.Bits); loop != 0 {
			t.Waits, _ = h.awaited(loop)
		}
	}
	switch {
	case t.State == "":
		t.State = does
	case does != "":
		t.State += ", " + does
	}
	h.Err()
	return t, true
}
