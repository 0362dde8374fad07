package record

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target"
)

// tag is what is known of a sample's goroutine.
type tag struct {
	goroutine uint64 // its number; 0 if it is left out
	labels    []goroutine.Label
}

// tagKey is a tag that can be compared: labels are the index of a set of them.
type tagKey struct {
	goroutine uint64
	labels    uint32
}

// Bounds of what samples are told apart by. Beyond them, goroutines have their labels alone, or
// nothing.
const (
	maxTags       = 1 << 14
	maxLabels     = 1 << 12 // sets
	maxLabelBytes = 8 << 20 // of all sets together
)

// tag returns the number of a tag; 0 stands for samples without any.
func (t *tree) tag(goroutine uint64, labels []goroutine.Label) uint32 {
	key := tagKey{goroutine: goroutine}
	if len(labels) > 0 {
		var text strings.Builder
		for _, l := range labels {
			text.WriteString(l.Key)
			text.WriteByte(0)
			text.WriteString(l.Value)
			text.WriteByte(0)
		}
		set, ok := t.labelIDs[text.String()]
		if !ok && len(t.labelIDs) < maxLabels && t.labelBytes+text.Len() <= maxLabelBytes {
			t.labelBytes += text.Len()
			set = uint32(len(t.labelIDs) + 1)
			t.labelIDs[text.String()] = set
		}
		if key.labels = set; set == 0 {
			labels = nil
		}
	}
	for {
		n, ok := t.tagIDs[key]
		switch {
		case key == tagKey{}:
			return 0
		case ok:
			return n
		case key.goroutine != 0 && len(t.tags) >= maxTags:
			key.goroutine = 0 // there are at most maxLabels more
			continue
		}
		n = uint32(len(t.tags))
		t.tags = append(t.tags, tag{key.goroutine, labels})
		t.tagIDs[key] = n
		return n
	}
}

// goes is what is known of Go's runtimes in a process: mostly there is one.
type goes struct {
	watchers []watcher
	asked    []*target.Module // modules that were asked for a runtime
	tried    int
	next     time.Duration // when it is looked for again: a runtime that has just begun is not understood
}

// watcher watches the goroutines of the runtime in a module.
type watcher struct {
	*goroutine.Watcher
	module *target.Module
}

// of returns the watcher of the runtime whose code is on a stack; nil if there is none.
func (g *goes) of(modules *target.Modules, pcs []uint64) *goroutine.Watcher {
	if len(g.watchers) == 1 {
		return g.watchers[0].Watcher
	}
	for _, pc := range slices.Backward(pcs) {
		m := modules.Find(pc)
		for _, w := range g.watchers {
			if w.module == m {
				return w.Watcher
			}
		}
	}
	return nil
}

// These bound how often a runtime that is not understood is looked for, tryAgain apart, and what is
// known of modules without any.
const (
	maxTries = 20
	tryAgain = 500 * time.Millisecond
	maxAsked = 1 << 8 // modules; earlier ones are asked again
)

// process is a space as a target.
type process struct{ *space }

func (p process) Arch() *arch.Arch                  { return p.arch }
func (p process) Threads() ([]target.Thread, error) { return nil, nil }
func (p process) Modules() *target.Modules          { return p.modules }
func (p process) Close() error                      { return nil }

// Memory is the memory that the process has now.
func (p process) Memory() target.Memory {
	if mem := p.host.memory(p.pid); mem != nil {
		return mem
	}
	return noMemory{}
}

// noMemory is the memory of a process which has ended.
type noMemory struct{}

// ReadMemory implements [target.Memory].
func (noMemory) ReadMemory(uint64, []byte) (int, error) { return 0, target.ErrUnmapped }

// findGo looks for a runtime in the module of an address, if it was not asked yet.
func (s *space) findGo(addr uint64) {
	g := &s.goes
	m := s.modules.Find(addr)
	if m == nil || g.tried >= maxTries || len(g.watchers) == maxTries || slices.Contains(g.asked, m) {
		return
	}
	if s.host.memory(s.pid) == nil {
		return
	}
	now := clock()
	if g.tried > 0 && now < g.next {
		return
	}
	if len(g.asked) >= maxAsked {
		g.asked = g.asked[:0]
	}
	r, err := goroutine.FindIn(process{s}, m)
	switch {
	case err == nil:
		if w := r.Watch(clock); w != nil {
			g.watchers = append(g.watchers, watcher{w, m})
		}
		g.asked = append(g.asked, m)
		return
	case errors.Is(err, goroutine.ErrNotGo):
		g.asked = append(g.asked, m)
		return
	}
	g.tried, g.next = g.tried+1, now+tryAgain
}

// goroutine returns the number of the tag of a sample, whose stack has these addresses.
func (s *space) goroutine(at uint64, pcs []uint64) uint32 {
	if len(pcs) > 0 {
		s.findGo(pcs[len(pcs)-1])
	}
	w := s.goes.of(s.modules, pcs)
	if w == nil {
		return 0
	}
	if s.life.gone.Load() {
		return 0
	}
	number, labels, _ := w.Running(time.Duration(at), &s.regs)
	if len(s.tree.keys) >= s.tree.bounds.keys/2 { // there shall be room for stacks
		number = 0
	}
	return s.tree.tag(number, labels)
}

// lookAtGoroutines has more known of those goroutines that run, of the time from now on. since is
// the time up to which records were read.
func (e *engine) lookAtGoroutines(since time.Duration) {
	e.labelled = false
	for _, s := range e.walking {
		for _, w := range s.goes.watchers {
			e.labelled, e.soon = w.Look(since) || e.labelled, true
		}
	}
}

// labelsWait is how long the rings are left alone where goroutines have labels: what has changed
// between two looks is not known.
const labelsWait = 10 * time.Millisecond
