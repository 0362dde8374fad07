package python

import (
	"bytes"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// layout has the offsets of the fields of CPython's structures, of one build.
type layout struct {
	minor        int // 3.minor
	release      int // the minor release of the process; another than minor if that one is not known
	freeThreaded bool
	at           [fields]uint64 // by field, bytes; absent where the release lacks it, or it is not known
}

// absent is the offset of a field that is not there.
const absent = ^uint64(0)

// has reports whether all of these fields are there.
func (l *layout) has(list ...field) bool {
	for _, f := range list {
		if l.at[f] == absent {
			return false
		}
	}
	return true
}

// maxOffset bounds offsets and sizes, bytes: the largest structure, PyInterpreterState, has some
// hundred KiB.
const maxOffset = 1 << 24

// set sets a field by its name. Names that nobody asks for are left out.
func (l *layout) set(name string, offset uint64) error {
	if offset >= maxOffset {
		return fmt.Errorf("the offset of %s is %#x, which is too large", name, offset)
	}
	if f, ok := byName[name]; ok {
		l.at[f] = offset
	}
	return nil
}

func emptyLayout(minor int) *layout {
	l := &layout{minor: minor, release: minor}
	for i := range l.at {
		l.at[i] = absent
	}
	return l
}

// layouts has a file for each minor release. Those called offsets-3.N.txt list the words of
// _Py_DebugOffsets behind its cookie, in their order. The others, 3.N.txt, list fields and offsets.
//
//go:embed layouts
var layouts embed.FS

// tableOf returns the layout of a release, as its headers have it. variant is "" for the usual
// build, "t" for the free-threaded one. Debug builds have the same layouts.
func tableOf(minor int, variant string) (*layout, error) {
	name := fmt.Sprintf("3.%d%s", minor, variant)
	text, err := layouts.ReadFile("layouts/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("the layout of Python %s is not known", name)
	}
	l := emptyLayout(minor)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 || words[0] == "#" {
			continue
		}
		n, err := strconv.ParseUint(words[1], 10, 64)
		if err == nil {
			err = l.set(words[0], n)
		}
		if err != nil {
			return nil, fmt.Errorf("the layout of Python %s: %w", name, err)
		}
	}
	return l, nil
}

// cookie is what _Py_DebugOffsets begins with.
const cookie = "xdebugpy"

// told reads the layout that the process tells itself, at the address of _PyRuntime. It returns nil
// if the process tells none: it is of 3.12 or earlier, or the run time is not initialised yet. The
// fields of a release later than newest are taken for newest's, which the caller must check.
func told(a *arch.Arch, m target.Memory, runtime uint64, newest int) (*layout, error) {
	var head [16]byte
	if n, err := m.ReadMemory(runtime, head[:]); n < len(head) {
		return nil, fmt.Errorf("_PyRuntime at %#x: %w", runtime, err)
	}
	if !bytes.HasPrefix(head[:], []byte(cookie)) {
		return nil, nil
	}
	version := a.Order.Uint64(head[8:])
	major, minor := int(version>>24&0xff), int(version>>16&0xff)
	if version>>32 != 0 || major != 3 {
		return nil, fmt.Errorf("_Py_DebugOffsets at %#x: the version is %#x, which no release of Python 3 has", runtime, version)
	}
	release := minor
	minor = min(minor, newest)
	text, err := layouts.ReadFile(fmt.Sprintf("layouts/offsets-3.%d.txt", minor))
	if err != nil {
		return nil, fmt.Errorf("the layout of Python 3.%d is not known: its _Py_DebugOffsets has fields of its own", minor)
	}
	names := strings.Fields(string(text))
	words := make([]byte, 8*len(names))
	if n, err := m.ReadMemory(runtime+uint64(len(cookie)), words); n < len(words) {
		return nil, fmt.Errorf("_Py_DebugOffsets at %#x: %w", runtime, err)
	}
	l := emptyLayout(minor)
	l.release = release
	for i, name := range names {
		v := a.Order.Uint64(words[8*i:])
		switch name {
		case "version":
		case "free_threaded":
			l.freeThreaded = v != 0
		default:
			if err := l.set(name, v); err != nil {
				return nil, fmt.Errorf("_Py_DebugOffsets at %#x: %w", runtime, err)
			}
		}
	}
	if !l.freeThreaded { // zero stands for fields that only free-threaded builds have
		l.at[frameTLBC], l.at[codeTLBC] = absent, absent
	}
	l.fillIn()
	l.complete(a.PtrSize)
	return l, nil
}

// fillIn takes the fields that a process does not tell from the table of its release, if what it
// tells is as the table has it: else the build is another one, and its other fields are not known.
func (l *layout) fillIn() {
	variant := ""
	if l.freeThreaded {
		variant = "t"
	}
	table, err := tableOf(l.minor, variant)
	if err != nil {
		return
	}
	for f := range fields {
		// Patch releases add fields behind the others.
		if f != threadSize && l.at[f] != absent && table.at[f] != absent && l.at[f] != table.at[f] {
			return
		}
	}
	for f := range fields {
		if l.at[f] == absent {
			l.at[f] = table.at[f]
		}
	}
}

// complete fills in what follows from other fields.
func (l *layout) complete(pointer int) {
	if l.at[unicodeCompactSize] == absent && l.has(unicodeASCIISize) {
		l.at[unicodeCompactSize] = l.at[unicodeASCIISize] + 2*uint64(pointer) // utf8_length, utf8
	}
}
