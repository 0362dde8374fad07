//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/logical"
)

// Owner says whose stack is asked for: a goroutine's or a thread's.
type Owner struct {
	goroutine int64
	thread    int
	isThread  bool
}

// Goroutine returns the owner that is the goroutine with Delve's ID id. -1 and 0 stand for the
// selected goroutine, or for the current thread where none is selected, as in [proc.FindGoroutine].
// A running goroutine is walked from its thread's registers, a parked one from the registers that
// the run time has saved.
func Goroutine(id int64) Owner { return Owner{goroutine: id} }

// Thread returns the owner that is the thread with the operating system's ID id, whatever runs on
// it.
func Thread(id int) Owner { return Owner{thread: id, isThread: true} }

func (o Owner) String() string {
	if o.isThread {
		return fmt.Sprintf("thread %d", o.thread)
	}
	return fmt.Sprintf("goroutine %d", o.goroutine)
}

// Options say how many frames [Frames] returns, and what each of them holds.
type Options struct {
	// Depth is the number of the last frame that is wanted, counted from 0 as Delve
	// does. It must not be negative.
	Depth int
	// Defers asks for the functions that each frame has deferred.
	Defers bool
	// Load asks for arguments and local variables, and bounds what is read of each. Where
	// it is nil, frames have none.
	Load *proc.LoadConfig
}

// Frame is one frame as Delve's clients see it: a physical frame, a call inlined in it, a C
// function that left by a tail call, or a frame of a language such as Python's.
type Frame struct {
	api.Stackframe

	// Physical is the engine's frame, the one that this call is inlined in, or the one at which a
	// frame of a language stands. It is nil in a Frame with Err, which ends the stack.
	Physical *frame.Frame
	Inlined  bool             // Physical has this call inlined
	TailCall bool             // the function has left by a tail call, which has led to Physical
	Language *language.Placed // what a language says of its frame; nil for all other frames

	// DelveFrames are Delve's own frames: this one, then its callers as far as Delve
	// knows them. It is empty where Delve does not know the frame.
	DelveFrames []proc.Stackframe

	subject *subject
	logical logical.Frame    // of a function that is not Go's
	valued  *language.Placed // Language with its variables; nil before these are read
}

// Frames returns at most o.Depth+1 frames of owner's stack, the innermost first. A stack
// that cannot be walked to its end has one Frame more, with nothing but Err. The error of
// Frames says why there is no frame at all.
func Frames(t *Target, owner Owner, o Options) (frames []Frame, err error) {
	if o.Depth < 0 {
		return nil, errors.New("negative maximum stack depth")
	}
	err = guard(owner.String(), func() error {
		s, err := t.subject(owner)
		if err == nil {
			frames, err = s.frames(&o)
		}
		return err
	})
	return frames, err
}

// Stacktrace returns the frames that [Frames] returns, in the types of Delve's API, for its
// clients.
func Stacktrace(t *Target, owner Owner, depth int) ([]api.Stackframe, error) {
	frames, err := Frames(t, owner, Options{Depth: depth})
	if err != nil {
		return nil, err
	}
	list := make([]api.Stackframe, len(frames))
	for i := range frames {
		list[i] = frames[i].Stackframe
	}
	return list, nil
}

// ErrPanic says that Delve has panicked, as it does over some broken structures of the run
// time that it reads. Errors of this package wrap it.
var ErrPanic = errors.New("panic inside Delve")

// guard calls f, which calls Delve, and returns a panic as an error. what says in the error
// what was asked for.
func guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", what, ErrPanic, p)
		}
	}()
	return f()
}
