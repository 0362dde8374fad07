package pypy

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	elffile "github.com/sfwalk/sfwalk/format/elf"
)

// Bounds of the texts that list PyPy's types.
const (
	mostPacked = 4 << 20
	mostText   = 16 << 20
	mostTypes  = 1 << 18
	mostTries  = 1 << 10 // places that look like a packed text
	mostArrays = 1 << 4  // and like the numbers
)

// types are the types of one build.
type types struct {
	// fields has the distances of fields from the start of their objects, bytes, by the names
	// of the type and of the field.
	fields map[string]map[string]uint64
	ids    map[string]uint32 // what the headers of objects have, by the type's name
}

// wanted are the types that are read.
var wanted = []string{pyFrame, stdFrame, executionContext, pyCode, evalCode, virtualRef, jitFrame, rpyString, codeList, weakReference}

const (
	pyFrame          = "pypy.interpreter.pyframe.PyFrame"
	stdFrame         = "pypy.objspace.std.frame.StdObjSpaceFrame"
	executionContext = "pypy.interpreter.executioncontext.ExecutionContext"
	pyCode           = "pypy.interpreter.pycode.PyCode"
	evalCode         = "pypy.interpreter.eval.Code"
	virtualRef       = "JitVirtualRef"
	jitFrame         = "JITFRAME"
	rpyString        = "rpy_string"
	codeList         = "rpython.rlib.rvmprof.rvmprof.WeakCodeObjectList"
	weakReference    = "weakref"
)

var (
	errNoTypes = errors.New("its list of types was not found")
	errNoIDs   = errors.New("the numbers of its types were not found")
)

// typesOf reads the types of a file. It returns nil if it lists types, and has none of Python.
func typesOf(im *elffile.Image) (*types, error) {
	text, err := typesText(im)
	if err != nil {
		return nil, err
	}
	t := &types{map[string]map[string]uint64{}, map[string]uint32{}}
	members := map[string]int{}
	n := 0 // types
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "member") {
			continue
		}
		if name, fields, ok := parseType(line); ok && slices.Contains(wanted, name) {
			t.fields[name], members[name] = fields, n
		}
		n++
	}
	if t.fields[pyFrame] == nil {
		return nil, nil
	}
	ids := idsIn(im, n)
	if ids == nil {
		return nil, errNoIDs
	}
	for name, i := range members {
		if i < len(ids) {
			t.ids[name] = ids[i]
		}
	}
	return t, nil
}

// parseType reads a line of the list of types: "member6    GcStruct NAME { super, FIELD, … }".
func parseType(line string) (name string, fields map[string]uint64, ok bool) {
	_, line, _ = strings.Cut(line, " ")
	line, ok = strings.CutPrefix(strings.TrimSpace(line), "GcStruct ")
	name, list, ok2 := strings.Cut(line, " { ")
	list, ok3 := strings.CutSuffix(list, " }")
	if !ok || !ok2 || !ok3 || strings.Contains(list, "{") {
		return "", nil, false
	}
	fields, at := map[string]uint64{}, uint64(word)
	switch name {
	case pyCode:
		at = codeSize
	case stdFrame:
		at = 0 // its own fields are not read
	}
	for _, f := range strings.Split(list, ", ") {
		switch f {
		case "super", "inst_space": // the header, and a constant that takes no room
			continue
		}
		fields[strings.TrimPrefix(f, "inst_")] = at
		at += word
	}
	return name, fields, true
}

// word is the size of a field, bytes: the fields that are read come first, and are pointers or
// whole numbers. An object begins with a word whose lower half is its type's number.
const word = 8

// codeSize is the size of the structure Code, bytes, with which PyCode begins: the header, two
// fields, and a truth value.
const codeSize = 4 * word

// typesText finds and unpacks the text that lists all types.
func typesText(im *elffile.Image) (text string, err error) {
	tries := 0
	var packed []byte
	each(im, func(data []byte, at uint64) bool {
		// An array of characters has its length in front of it, and begins at a whole word.
		for i := 2 * word; i+common/2 <= len(data); i += word {
			if data[i] != 0x78 || (int(data[i])<<8|int(data[i+1]))%31 != 0 {
				continue
			}
			n := binary.LittleEndian.Uint64(data[i-word:])
			if n < 1<<10 || n > mostPacked || tries == mostTries {
				continue
			}
			tries++
			const first = "member0 "
			if string(unpack(data[i:], int64(len(first)))) != first {
				continue
			}
			packed = make([]byte, n)
			packed = packed[:im.ReadLoaded(at+uint64(i), packed)]
			return false
		}
		return true
	})
	if packed == nil {
		return "", errNoTypes
	}
	return string(unpack(packed, mostText)), nil
}

// unpack returns at most the first most bytes of a packed text.
func unpack(packed []byte, most int64) []byte {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	defer r.Close()
	text, _ := io.ReadAll(io.LimitReader(r, most))
	return text
}

// idsIn finds the array of the numbers of n types, or of all but the last one.
func idsIn(im *elffile.Image, n int) []uint32 {
	if ids := idsOf(im, n-1); ids != nil {
		return ids
	}
	return idsOf(im, n)
}

// idsOf finds the array of the numbers of n types: their number, and the first one's, which is 0.
func idsOf(im *elffile.Image, n int) (ids []uint32) {
	if n > mostTypes {
		return nil
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(n))
	head = append(head, 0, 0, 0, 0)
	tries := 0
	each(im, func(data []byte, at uint64) bool {
		for from := 0; ; {
			i := bytes.Index(data[from:], head)
			if i < 0 {
				return true
			}
			if from += i + 1; (from-1)%word == 0 {
				if tries++; tries > mostArrays {
					return false
				}
				if ids = idsAt(im, at+uint64(from-1)+word, n); ids != nil {
					return false
				}
			}
		}
	})
	return ids
}

// idsAt reads such an array at an address; it returns nil if the numbers cannot be.
func idsAt(im *elffile.Image, addr uint64, n int) []uint32 {
	b := make([]byte, 4*n)
	if im.ReadLoaded(addr, b) < len(b) {
		return nil
	}
	ids := make([]uint32, n)
	seen := map[uint32]bool{}
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint32(b[4*i:])
		seen[ids[i]] = true
		if ids[i]%word != 0 || ids[i] >= 1<<28 {
			return nil
		}
	}
	if len(seen) < n/2 {
		return nil // most types have a number of their own
	}
	return ids
}

// Bounds of what is looked through for the two, bytes: in all, and at once.
const (
	mostData = 256 << 20
	step     = 1 << 17
	common   = 1 << 10
)

// each calls do for the parts of the segments with data, until it returns false. Two parts have
// some bytes in common. at is the address of the first byte.
func each(im *elffile.Image, do func(data []byte, at uint64) bool) {
	room, left := make([]byte, step+common), uint64(mostData)
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		start := p.Vaddr &^ (word - 1)
		for at := start; at < p.Vaddr+p.Filesz && left > 0; at += step {
			n := im.ReadLoaded(at, room)
			if n == 0 || !do(room[:n], at) {
				if n > 0 {
					return
				}
				break
			}
			left -= min(left, step)
		}
	}
}
