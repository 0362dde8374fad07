package threadlocal

import (
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// Bounds on the dynamic linker's lists: modules, and namespaces (dlmopen).
const (
	maxLinked     = 1 << 12
	maxNamespaces = 1 << 6
)

// linkMap returns the address of the dynamic linker's description of a module (struct link_map of
// <link.h>). debug names the linker's struct r_debug.
func (l look) linkMap(m *target.Module, debug string) (uint64, error) {
	_, bias, err := m.PeekImage()
	if err != nil {
		return 0, err
	}
	if at := l.maps[m]; at != 0 {
		if load, err := l.word(at); err == nil && load == bias {
			return at, nil
		}
	}
	var found uint64
	err = l.eachLinked(debug, func(at, load uint64) bool {
		if load == bias {
			found = at
		}
		return found == 0
	})
	switch {
	case found != 0:
		l.maps[m] = found
	case err == nil:
		err = Error{fmt.Sprintf("%s is not in the dynamic linker's list", m.Path)}
	}
	return found, err
}

// eachLinked calls do for the struct link_map of each module, with the distance of its addresses
// from its file's, until it returns false.
func (l look) eachLinked(debug string, do func(at, load uint64) bool) error {
	space := l.symbol(debug)
	if space == 0 {
		return Error{"the dynamic linker's list is not known"}
	}
	size := uint64(l.arch.PtrSize)
	if debug == muslDebug { // a pointer to it
		var err error
		if space, err = l.word(space); err != nil {
			return err
		}
	}
	for range maxNamespaces {
		var version [4]byte
		if err := l.bytes(space, version[:]); err != nil {
			return err
		}
		at, err := l.word(space + size)
		for range maxLinked {
			if err != nil || at == 0 {
				break
			}
			load, err2 := l.word(at)
			if err2 != nil {
				return err2
			}
			if !do(at, load) {
				return nil
			}
			at, err = l.word(at + 3*size)
		}
		if err != nil {
			return err
		}
		if l.arch.Order.Uint32(version[:]) < 2 { // struct r_debug_extended has a list of namespaces
			return nil
		}
		if space, err = l.word(space + 5*size); err != nil || space == 0 {
			return err
		}
	}
	return nil
}
