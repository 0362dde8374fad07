package tables

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Breakpad has names, lines and inlined calls from a folder of Breakpad's symbol files, for
// programs that are stripped and whose debug files nobody has. The folder is a store as dump_syms'
// users lay it out, NAME/IDENTIFIER/NAME.sym. A module's file is found by its name and its build
// ID, or a sum of its code. Files stay open as long as their modules live.
type Breakpad struct {
	Dir string // a folder, or several, listed as in PATH
}

// Open returns the table of m's symbol file. It returns nil if the store has none.
func (s Breakpad) Open(m *target.Module) (symbol.Table, error) {
	symbols, err := symbolstore.Open(s.Dir, m)
	if symbols == nil {
		return nil, err
	}
	return &breakpadTable{symbols: symbols}, nil
}

// breakpadTable is the symbol file of one module.
type breakpadTable struct {
	symbols *symbolstore.Symbols

	deeper atomic.Bool // the user is told that calls are inlined too deep

	mu     sync.Mutex
	failed []error // of look-ups, the first few
}

// maxFailed bounds the errors of look-ups that are kept.
const maxFailed = 8

// Locate implements [symbol.Table].
func (t *breakpadTable) Locate(pc uint64) []symbol.Location {
	found, err := t.symbols.Locate(pc - t.symbols.Base)
	if err != nil {
		t.fail(err)
		return nil
	}
	if len(found) == 1 && found[0].Code.Size == 0 && t.behind(found[0].Code.Address, pc-t.symbols.Base) {
		return nil
	}
	chain := make([]symbol.Location, len(found))
	for i, l := range found {
		if l.Deeper && t.deeper.CompareAndSwap(false, true) {
			t.fail(fmt.Errorf("at %#x, calls are inlined more than %d deep: those are left out", pc-t.symbols.Base, len(found)-1-i))
		}
		start := l.Code.Address + t.symbols.Base
		chain[i] = symbol.Location{Function: l.Function, Start: start, Offset: pc - start, File: l.File, Line: l.Line, Inline: l.Inlined}
		if l.Code.Size > 0 {
			chain[i].End = start + l.Code.Size
		}
	}
	return chain
}

var _ symbol.Starter = (*breakpadTable)(nil)

// FunctionAt implements [symbol.Starter], by the STACK CFI records: there is one group for each
// function, also where no FUNC record is.
func (t *breakpadTable) FunctionAt(pc uint64) (lo, hi uint64, from string, ok bool) {
	c, err := t.symbols.CFI(pc - t.symbols.Base)
	if err != nil || c == nil {
		return 0, 0, "", false
	}
	lo = t.symbols.Base + c.Address
	return lo, lo + c.Size, "STACK CFI", true
}

// behind reports whether addr is behind the end of the function that begins at public, by a PUBLIC
// record, which does not say where that is: another group of STACK CFI records begins between them.
// Groups that follow one another without a gap may be of parts of one function.
func (t *breakpadTable) behind(public, addr uint64) bool {
	const most = 32 // parts of a function
	for n := range most {
		c, err := t.symbols.CFI(addr)
		switch {
		case err != nil || c == nil:
			return n > 0
		case c.Address <= public:
			return false
		}
		addr = c.Address - 1
	}
	return true
}

// fail keeps what is wrong with a look-up, if it is one of the first few.
func (t *breakpadTable) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failed) < maxFailed {
		t.failed = append(t.failed, fmt.Errorf("symbols %s: %w", t.symbols.Path, err))
	}
}

// Warnings implements [symbol.Table].
func (t *breakpadTable) Warnings() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []error
	for _, err := range t.symbols.Warnings {
		all = append(all, fmt.Errorf("symbols %s: %w", t.symbols.Path, err))
	}
	return append(all, t.failed...)
}
