package symbol

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/elfimage"
)

// sharedInfo is the DWARF of a file, for all modules of that. What was read of it is let go of
// where there is no room for other files', and read again when it is asked for.
type sharedInfo struct {
	mod   *elfModule      // the first one, which has the warnings
	from  *elfimage.Image // has the DWARF
	spare *elfimage.Evictable

	mu     sync.Mutex
	opened bool
	info   *debugInfo // nil if it cannot be read

	short  atomic.Bool // there was no room for some of it
	judged atomic.Bool // nor is there where all other files have let go

	warnings []error // of info; under mod.mu
}

func newSharedInfo(mod *elfModule, from *elfimage.Image) *sharedInfo {
	x := &sharedInfo{mod: mod, from: from}
	x.spare = mod.image.Evictable(x.letGo)
	mod.splits.kept = x
	return x
}

// get opens the DWARF if need be. The caller uses the spare.
func (x *sharedInfo) get() *debugInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.opened {
		x.opened = true
		if x.spare.MayRebuild() {
			x.info = x.mod.openInfo(x)
		} else {
			x.warn(fmt.Errorf("read DWARF once more: %w", elfimage.ErrBudget))
		}
	}
	return x.info
}

// letGo forgets what was read, but not the warnings, unless there was too little room, and may be
// more. Nobody uses it.
func (x *sharedInfo) letGo() {
	x.mod.mu.Lock()
	warnings := x.warnings
	x.warnings = nil
	x.mod.mu.Unlock()
	if !x.missing() {
		for _, err := range warnings {
			x.mod.warn("%s: %w", x.mod.m.Path, err)
		}
	}
	x.opened, x.info = false, nil
	x.mod.splits.forget()
	x.short.Store(false)
	x.judged.Store(false)
}

func (x *sharedInfo) warn(err error) {
	x.mod.mu.Lock()
	defer x.mod.mu.Unlock()
	if len(x.warnings) < maxWarnings {
		x.warnings = append(x.warnings, err)
	}
}

// find is [debugInfo.find].
func (x *sharedInfo) find(addr uint64, at *place) (chain []Location) {
	x.ask(func(d *debugInfo) {
		*at = place{}
		chain = d.find(addr, at)
	})
	return chain
}

// within is [debugInfo.within].
func (x *sharedInfo) within(inner, outer uint64) (found bool) {
	x.ask(func(d *debugInfo) { found = d.within(inner, outer) })
	return found
}

// ask asks the DWARF a question, if it can be read, with others at the same time. Where they leave
// too little room, all is read again while nobody else reads, and the question is asked again.
func (x *sharedInfo) ask(question func(d *debugInfo)) {
	together := &x.mod.s.together
	together.RLock()
	x.askNow(question)
	missing := x.missing()
	together.RUnlock()
	if !missing {
		return
	}
	together.Lock()
	defer together.Unlock()
	if !x.missing() { // it has been let go of, or another one has been here
		if x.askNow(question); !x.missing() {
			return
		}
	}
	x.spare.Pin()
	defer x.spare.Unpin()
	x.letGo()
	x.spare.Clear()
	x.askNow(question)
	if x.short.Load() {
		x.judged.Store(true)
		x.warn(fmt.Errorf("read DWARF: %w", elfimage.ErrBudget))
	}
}

func (x *sharedInfo) askNow(question func(d *debugInfo)) {
	x.spare.Pin()
	defer x.spare.Unpin()
	if d := x.get(); d != nil {
		question(d)
	}
}

// missing reports whether something is left out for which there might be room.
func (x *sharedInfo) missing() bool { return x.short.Load() && !x.judged.Load() }
