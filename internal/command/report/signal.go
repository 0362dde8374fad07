package report

import (
	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
)

// Signal is a Unix signal and what came with it.
type Signal struct {
	Number     int          `json:"number"`
	Name       string       `json:"name"`
	Code       string       `json:"code,omitempty"` // "SEGV_MAPERR"
	Address    *address.Hex `json:"address,omitempty"`
	Sender     int          `json:"sender,omitempty"`      // process that sent it
	Child      int          `json:"child,omitempty"`       // of SIGCHLD: process that has ended or stopped
	Status     *int         `json:"status,omitempty"`      // its exit status, or its signal
	SystemCall *int         `json:"system_call,omitempty"` // of SIGSYS

	text string // all of it in a few words
}

// NewSignal describes a signal.
func NewSignal(s *siginfo.Info) *Signal {
	x := &Signal{Number: s.Number, Name: s.Name, Code: s.CodeName, Sender: s.Sender, Child: s.Child, text: s.String()}
	if s.HasAddr {
		x.Address = new(address.At(s.Addr))
	}
	if s.Child != 0 {
		x.Status = new(s.Status)
	}
	if s.HasCall {
		x.SystemCall = new(s.Call)
	}
	return x
}

// Text says in a few words what came: "SIGSEGV at 0x0".
func (s *Signal) Text() string {
	if s.text == "" {
		return s.Name
	}
	return s.text
}

// WithoutCause returns a signal's number and name alone; nil for nil.
func (s *Signal) WithoutCause() *Signal {
	if s == nil {
		return nil
	}
	return &Signal{Number: s.Number, Name: s.Name}
}

// Equal reports whether all is the same of two signals, as far as it is said of them.
func (s *Signal) Equal(other *Signal) bool {
	return other != nil && s.text == other.text && s.Number == other.Number && s.Code == other.Code
}

// crashes reports whether the kernel, or abort(3), ends a process by the signal that has no handler
// for it: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
func (s *Signal) crashes() bool {
	const sigabrt = 6
	if s == nil {
		return false
	}
	switch s.Number {
	case siginfo.SIGILL, sigabrt, siginfo.SIGBUS, siginfo.SIGFPE, siginfo.SIGSEGV, siginfo.SIGSYS:
		return true
	}
	return false
}

// mostCrashed is how many of Document.Crashed there are at most.
const mostCrashed = 20

// addCrashed adds to d.Crashed a thread that has Crashed.
func (d *Document) addCrashed(t *Thread) {
	if t.Crashed != nil && t.Goroutine == nil && len(d.Crashed) < mostCrashed {
		d.Crashed = append(d.Crashed, Thread{TID: t.TID, Name: t.Name, Crashed: t.Crashed})
	}
}

// signalOf returns the signal that THIS frame's handler was called for; nil if it is not known.
func signalOf(f *frame.Frame) *Signal {
	if s, ok := f.Signal(); ok {
		return NewSignal(&s)
	}
	return nil
}

// mostToHandler is among how many of a thread's inner frames a signal frame is looked for, and
// among how many behind each that was found. mostFrames bounds them all: handlers that crash may be
// nested until the stack is full.
const mostToHandler, mostFrames = 128, 1 << 16

// inHandlers sets d.Handlers if the process has died, or was stopped by a signal: the thread's
// stack is walked once more, before the document's first line is printed.
func (of *walk) inHandlers(d *Document) {
	if d.Signal == nil && (d.CrashReport == nil || d.Crash == nil) || len(of.walkers) == 0 {
		return
	}
	s := of.Source
	if g, ok := s.(*goroutineSource); ok {
		s = g.Source
	}
	threads, err := s.Threads()
	if err != nil {
		return
	}
	for _, th := range threads {
		var about Thread
		if mark(s, th, &about); !about.Died && !about.Stopped {
			continue
		}
		table := of.walkers[0].Table.Clone() // with rows of its own: the walk that is printed is as without this one
		defer table.Release()
		stack, err := frame.New(s, th, table)
		if err != nil {
			return
		}
		defer stack.Close()
		stack.Limit = mostFrames
		last := 0
		for f, err := range stack.AllOnce() {
			if err != nil || f.Level-last >= mostToHandler {
				return
			}
			if f.Type() == frame.SigTramp {
				d.Handlers, last = append(d.Handlers, signalOf(f)), f.Level
			}
		}
		return
	}
}
