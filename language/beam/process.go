package beam

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/language"
)

// mostStack bounds the words of a process's stack that are looked at.
const mostStack = 1 << 20

// isProcess reports whether an address is a process's record.
func (r *reader) isProcess(p uint64) bool {
	heap, top, stop, end := r.Pointer(p+r.Of("process.heap")), r.Pointer(p+r.Of("process.htop")), r.Pointer(p+r.Of("process.stop")), r.Pointer(p+r.Of("process.hend"))
	return erts.IsPid(r.Pointer(p+r.Of("process.id"))) && r.OK() && p%8 == 0 && stop%8 == 0 && heap <= top && stop <= end && heap < end && stop >= heap
}

// pid returns a process as Erlang writes it.
func (r *reader) pid(id uint64) string {
	number, serial := r.processes.Of(id)
	return fmt.Sprintf("<0.%d.%d>", number, serial)
}

// registered returns the name under which a process, or a port, is registered; "" if it is not.
func (r *reader) registered(p uint64) string {
	at := r.Pointer(p + r.Of("process.registered"))
	if at == 0 || !r.OK() {
		return ""
	}
	name, _ := r.atom(r.Pointer(at + r.Of("registered.name")))
	return quotedUnlessEmpty(name)
}

func quotedUnlessEmpty(name string) string {
	if name == "" {
		return ""
	}
	return quoted(name)
}

// called returns a process with its registered name, if it has one.
func (r *reader) called(p uint64) string {
	text := r.pid(r.Pointer(p + r.Of("process.id")))
	if name := r.registered(p); name != "" {
		text += " " + name
	}
	return text
}

// returns returns the addresses to which the functions of a process return, the innermost first,
// from a place on its stack on. early says why they end before they should.
func (r *reader) returns(stack, end uint64, to []uint64) (list []uint64, early string) {
	if end < stack || (end-stack)/8 > mostStack {
		return to, "its stack is too large"
	}
	pointer := false // the word before was a frame pointer
	skip := uint64(0)
	for at := stack; at < end; at += uint64(len(r.piece)) {
		b := r.piece[:min(uint64(len(r.piece)), end-at)&^7]
		if !r.spend(len(b) / 8) {
			return to, "there are too many words on the stacks of processes"
		}
		if !r.Bytes(at, b) {
			return to, "its stack cannot be read"
		}
		for ; len(b) > 0; b = b[8:] {
			w := r.Arch.Order.Uint64(b)
			switch {
			case skip > 0: // of a frame that traces
				skip--
				continue
			case pointer:
				pointer = false
			case w&3 != 0:
				continue
			case r.FramePointers:
				pointer = true
				continue
			}
			if words, ok := r.code.Shared(w); ok {
				skip = words
				continue
			}
			to = append(to, w)
		}
	}
	return to, ""
}

// parked returns the addresses of a process that no thread runs in compiled code: where it goes on,
// and where its functions return to.
func (r *reader) parked(p uint64) (list []uint64, early string) {
	list = append(list, r.Pointer(p+r.Of("process.i")))
	return r.returns(r.Pointer(p+r.Of("process.stop")), r.Pointer(p+r.Of("process.hend")), list)
}

// frames returns the frames of the addresses that parked has returned.
func (r *reader) frames(list []uint64) (frames []language.Frame) {
	for i, pc := range list {
		if !r.spend(8) {
			break
		}
		in := pc
		if i > 0 {
			in-- // the call
		}
		if f, ok := r.frameAt(in); ok {
			f.Place = pc
			frames = append(frames, f)
		}
	}
	return frames
}

// state says what a process does, from its flags.
func (r *reader) state(flags uint64) string {
	var list []string
	add := func(text string, names ...string) bool {
		for _, name := range names {
			if flags&r.Of("state."+name) != 0 {
				list = append(list, text)
				return true
			}
		}
		return false
	}
	switch {
	case add("exiting", "exiting"):
	case add("garbage collecting", "garbage"):
	case add("running", "running", "running_system", "dirty", "dirty_system"):
	case add("suspended", "suspended"):
	case add("runnable", "active"):
	default:
		return "waiting"
	}
	return strings.Join(list, ", ")
}
