//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
)

// Who is whose stack it is: a goroutine's, or a thread's.
type Who struct {
	goroutine int64
	thread    int
}

// Goroutine is the goroutine with Delve's ID; one that runs is walked from its thread's
// registers, one that is parked from where it was parked.
func Goroutine(id int64) Who { return Who{goroutine: id} }

// Thread is the thread with the operating system's ID, whatever runs on it.
func Thread(id int) Who { return Who{thread: id} }

// Frame is one frame as Delve's clients are shown it: a physical one, or a call inlined
// in it.
type Frame struct {
	api.Stackframe
	Physical *frame.Frame // of which it is, or in which it was inlined; nil for a frame that ends the stack with an error
}

// Scope returns the scope in which Delve evaluates expressions in the frame. The error
// of a frame that is not Go's says so.
func (f *Frame) Scope() (*proc.EvalScope, error) { return nil, errors.ErrUnsupported }

// Frames returns at most depth+1 frames, as Delve counts depth, the innermost first. A
// stack that ends early ends with a frame that has nothing but Err.
func Frames(t *Target, who Who, depth int) ([]Frame, error) { return nil, errors.ErrUnsupported }

// Stacktrace returns what [Frames] does, for clients.
func Stacktrace(t *Target, who Who, depth int) ([]api.Stackframe, error) {
	frames, err := Frames(t, who, depth)
	if err != nil {
		return nil, err
	}
	list := make([]api.Stackframe, len(frames))
	for i := range frames {
		list[i] = frames[i].Stackframe
	}
	return list, nil
}
