package pypy

import (
	"errors"
	"fmt"
	"sync/atomic"

	elffile "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/pypy"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds PyPy.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "pypy" }

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !pypy.In(m) {
		return nil, nil
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, nil
	}
	if p.Arch.PtrSize != 8 || p.Arch.PyPy == nil {
		return nil, errors.New("it is not known how to read PyPy on this processor")
	}
	t, err := typesOf(im)
	if t == nil {
		return nil, err
	}
	storage := threadlocal.Block(im)
	if storage == nil || storage.Memsz > mostStorage {
		return nil, errors.New("its threads have no storage")
	}
	r := &runtime{types: t, module: m, image: im, bias: bias, memory: p.Memory, storage: threadlocal.New(p.Arch, p.Memory, p.Modules), size: storage.Memsz}
	if err := r.layout.of(t); err != nil {
		return nil, fmt.Errorf("its list of types lacks %w", err)
	}
	return []language.Runtime{r}, nil
}

// mostStorage bounds the storage of one thread, bytes.
const mostStorage = 4 << 10

// runtime is PyPy in a process.
type runtime struct {
	types   *types
	layout  layout
	module  *target.Module
	image   *elffile.Image
	bias    uint64
	memory  target.Memory
	storage *threadlocal.Finder
	size    uint64        // of a thread's storage, bytes
	codemap atomic.Uint64 // the address of the map of compiled code; 0 while it is not known
	execute atomic.Uint64 // where the function begins that runs the interpreter; likewise
	enter   atomic.Uint64 // where the function begins that enters compiled code; likewise
	pages   pages.Spare
}

// layout has the distances of fields from the start of their objects, bytes.
type layout struct {
	top                                         uint64 // of an execution context
	back, instruction, code                     uint64 // of a frame
	name, file, first, number, lines, qualified uint64 // of a code object; qualified is 0 if there is no such name
	table                                       bool   // lines is a table of lines, and not of their differences
	hidden                                      uint64
	token, forced                               uint64 // of a virtual reference
	handles                                     uint64 // of the list of code objects
}

// of fills l. The error names a field that is not there.
func (l *layout) of(t *types) (err error) {
	get := func(class, field string) uint64 {
		at, ok := t.fields[class][field]
		if !ok && err == nil {
			err = fmt.Errorf("%s of %s", field, class)
		}
		return at
	}
	*l = layout{
		top:  get(executionContext, "topframeref"),
		back: get(pyFrame, "f_backref"), instruction: get(pyFrame, "last_instr"), code: get(pyFrame, "pycode"),
		name: get(evalCode, "co_name"), hidden: get(evalCode, "hidden_applevel"),
		file: get(pyCode, "co_filename"), first: get(pyCode, "co_firstlineno"), number: get(pyCode, "_vmprof_unique_id"),
		token: get(virtualRef, "virtual_token"), forced: get(virtualRef, "forced"),
		handles:   get(codeList, "handles"),
		qualified: t.fields[pyCode]["co_qualname"],
	}
	if at, ok := t.fields[pyCode]["co_linetable"]; ok {
		l.lines, l.table = at, true
	} else {
		l.lines = get(pyCode, "co_lnotab")
	}
	return err
}

// object returns the address of an object, which the garbage collector may just have moved, and
// whether it is of one of these types.
func (r *runtime) object(m *structs.Reader, addr uint64, names ...string) (at uint64, ok bool) {
	if addr == 0 || addr%word != 0 {
		return 0, false
	}
	if m.Int(addr, word) == moved {
		addr = m.Pointer(addr + word)
	}
	id := uint32(m.Uint(addr, 4))
	for _, name := range names {
		if want, known := r.types.ids[name]; known && id == want && m.OK() {
			return addr, true
		}
	}
	return 0, false
}

// moved is the header of an object that has been moved (the forwarding stub of PyPy's garbage
// collector); its new address follows.
const moved = -42

// str reads a text of the translated program.
func (r *runtime) str(m *structs.Reader, addr uint64) string {
	at, ok := r.object(m, addr, rpyString)
	if !ok {
		m.Fail("there is no text at %#x", addr)
		return ""
	}
	return m.Text(at+stringChars, m.Uint(at+stringLength, 8))
}

// mostLines bounds tables of lines, bytes.
const mostLines = 1 << 20

// long is like str for a table of lines.
func (r *runtime) long(m *structs.Reader, addr uint64) string {
	at, ok := r.object(m, addr, rpyString)
	n := m.Uint(at+stringLength, 8)
	if !ok || n > mostLines {
		m.Fail("there is no table of lines at %#x", addr)
		return ""
	}
	p := make([]byte, n)
	m.Bytes(at+stringChars, p)
	return string(p)
}

// A text has its length behind the header and the hash.
const (
	stringLength = 2 * word
	stringChars  = 3 * word
)

// An array has its length behind the header.
const (
	arrayLength = word
	arrayItems  = 2 * word
)
