package mono

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

var order = binary.LittleEndian

// layout says where Mono's records have what is needed: offsets in bytes.
type layout struct {
	start, size  uint64 // MonoJitInfo: where the code begins, and its size
	flags        uint64 // MonoJitInfo: the byte of flags
	notMethods   byte   // which of them say that the code is no method's
	name, class  uint64 // MonoMethod
	token        uint64
	points       uint64 // MonoJitInfo: its sequence points
	outer, image uint64 // MonoClass: the class that it is nested in, and its image
	file         uint64 // MonoImage: the path of its file
	version      uint64 // and its version
}

// What follows these fields in the releases that are known.
const (
	classNameBehind  = 8  // bytes behind the image: the name of a MonoClass
	namespaceBehind  = 16 // and its namespace
	wrapperBehind    = 8  // bytes behind a MonoMethod's name: flags, of which some say what it wraps
	wrapperFlags     = 0x1f << 2
	imageOfKnown     = 0x38
	outerOfKnown     = 0x30
	domainSize       = 1 << 10 // bytes of a MonoDomain in which its table is looked for
	jitInfoMethod    = 0
	pointsBehind     = 16 // bytes behind the word of a MonoJitInfo that has the flags
	mostCodeOfGetter = 48
)

var (
	errGetter  = errors.New("its code is not known")
	errRelease = errors.New("the release is not known: 6.8, 6.12 and 6.14 are")
)

// code reads the code of an exported function.
func code(mem target.Memory, m *target.Module, name string) (at uint64, b []byte, err error) {
	im, bias, err := m.PeekImage()
	if err != nil {
		return 0, nil, err
	}
	s, ok := im.Exported(name)
	if !ok {
		return 0, nil, fmt.Errorf("there is no %s", name)
	}
	b = make([]byte, mostCodeOfGetter)
	n, _ := mem.ReadMemory(bias+s.Addr, b)
	at, b = bias+s.Addr, b[:n]
	if bytes.HasPrefix(b, []byte{0xf3, 0x0f, 0x1e, 0xfa}) { // endbr64
		at, b = at+4, b[4:]
	}
	return at, b, nil
}

// field returns the offset that code returns the field at: it loads from rdi, and returns.
func field(b []byte) (offset uint64, ok bool) {
	if len(b) > 0 && b[0] == 0x48 {
		b = b[1:]
	}
	if len(b) < 7 || b[0] != 0x8b {
		return 0, false
	}
	const ret = 0xc3
	switch b[1] {
	case 0x07:
		return 0, b[2] == ret
	case 0x47:
		return uint64(b[2]), b[2] < 0x80 && b[3] == ret
	case 0x87:
		return uint64(order.Uint32(b[2:])), b[6] == ret
	}
	return 0, false
}

// flagsOf returns which flags of a byte keep code from returning a record's first word: it loads
// the byte from rdi, and tests flags until it returns.
func flagsOf(b []byte) (offset uint64, flags byte, ok bool) {
	const ret = 0xc3
	at := bytes.Index(b, []byte{0x0f, 0xb6, 0x47})
	if at < 0 || at+4 > len(b) {
		return 0, 0, false
	}
	offset = uint64(b[at+3])
	for b = b[at+4:]; len(b) >= 2 && b[0] != ret; b = b[1:] {
		if b[0] == 0xa8 { // test al, number
			flags |= b[1]
			b = b[1:]
		}
	}
	return offset, flags, flags != 0
}

// readLayout finds out where records have their fields.
func readLayout(mem target.Memory, m *target.Module) (l layout, err error) {
	for _, g := range []struct {
		name string
		to   *uint64
	}{
		{"mono_jit_info_get_code_start", &l.start}, {"mono_jit_info_get_code_size", &l.size},
		{"mono_method_get_name", &l.name}, {"mono_method_get_class", &l.class},
		{"mono_class_get_nesting_type", &l.outer}, {"mono_class_get_image", &l.image},
		{"mono_method_get_token", &l.token}, {"mono_image_get_filename", &l.file}, {"mono_image_get_guid", &l.version},
	} {
		_, b, err := code(mem, m, g.name)
		offset, ok := field(b)
		if err == nil && !ok {
			err = errGetter
		}
		if err != nil {
			return l, fmt.Errorf("%s: %w", g.name, err)
		}
		*g.to = offset
	}
	_, b, err := code(mem, m, "mono_jit_info_get_method")
	if err != nil {
		return l, err
	}
	var ok bool
	if l.flags, l.notMethods, ok = flagsOf(b); !ok || l.image != imageOfKnown || l.outer != outerOfKnown {
		return l, errRelease
	}
	l.points = l.flags&^7 + pointsBehind
	return l, nil
}

// rootDomain returns the address of the variable that leads to the first domain.
func rootDomain(mem target.Memory, m *target.Module) (uint64, error) {
	at, b, err := code(mem, m, "mono_get_root_domain")
	if err != nil {
		return 0, err
	}
	if len(b) < 8 || !bytes.HasPrefix(b, []byte{0x48, 0x8b, 0x05}) || b[7] != 0xc3 { // mov rax, [rip+number]
		return 0, fmt.Errorf("mono_get_root_domain: %w", errGetter)
	}
	return at + 7 + uint64(int64(int32(order.Uint32(b[3:])))), nil
}
