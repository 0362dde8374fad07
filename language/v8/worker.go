package v8

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch/amd64"
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
	shortName      = 16 // bytes of a std::string of libstdc++ that is in itself, with the byte at its end
	mostWorkers    = 1 << 32
	outermost      = 8 << 10 // bytes of a stack, with the functions in which a worker began
	behind         = 8 << 10 // bytes behind the stack, with what the thread was started with
)

// workerOf finds the worker of a thread in an isolate, whose stack begins at sp and ends at end: a
// pointer in its outermost functions, or behind them, leads to a record with the isolate, and
// behind it the worker's number, the limit of the stack, and the name. ok is false if there is
// none.
func (h *heap) workerOf(x *isolate, sp, end uint64) (w worker, ok bool) {
	sp = max(sp, end-min(end, outermost))
	end += behind
	limits := [2]uint64{x.words[stackLimit/8], x.words[realLimit/8]}
	h.pointers(sp, end, func(p uint64) bool {
		if p-x.words[realLimit/8] < farthestLimit {
			return false // it is on the stack
		}
		var words [workerWords]uint64
		i := 0
		h.eachWord(p, 8*workerWords, func(_, word uint64) bool {
			words[i] = word
			i++
			return true
		})
		has := false
		for i := 0; i+4 < len(words) && !ok; i++ {
			has = has || words[i] == x.at
			limit := words[i+1] == limits[0] || words[i+1] == limits[1]
			if !has || !limit || words[i] == 0 || words[i] >= mostWorkers || words[i+3] > mostWorkerName {
				continue
			}
			// The name is in the record if it is short; else there is its capacity.
			if within := words[i+2] == p+8*uint64(i+4); within != (words[i+3] < shortName) || !within && words[i+4] < words[i+3] {
				continue
			}
			w.number, w.name = words[i], h.Text(words[i+2], words[i+3])
			ok = h.Err() == nil
		}
		return ok
	})
	if !ok {
		return worker{}, false
	}
	return w, true
}

// span returns where the stack begins and ends.
func (w *walk) span() (sp, end uint64, ok bool) {
	frames := w.stack.Frames
	for i := len(frames) - 1; i >= 0 && end == 0; i-- { // the outermost one may lack it
		end, _ = frames[i].CFA()
	}
	if len(frames) > 0 {
		first := frames[0].Register(w.stack.Arch.SP)
		sp, ok = first.Bits, first.Known()
	}
	return sp, end, ok && sp < end
}

// told says what a thread does in an isolate. ok is false if it is in none.
func (w *walk) told() (t language.Thread, ok bool) {
	if w.async == nil || len(w.stack.Frames) == 0 {
		return t, false
	}
	sp, end, ok := w.span()
	if !ok {
		return t, false
	}
	h := w.reader()
	x := h.isolateOf(sp, end, w.stack.Frames[0].Register(amd64.R13).Bits, w.stack.Frames[0].Register(amd64.FSBase).Bits)
	if x == nil {
		return t, false
	}
	if of, found := h.workerOf(x, sp, end); found {
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
		if loop := h.loopOf(sp, end); loop != 0 {
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
