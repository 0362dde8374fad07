package coreclr

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

const (
	descriptorMagic = 0x0043414443434e44 // "DNCCDAC"
	mostDescriptor  = 1 << 20            // bytes; .NET 10's has 10,563
)

var (
	errNoDescriptor = errors.New("the run time's description of its structures cannot be read")
)

// descriptor is what a run time says of its structures (contract-descriptor.md).
type descriptor struct {
	Contracts map[string]json.RawMessage  `json:"contracts"`
	Globals   map[string]json.RawMessage  `json:"globals"`
	Types     map[string]map[string]field `json:"types"`

	pointers uint64 // the address of a list of addresses of variables
	count    uint32
}

// field is the offset of a field in a structure, in bytes. Some come with their type.
type field uint64

// UnmarshalJSON reads an offset, or a list of an offset and a type.
func (f *field) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) == nil && len(list) > 0 {
		b = list[0]
	}
	var n uint64
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*f = field(n)
	return nil
}

// readDescriptor reads the description at addr.
func readDescriptor(m target.Memory, addr uint64) (*descriptor, error) {
	var p [40]byte // magic, flags, size, address, and a list of pointers: its size, and its address
	if !read(m, addr, p[:]) || order.Uint64(p[:]) != descriptorMagic {
		return nil, errNoDescriptor
	}
	size := order.Uint32(p[12:])
	if size > mostDescriptor {
		return nil, errNoDescriptor
	}
	text := make([]byte, size)
	if !read(m, order.Uint64(p[16:]), text) {
		return nil, errNoDescriptor
	}
	d := &descriptor{pointers: order.Uint64(p[32:]), count: order.Uint32(p[24:])}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDescriptor, err)
	}
	return d, nil
}

// taker takes offsets from a description. It notes the first one that is missing.
type taker struct {
	*descriptor
	missing string
}

func (t *taker) offset(structure, name string) uint64 {
	f, ok := t.Types[structure][name]
	if !ok && t.missing == "" {
		t.missing = structure + "." + name
	}
	return uint64(f)
}

// err says what is missing.
func (t *taker) err() error {
	if t.missing == "" {
		return nil
	}
	return fmt.Errorf("the run time's description of its structures leaves out %s", t.missing)
}

// variable returns the address of a variable; 0 if the description does not have it. It stands as
// [[index], "pointer"], where the index is of the list of pointers.
func (d *descriptor) variable(m target.Memory, name string) uint64 {
	var outer []json.RawMessage
	var index []uint32
	if json.Unmarshal(d.Globals[name], &outer) != nil || len(outer) == 0 || json.Unmarshal(outer[0], &index) != nil || len(index) != 1 || index[0] >= d.count {
		return 0
	}
	return word(m, d.pointers+8*uint64(index[0]))
}
