package symbol

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/elf"
)

// sharedInfo is the DWARF of a file. All modules of the file share it. When the DWARF of other
// files needs the room, it drops what it has read. It reads that again when somebody asks for it.
type sharedInfo struct {
	mod   *elfModule // the first one, which has the warnings
	from  *elf.Image // has the DWARF
	spare *elf.Evictable

	holdings holdings

	mu     sync.Mutex
	opened bool
	info   *debugInfo // nil if it cannot be read

	short  atomic.Bool // there was no room for a part of the DWARF
	judged atomic.Bool // there is no room even after all other files have dropped their DWARF

	warnings []error // of info; under mod.mu

	keptMu sync.Mutex
	kept   []io.Closer // sections that the cache has
}

func newSharedInfo(mod *elfModule, from *elf.Image) *sharedInfo {
	x := &sharedInfo{mod: mod, from: from}
	x.spare = mod.image.Evictable(x.letGo)
	if mod.s.opts.Inflated != nil {
		mod.s.keep(x)
	}
	mod.splits.kept = x
	return x
}

// get returns the DWARF, and opens it if need be. The caller holds the spare (Use).
func (x *sharedInfo) get() *debugInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.opened {
		x.opened = true
		if x.spare.MayRebuild() {
			x.info = x.mod.openInfo(x)
		} else {
			x.warn(fmt.Errorf("read DWARF once more: %w", elf.ErrBudget))
		}
	}
	return x.info
}

// letGo drops what was read. It keeps the warnings, unless too little room was the reason for some
// and there may be more room now. Nobody may be using the DWARF.
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
	x.Close()
	x.opened, x.info = false, nil
	x.mod.splits.forget()
	x.holdings.forget()
	x.short.Store(false)
	x.judged.Store(false)
}

// closeLater closes c when the DWARF is dropped.
func (x *sharedInfo) closeLater(c io.Closer) {
	x.keptMu.Lock()
	defer x.keptMu.Unlock()
	x.kept = append(x.kept, c)
}

// Close closes what the cache has of the sections.
func (x *sharedInfo) Close() error {
	x.keptMu.Lock()
	defer x.keptMu.Unlock()
	var errs []error
	for _, c := range x.kept {
		errs = append(errs, c.Close())
	}
	x.kept = nil
	return errors.Join(errs...)
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

// ask asks the DWARF a question, if it can be read. Others may read DWARF at the same time. If they
// leave too little room, ask waits until nobody else reads, reads the DWARF again, and asks once
// more.
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
	if !x.missing() { // it was dropped, or another caller was here before
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
		x.warn(fmt.Errorf("read DWARF: %w", elf.ErrBudget))
	}
}

func (x *sharedInfo) askNow(question func(d *debugInfo)) {
	x.spare.Pin()
	defer x.spare.Unpin()
	if d := x.get(); d != nil {
		question(d)
	}
}

// missing reports whether a part was left out for which there may be room now.
func (x *sharedInfo) missing() bool { return x.short.Load() && !x.judged.Load() }
