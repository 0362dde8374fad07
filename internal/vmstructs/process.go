package vmstructs

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

const (
	// Prefix is what all symbols of the tables begin with.
	Prefix = "gHotSpotVM"

	tableSymbol = Prefix + "Structs"
	maxSymbols  = 64 // there are some 25
)

// The errors of [Of].
var (
	ErrNone   = errors.New("no Java virtual machine is mapped")
	ErrUnread = errors.New("the Java virtual machine's tables cannot be read")
)

// In reports whether a module is a Java virtual machine. A module that is none costs next to
// nothing.
func In(m *target.Module) bool {
	im, _, err := m.PeekImage()
	if err != nil {
		return false
	}
	_, ok := im.Exported(tableSymbol)
	return ok
}

type key struct{}

type read struct {
	tables *Tables
	err    error
}

// Of returns the tables of the Java virtual machine of a process. They are read once for all who
// ask. walked is the memory in which a stack is walked, for modules without a memory of their own.
func Of(modules *target.Modules, walked target.Memory, a *arch.Arch) (*Tables, error) {
	x := modules.Memo(key{}, func() any {
		t, err := open(modules, walked, a)
		return read{t, err}
	}).(read)
	return x.tables, x.err
}

func open(modules *target.Modules, walked target.Memory, a *arch.Arch) (*Tables, error) {
	for _, m := range modules.All() {
		if !In(m) {
			continue
		}
		im, bias, err := m.PeekImage()
		if err != nil {
			continue
		}
		r := NewReader(modules.MemoryOr(walked), a.Order)
		defer r.Free()
		t, ok := Read(r, im.LookupExported(Prefix, maxSymbols), bias)
		if !ok {
			return nil, ErrUnread
		}
		return t, nil
	}
	return nil, ErrNone
}
