package symbol

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

// sharedInfo is the DWARF of a file, for all modules of that. What was read of it is let go of
// where there is no room for other files', and read again when it is asked for.
type sharedInfo struct {
	mod   *module       // the first one, which has the warnings
	from  *target.Image // has the DWARF
	spare *target.Spare

	mu     sync.Mutex
	opened bool
	info   *debugInfo // nil if it cannot be read

	short  atomic.Bool // there was no room for some of it
	judged atomic.Bool // nor is there where all other files have let go

	warnings []error // of info; under mod.mu
}

func newSharedInfo(mod *module, from *target.Image) *sharedInfo {
	x := &sharedInfo{mod: mod, from: from}
	x.spare = mod.image.Spare(x.letGo)
	mod.splits.kept = x
	return x
}

// get opens the DWARF if need be. The caller uses the spare.
func (x *sharedInfo) get() *debugInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.opened {
		x.opened = true
		if x.spare.Again() {
			x.info = x.mod.openInfo(x)
		} else {
			x.warn(fmt.Errorf("read DWARF once more: %w", target.ErrRoom))
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

// find is [debugInfo.find], with others at the same time. Where they leave too little room, all is
// read again while nobody else reads.
func (x *sharedInfo) find(addr uint64, at *place) []Location {
	together := &x.mod.s.together
	together.RLock()
	chain := x.findNow(addr, at)
	missing := x.missing()
	together.RUnlock()
	if !missing {
		return chain
	}
	together.Lock()
	defer together.Unlock()
	*at = place{}
	if !x.missing() { // it has been let go of, or another one has been here
		if chain = x.findNow(addr, at); !x.missing() {
			return chain
		}
	}
	x.spare.Use()
	defer x.spare.Done()
	x.letGo()
	x.spare.Empty()
	*at = place{}
	chain = x.findNow(addr, at)
	if x.short.Load() {
		x.judged.Store(true)
		x.warn(fmt.Errorf("read DWARF: %w", target.ErrRoom))
	}
	return chain
}

func (x *sharedInfo) findNow(addr uint64, at *place) []Location {
	x.spare.Use()
	defer x.spare.Done()
	if d := x.get(); d != nil {
		return d.find(addr, at)
	}
	return nil
}

// missing reports whether something is left out for which there might be room.
func (x *sharedInfo) missing() bool { return x.short.Load() && !x.judged.Load() }
