package goroutines

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// List has the goroutines of a target, as threads whose stacks can be walked.
type List struct {
	Threads []target.Thread // each is a [Thread]
	Asleep  *Asleep         // nil if one can go on, or nothing is known

	missing error  // why some are missing
	unsaved string // what to say then of a snapshot
	unkept  bool   // a snapshot lacks some
}

// Holder is a target all whose threads can be held while their memory is copied.
type Holder interface {
	target.Target
	Now() target.Memory
	RetakeWith(room int, also func(*live.Held), walk func()) error
	Keep(live.Kept)
}

// Clocked is a target that was saved while time stood still for it.
type Clocked interface {
	// Clock returns the time by the clock of Go's runtime; 0 if it was saved without goroutines.
	Clock() time.Duration
}

// Of returns the goroutines of t, which is a [Holder] if it is a live process, and [Clocked] if it
// is a snapshot. oneMoment says that its threads are of one moment; saved says that t is saved to a
// file, which must have all that is shown of it.
func Of(t target.Target, oneMoment, saved bool) (*List, error) {
	noted := &notedReads{Memory: t.Memory()}
	runtimes, missing := goroutine.FindAll(noting{t, noted})
	if len(runtimes) == 0 {
		return nil, fmt.Errorf("--goroutines: %w%s", missing, unsaved(t))
	}
	r := runtimeList(runtimes)
	var err error
	found := &listing{memory: func(*goroutine.Goroutine) target.Memory { return t.Memory() }}
	if h, ok := t.(Holder); ok {
		if !saved { // what FindAll has read does not change
			*noted = notedReads{Memory: noted.Memory}
		}
		found, err = hold(h, r, noted, saved)
	} else {
		found.list, err = r.appendAll(nil, t.Memory())
		if c, ok := t.(Clocked); ok {
			found.now = int64(c.Clock())
		}
		found.waits, found.objects = r.waits(t.Memory(), found.list)
	}
	if len(found.list) == 0 && err != nil {
		return nil, fmt.Errorf("--goroutines: %w%s", err, unsaved(t))
	}
	threads, why := t.Threads()
	if why != nil {
		return nil, why
	}
	l := &List{missing: errors.Join(missing, err), unsaved: unsaved(t), unkept: found.unkept}
	if l.missing == nil && len(r) == 1 && oneMoment {
		l.Asleep = allAsleep(t, found.list, threads)
	}
	found.names = r.names()
	l.Threads = threadsOf(t, found, threads)
	return l, nil
}

// Warnings says which goroutines are missing.
func (l *List) Warnings() (list []string) {
	if l.missing != nil {
		list = append(list, fmt.Sprintf("some goroutines are missing: %v%s", l.missing, l.unsaved))
	}
	if l.unkept {
		list = append(list, "--save: there are too many goroutines: 'sfwalk open --goroutines' will miss some")
	}
	return list
}

// Entry returns what is known of the goroutine beside its stack.
func (t *Thread) Entry() Entry {
	name := t.of.names[t.Goroutine.Module]
	return Entry{
		Number: t.Goroutine.Number, Runtime: name.whole, runtime: name.short, Status: t.Goroutine.Status.String(), Reason: t.Goroutine.Reason,
		WaitNS: int64(t.waited()), TID: t.Goroutine.Thread, Labels: t.Goroutine.Labels, WaitsFor: t.waits,
	}
}

// threadsOf returns the goroutines of a list as threads.
func threadsOf(s target.Target, found *listing, threads []target.Thread) []target.Thread {
	list := found.list
	out := make([]target.Thread, len(list))
	items := make([]Thread, len(list))
	for i := range list {
		g, x := &list[i], &items[i]
		*x = Thread{Goroutine: g, of: found, arch: s.Arch(), waits: objectEntries(found, i)}
		out[i] = x
		if g.Parked() {
			continue
		}
		at := slices.IndexFunc(threads, func(t target.Thread) bool { return t.ID() == g.Thread })
		if at >= 0 {
			x.RunBy = threads[at]
			if x.memory = target.MemoryOf(s, x.RunBy); found.running != nil {
				x.memory = found.running(g, x.memory)
			}
		}
	}
	found.waits, found.entries = nil, nil
	return out
}

// unsaved returns what to say of a snapshot that may have been saved without goroutines.
func unsaved(s target.Target) string {
	if t, ok := s.(Clocked); ok && t.Clock() == 0 {
		return ": the snapshot has them if it was saved by attach --goroutines --save"
	}
	return ""
}
