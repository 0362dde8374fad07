package value

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
func (c *context) linkMap(m *target.Module, debug string) (uint64, error) {
	_, bias, err := m.Image()
	if err != nil {
		return 0, err
	}
	var found uint64
	err = c.eachLinked(debug, func(at, load uint64) bool {
		if load == bias {
			found = at
		}
		return found == 0
	})
	if err == nil && found == 0 {
		err = noThreadLocal{fmt.Sprintf("%s is not in the dynamic linker's list", m.Path)}
	}
	return found, err
}

// eachLinked calls do for the struct link_map of each module, with the distance of its addresses
// from its file's, until it returns false.
func (c *context) eachLinked(debug string, do func(at, load uint64) bool) error {
	list := c.r.Symbols.Named(c.r.Modules, nil, debug)
	if len(list) == 0 {
		return noThreadLocal{"the dynamic linker's list is not known"}
	}
	size := uint64(c.r.Arch.PtrSize)
	space := list[0]
	if debug == muslDebug { // a pointer to it
		var err error
		if space, err = c.word(space); err != nil {
			return err
		}
	}
	for range maxNamespaces {
		var version [4]byte
		if err := readMemory(c.r.Memory, space, version[:]); err != nil {
			return err
		}
		at, err := c.word(space + size)
		for range maxLinked {
			if err != nil || at == 0 {
				break
			}
			load, err2 := c.word(at)
			if err2 != nil {
				return err2
			}
			if !do(at, load) {
				return nil
			}
			at, err = c.word(at + 3*size)
		}
		if err != nil {
			return err
		}
		if c.r.order().Uint32(version[:]) < 2 { // struct r_debug_extended has a list of namespaces
			return nil
		}
		if space, err = c.word(space + 5*size); err != nil || space == 0 {
			return err
		}
	}
	return nil
}
