package v8

import (
	"fmt"
	"syscall"

	"github.com/sfwalk/sfwalk/language"
)

// Bounds of a loop of events.
const (
	mostHandles = 1 << 16
	mostNamed   = 8 // handles of a kind that are told one by one
	mostPath    = 256
)

// The parts of libuv's loop (uv_loop_t) and handles (uv_handle_t and others), in bytes, as its
// public headers have them: they are the same in all its releases 1.x.
const (
	loopHandles  = 16 // a queue
	loopRequests = 32
	loopTime     = 544

	handleLoop     = 8
	handleType     = 16
	handleQueue    = 32
	handleFlags    = 88
	timerTimeout   = 128
	streamFD       = 184
	streamListens  = 224 // what is called for each connection
	pipeName       = 256
	datagramFD     = 176
	pollFD         = 152
	processID      = 104
	watchPath      = 96
	signalNumber   = 104
	flagActive     = 4
	flagReferenced = 8
)

// Kinds of handles.
const (
	kindAsync    = 1
	kindFSEvent  = 3
	kindFSPoll   = 4
	kindPipe     = 7
	kindPoll     = 8
	kindProcess  = 10
	kindTCP      = 12
	kindTimer    = 13
	kindTTY      = 14
	kindDatagram = 15
	kindSignal   = 16
)

// isLoop reports whether a loop of events is at an address: its handles lead back to it.
func (h *heap) isLoop(at uint64) bool {
	defer h.Err()
	queue := at + loopHandles
	next := h.Uint(queue, 8)
	if next%8 != 0 || next == queue || next < 1<<12 || !h.OK() {
		return false
	}
	return h.Uint(next+8, 8) == queue && h.Uint(h.Uint(queue+8, 8), 8) == queue && h.Uint(next-handleQueue+handleLoop, 8) == at && h.OK()
}

// loopOf finds the loop of events that a thread is in, whose stack begins at sp and ends at end; 0
// if there is none.
func (h *heap) loopOf(sp, end uint64) (loop uint64) {
	h.pointers(sp, end, func(p uint64) bool {
		if h.isLoop(p) {
			loop = p
		}
		return loop != 0
	})
	return loop
}

// awaited returns what a loop waits for: its active handles that keep it alive, and requests.
func (h *heap) awaited(loop uint64) (list []language.Lock, err error) {
	counts, order := map[string]int{}, []string{}
	add := func(kind, name string) {
		if counts[kind]++; counts[kind] == 1 {
			order = append(order, kind)
		}
		if counts[kind] <= mostNamed {
			list = append(list, language.Lock{Kind: kind, Name: name, Level: -1})
		}
	}
	queue := loop + loopHandles
	n := 0
	for node := h.Uint(queue, 8); node != queue && h.OK(); node = h.Uint(node, 8) {
		handle := node - handleQueue
		if n++; n > mostHandles || h.Uint(handle+handleLoop, 8) != loop {
			h.Fail("the handles of the event loop make no sense")
			break
		}
		if flags := h.Uint(handle+handleFlags, 4); flags&flagActive != 0 && flags&flagReferenced != 0 {
			add(h.handleOf(loop, handle))
		}
	}
	for _, kind := range order {
		if more := counts[kind] - mostNamed; more > 0 {
			list = append(list, language.Lock{Kind: kind, Name: fmt.Sprintf("%d more", more), Level: -1})
		}
	}
	if requests := h.Uint(loop+loopRequests, 4); requests > 0 && h.OK() {
		list = append(list, language.Lock{Kind: "end of requests", Name: fmt.Sprint(requests), Level: -1})
	}
	return list, h.Err()
}

// handleOf returns what a handle is, and which one.
func (h *heap) handleOf(loop, handle uint64) (kind, name string) {
	fd := func(at uint64) string { return fmt.Sprintf("fd %d", int32(h.Uint(handle+at, 4))) }
	text := func(at uint64) string {
		p := h.Uint(handle+at, 8)
		if p == 0 {
			return ""
		}
		s := h.CString(p)
		return s[:min(len(s), mostPath)]
	}
	stream := func(kind string) string {
		if h.Uint(handle+streamListens, 8) != 0 {
			return kind + " server"
		}
		return kind + " connection"
	}
	switch t := h.Uint(handle+handleType, 4); t {
	case kindAsync:
		return "wake-up from another thread", ""
	case kindFSEvent:
		return "file watcher", text(watchPath)
	case kindFSPoll:
		return "file poller", ""
	case kindPipe:
		if path := text(pipeName); path != "" {
			return stream("pipe"), fd(streamFD) + ", " + path
		}
		return stream("pipe"), fd(streamFD)
	case kindPoll:
		return "descriptor", fd(pollFD)
	case kindProcess:
		return "child process", fmt.Sprint(int32(h.Uint(handle+processID, 4)))
	case kindTCP:
		return stream("TCP"), fd(streamFD)
	case kindTimer:
		wait := int64(h.Uint(handle+timerTimeout, 8) - h.Uint(loop+loopTime, 8))
		return "timer", fmt.Sprintf("%d ms after the wait began", max(wait, 0))
	case kindTTY:
		return "terminal", fd(streamFD)
	case kindDatagram:
		return "UDP socket", fd(datagramFD)
	case kindSignal:
		return "signal", fmt.Sprintf("%d, %v", h.Uint(handle+signalNumber, 4), syscall.Signal(h.Uint(handle+signalNumber, 4)))
	default:
		return "handle", fmt.Sprintf("of kind %d", t)
	}
}
