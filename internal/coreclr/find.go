package coreclr

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

const (
	variables = "g_dacTable"
	describes = "DotNetRuntimeContractDescriptor"

	// Numbers of .NET 8's variables: ThreadStore::s_pThreadStore, AppDomain::m_pTheAppDomain and
	// g_pSyncTable.
	storeEntry  = 16
	domainEntry = 21
	locksEntry  = 79
)

// The errors of [Of].
var (
	ErrNone      = errors.New("no .NET run time is mapped")
	ErrProcessor = errors.New(".NET's code is not known on this processor")
	ErrRelease   = errors.New("the run time's release is not known: .NET 8, 9 and 10 are")
)

// Runtime is the run time of a process.
type Runtime struct {
	Layout
	Module *target.Module
	top    uint64 // the root of the map of code
	store  uint64 // the address of the variable that leads to the threads; 0 if it is not known

	variables uint64 // the address of a list of addresses of variables
	domain    uint64 // the address of the variable that leads to the AppDomain; 0 if it is not known
	locks     uint64 // the address of the variable that leads to objects' SyncBlocks; 0 if it is not known
}

// In reports whether a module is .NET's run time: its library, or a program that has it within. A
// module that is none costs next to nothing.
func In(m *target.Module) bool {
	im, _, err := m.PeekImage()
	if err != nil {
		return false
	}
	_, ok := im.Exported(variables)
	return ok
}

type key struct{}

type found struct {
	runtime *Runtime
	err     error
}

// Of returns the run time of a process, which is looked for once for all who ask. walked is the
// memory in which a stack is walked, for modules without a memory of their own.
func Of(modules *target.Modules, walked target.Memory, a *arch.Arch) (*Runtime, error) {
	x := modules.Memo(key{}, func() any {
		r, err := open(modules, walked, a)
		return found{r, err}
	}).(found)
	return x.runtime, x.err
}

func open(modules *target.Modules, walked target.Memory, a *arch.Arch) (*Runtime, error) {
	for _, m := range modules.All() {
		if In(m) {
			return at(modules.MemoryOr(walked), m, a)
		}
	}
	return nil, ErrNone
}

// at opens the run time that a module is.
func at(mem target.Memory, m *target.Module, a *arch.Arch) (*Runtime, error) {
	if !a.CoreCLR {
		return nil, ErrProcessor
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, err
	}
	r := &Runtime{Module: m}
	layout := eight()
	for _, s := range im.LookupExported(describes, 1) {
		d, err := readDescriptor(mem, bias+s.Addr)
		if err != nil {
			return nil, err
		}
		if layout, err = described(d); err != nil {
			return nil, err
		}
		r.store, r.domain, r.locks = d.variable(mem, "ThreadStore"), d.variable(mem, "AppDomain"), d.variable(mem, "SyncTableEntries")
	}
	r.Layout = *layout
	for _, s := range im.LookupExported(variables, 1) {
		r.variables = bias + s.Addr
		r.top = word(mem, bias+s.Addr) // its first entry, in all of these releases
		if r.release == eight().release {
			entry := func(i uint64) uint64 { return word(mem, r.variables+8*i) }
			r.store, r.domain, r.locks = entry(storeEntry), entry(domainEntry), entry(locksEntry)
		}
	}
	if r.top == 0 || !r.check(mem) {
		return nil, ErrRelease
	}
	return r, nil
}
