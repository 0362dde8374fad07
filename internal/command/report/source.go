package report

import (
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Source is a target whose stacks are printed. What only some targets can say or do is in small
// interfaces: [Marker], [Releaser], [Finisher], [Momentary], [Retaker], [Container], [Waiter],
// [Evaluator], [Sharer], [goroutines.Holder] and [goroutines.Clocked].
type Source interface {
	target.Target
	// From returns where the target is from. It is the same each time.
	From() *Origin
	// About fills in the fields about the process.
	About(*Document)
	// Warnings returns all warnings so far.
	Warnings() []string
}

// Origin is where a target is from. A Source embeds it.
type Origin struct {
	Process hosts.Process // for plug-ins
	Root    string        // folder below which to look for debug files first; "" for none
	Opener  elf.Opener    // opens a file that the target names; nil for this program's rights
	Windows bool          // the process is one of Windows
	// InputSize is how large the target really is, bytes: its file on disk, or what a process has
	// in memory; 0 if that is unknown.
	InputSize int64
	// FileFlags are the flags that say where files of another machine's process are, "--exe FILE or
	// --sysroot DIR", and ExeFlag the flag that names the program alone; each "" if there is none.
	FileFlags, ExeFlag string
}

// From implements [Source].
func (o *Origin) From() *Origin { return o }

// Marker is a Source that knows more of a thread than its stack.
type Marker interface {
	// Mark fills in fields of one thread. It is called before the thread is walked, and again then.
	Mark(target.Thread, *Thread)
}

// Releaser is a Source that keeps copies of a thread's stack until it is printed.
type Releaser interface {
	// LetGo is called for each thread that was printed.
	LetGo(target.Thread)
}

// Finisher is a Source of which the walk finds out more.
type Finisher interface {
	// After fills in what is known when all stacks are walked.
	After(*Document)
}

// Momentary is a Source whose threads may all be of one moment.
type Momentary interface {
	// OneMoment reports whether they are.
	OneMoment() bool
}

// Retaker is a [Momentary] Source that can be read anew.
type Retaker interface {
	Momentary
	// Retake reads all threads once more, at one moment. It is called only if they are of one
	// moment already. It calls walk while they are held.
	Retake(walk func()) error
}

// Container is a Source that may have other IDs for its threads than this machine has.
type Container interface {
	// OwnThreads returns the threads by the IDs that the process has for them, where they differ.
	OwnThreads() map[int]int
}

// Waiter is a Source that knows for what a thread waits in a system call.
type Waiter interface {
	// Wait returns that; nil if it waits in none, or for a futex.
	Wait(target.Thread) *waits.Entry
}

// Evaluator is a Source that runs functions of the process for the expressions of --print. Its
// threads are walked one after the other. Of other targets, expressions are only read.
type Evaluator interface {
	// Evaluate evaluates an expression in a frame of a thread.
	Evaluate(r *value.Reader, tid int, f *value.Frame, text string) (value.Value, error)
}

// Sharer is a Source that may be one of several that are walked at the same time, and whose root
// and files are the same. Each is walked by one walker then.
type Sharer interface {
	// Shared returns the symbolizer of all; nil if the target has its own.
	Shared() *symbol.Symbolizer
}

// OneMoment reports whether all threads of a target are of one moment.
func OneMoment(s Source) bool {
	m, ok := s.(Momentary)
	return ok && m.OneMoment()
}

// sharedBy returns the symbolizer that a target shares with others; nil if it shares none.
func sharedBy(s Source) *symbol.Symbolizer {
	if shares, ok := s.(Sharer); ok {
		return shares.Shared()
	}
	return nil
}

// aboutSource fills in the fields of a document about the process.
func aboutSource(s Source, flags *Flags, doc *Document) {
	s.About(doc)
	if !flags.Taken.IsZero() {
		doc.Taken = flags.Taken.UTC().Format(time.RFC3339Nano)
	}
}

// mark fills in fields of one thread, or goroutine.
func mark(s Source, of target.Thread, th *Thread) {
	if g, ok := of.(*goroutines.Thread); ok {
		markGoroutine(s, g, th)
	} else if m, ok := s.(Marker); ok {
		m.Mark(of, th)
	}
}

// letGo says that a thread was printed.
func letGo(s Source, of target.Thread) {
	if r, ok := s.(Releaser); ok {
		r.LetGo(of)
	}
}

// finish fills in what is known when all stacks are walked.
func finish(s Source, doc *Document) {
	if f, ok := s.(Finisher); ok {
		f.After(doc)
	}
}
