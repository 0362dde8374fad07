//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
)

// Who is whose stack it is: a goroutine's, or a thread's.
type Who struct {
	goroutine int64
	thread    int
	isThread  bool
}

// Goroutine is the goroutine with Delve's ID; -1 and 0 are the selected one, and the
// current thread where none is selected, as in [proc.FindGoroutine]. A goroutine that
// runs is walked from its thread's registers, one that is parked from where it was.
func Goroutine(id int64) Who { return Who{goroutine: id} }

// Thread is the thread with the operating system's ID, whatever runs on it.
func Thread(id int) Who { return Who{thread: id, isThread: true} }

func (w Who) String() string {
	if w.isThread {
		return fmt.Sprintf("thread %d", w.thread)
	}
	return fmt.Sprintf("goroutine %d", w.goroutine)
}

// Options say how much is told of a stack.
type Options struct {
	// Depth is one less than the most frames that are wanted, as Delve counts; it
	// must not be negative.
	Depth int
	// Defers asks for the functions that each frame has deferred.
	Defers bool
	// Load asks for arguments and local variables, and says how much of them.
	Load *proc.LoadConfig
}

// Frame is one frame as Delve's clients are shown it: a physical one, or a call inlined
// in it.
type Frame struct {
	api.Stackframe

	// Physical is the frame of the engine's that this is, or that this was inlined in.
	// It is nil for one that ends the stack with an error.
	Physical *frame.Frame
	Inlined  bool

	// Delve has this frame first, and then its callers as far as Delve knows them; it
	// is empty where Delve does not know the frame.
	Delve []proc.Stackframe

	subject *subject
}

// Frames returns at most o.Depth+1 frames, the innermost first. A stack that ends early
// has one frame more, with nothing but Err. The error says why there is no frame at all.
func Frames(t *Target, who Who, o Options) (frames []Frame, err error) {
	if o.Depth < 0 {
		return nil, errors.New("negative maximum stack depth")
	}
	err = guard(who.String(), func() error {
		s, err := t.subject(who)
		if err == nil {
			frames, err = s.frames(&o)
		}
		return err
	})
	return frames, err
}

// Stacktrace returns what [Frames] does, for clients.
func Stacktrace(t *Target, who Who, depth int) ([]api.Stackframe, error) {
	frames, err := Frames(t, who, Options{Depth: depth})
	if err != nil {
		return nil, err
	}
	list := make([]api.Stackframe, len(frames))
	for i := range frames {
		list[i] = frames[i].Stackframe
	}
	return list, nil
}

// ErrPanic says that Delve has panicked over what it read of the process, as it does
// over some broken structures of the runtime's. Errors of this package wrap it.
var ErrPanic = errors.New("panic inside Delve")

// guard calls f, which calls Delve.
func guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", what, ErrPanic, p)
		}
	}()
	return f()
}
