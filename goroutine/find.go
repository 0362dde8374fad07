package goroutine

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// ErrNotGo says that a target has no Go code. Errors of [Find] wrap it.
var ErrNotGo = goruntime.ErrNotGo

// ErrUnknown says that the runtime is unlike any release's so far, or has not begun to run, or that
// its memory is broken. Errors of [Find] and [Runtime.All] wrap it.
var ErrUnknown = errors.New("the runtime's list of goroutines is not understood")

// Runtime is the Go runtime of one target. It is safe for concurrent use if the target is.
type Runtime struct {
	// Limit bounds the goroutines that [Runtime.All] lists. All lists the goroutines that the
	// runtime has made first. 0 means 524,288. With 0, a hostile process makes All use less than
	// 200 MB, garbage included.
	Limit int

	t       target.Target
	module  *target.Module
	arch    *arch.Arch
	allgs   uint64 // address of the runtime's list: a slice of pointers to structs g
	fields  fields
	reasons uint64 // address of the texts of wait reasons; 0 if it is not known
}

// Module returns the module that the runtime is in.
func (r *Runtime) Module() *target.Module { return r.module }

// Find finds the runtime of a target. If several modules have a runtime each, Find returns the
// runtime of the first module with goroutines: [FindAll] returns all runtimes. The error wraps
// [ErrNotGo] if no module has any Go code.
func Find(t target.Target) (*Runtime, error) {
	list, err := find(t, 1)
	if len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// FindAll finds the runtimes of a target, in the order of its modules. Most programs of Go have
// one. Each library that is built as c-shared has its own, and its goroutines have numbers of their
// own. If some runtimes are not understood, FindAll returns the others, and an error. The error
// wraps [ErrNotGo] if no module has any Go code.
func FindAll(t target.Target) ([]*Runtime, error) { return find(t, maxRuntimes) }

// maxRuntimes bounds the runtimes of a target, each of which starts threads.
const maxRuntimes = 64

// find finds up to most runtimes of a target.
func find(t target.Target, most int) (list []*Runtime, err error) {
	if t == nil {
		return nil, fmt.Errorf("goroutines: the target is nil: %w", ErrNotGo)
	}
	var failed, closed, missing error
	for _, m := range t.Modules().All() {
		if _, _, err := m.Image(); err != nil {
			closed = errors.Join(closed, err)
			continue
		}
		r, err := FindIn(t, m)
		switch {
		case err == nil:
			// A plug-in of Go has code of the runtime, but uses the program's runtime.
			if !slices.ContainsFunc(list, func(x *Runtime) bool { return x.allgs == r.allgs }) {
				list = append(list, r)
			}
		case errors.Is(err, ErrNotGo):
			continue
		default:
			err = fmt.Errorf("%s: %w", m.Path, err)
			if failed == nil {
				failed = err
			}
			if r != nil && r.allgs != 0 { // it has goroutines, or what looks like some
				missing = errors.Join(missing, err)
			}
		}
		if len(list) == most {
			break
		}
	}
	switch {
	case len(list) > 0:
		return list, missing
	case failed != nil:
		return nil, failed
	case closed != nil:
		return nil, fmt.Errorf("%w in what can be read: %w", ErrNotGo, closed)
	}
	return nil, fmt.Errorf("goroutines: %w", ErrNotGo)
}

// Functions of the runtime that refer to its list of goroutines, and to the texts of wait reasons.
// In every release some of them do so. The compiler may have inlined these into the others.
var (
	listFunctions   = []string{"runtime.allgadd", "runtime.forEachG", "runtime.newproc1"}
	reasonFunctions = []string{"runtime.waitReason.String", "runtime.goroutineheader"}
)

// FindIn finds the runtime in one module of a target. Call it if you know which module has Go code:
// the others are not read. The error wraps [ErrNotGo] if the module has no Go code. With any other
// error the Runtime, if there is one, is of no use.
func FindIn(t target.Target, m *target.Module) (*Runtime, error) {
	table, _, err := goruntime.Table(m)
	if errors.Is(err, ErrNotGo) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	r := &Runtime{t: t, module: m, arch: t.Arch()}
	if r.arch.PtrSize != 8 {
		return nil, fmt.Errorf("%w: addresses of %d bytes", ErrUnknown, r.arch.PtrSize)
	}
	code, ok := goruntime.FindLayout(m, r.arch)
	if !ok {
		return nil, fmt.Errorf("%w: the code that parks goroutines on %s is not known", ErrUnknown, r.arch.Name)
	}
	functions := named(table, append(slices.Clone(listFunctions), reasonFunctions...))
	return r, r.findBy(code, references(m, r.arch, functions, listFunctions), references(m, r.arch, functions, reasonFunctions))
}

// findBy finds the list of goroutines and the texts of wait reasons. lists and reasons are
// addresses that the runtime's functions refer to. findBy takes the first of each at which memory
// holds what it should.
func (r *Runtime) findBy(code goruntime.Layout, lists, reasons iter.Seq[uint64]) error {
	err := fmt.Errorf("%w: none of the functions %s refers to it", ErrUnknown, strings.Join(listFunctions, ", "))
	for at := range lists {
		list, _, why := r.pointers(at, sample)
		if why != nil {
			if r.allgs == 0 {
				err = why
			}
			continue
		}
		r.allgs = at
		if r.fields, err = r.learn(list, code); err == nil {
			break
		}
		err = fmt.Errorf("list at %#x: %w", at, err)
	}
	if err != nil {
		return err
	}
	for at := range reasons {
		if r.hasReasons(at) {
			r.reasons = at
			break
		}
	}
	return nil
}

// named returns the functions of a table that have one of the names, by name.
func named(table *gopclntab.Table, names []string) map[string]gopclntab.Func {
	found := map[string]gopclntab.Func{}
	for i := range table.Len() {
		if len(found) == len(names) {
			break
		}
		f, ok := table.Func(i)
		if !ok {
			continue
		}
		if name := f.Name(); slices.Contains(names, name) {
			found[name] = f
		}
	}
	return found
}
