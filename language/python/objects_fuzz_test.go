package python

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
)

// bytesAt is a memory that has data at one address.
type bytesAt struct {
	at   uint64
	data []byte
}

func (m bytesAt) ReadMemory(addr uint64, p []byte) (int, error) {
	n := 0
	if addr >= m.at && addr-m.at < uint64(len(m.data)) {
		n = copy(p, m.data[addr-m.at:])
	}
	if n < len(p) {
		return n, fmt.Errorf("nothing at %#x", addr+uint64(n))
	}
	return n, nil
}

// fuzzBase is where the memory of fuzz tests is.
const fuzzBase = 0x10000

// words makes objects: each word is a value, or an offset from the first one where it is below
// fuzzBase.
func words(list ...uint64) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// FuzzObjects reads what is in memory as objects of each release.
func FuzzObjects(f *testing.F) {
	layouts := map[byte]*layout{}
	for minor := byte(8); minor <= 15; minor++ {
		l, err := tableOf(int(minor), "")
		if err != nil {
			f.Fatal(err)
		}
		layouts[minor] = l
		// An object whose type is itself, with each of the flags.
		for bit := range 32 {
			object := make([]byte, 1024)
			put := func(at field, v uint64) {
				if l.has(at) {
					binary.LittleEndian.PutUint64(object[l.at[at]:], v)
				}
			}
			for i := 0; i < len(object); i += 8 {
				binary.LittleEndian.PutUint64(object[i:], fuzzBase)
			}
			put(objectType, fuzzBase)
			put(varSize, 2)
			put(typeFlags, 1<<bit)
			put(typeName, fuzzBase+900)
			copy(object[900:], "set\x00")
			f.Add(minor, object)
			if bit > 0 {
				continue
			}
			// An object of each type whose layout no header tells.
			for _, name := range []string{"decimal.Decimal", "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "datetime.timezone",
				"collections.deque", "range", "numpy.ndarray", "numpy.int32", "numpy.float64", "pathlib.PosixPath", "_queue.SimpleQueue"} {
				other := bytes.Clone(object)
				copy(other[900:], name+"\x00")
				f.Add(minor, other)
			}
		}
	}
	f.Add(byte(11), words(1, fuzzBase, 0))
	f.Fuzz(func(t *testing.T, minor byte, data []byte) {
		l := layouts[8+minor%8]
		bounds.Hold(t, 16<<20+100*len(data), func() {
			o := newObjects(&memory{Memory: bytesAt{fuzzBase, data}, order: binary.LittleEndian, size: 8, layout: l})
			if text := o.value(fuzzBase); len(text) > 64<<10 {
				t.Errorf("a value of %d bytes", len(text))
			}
			_ = o.exceptionText(fuzzBase)
			_, _, _ = o.variables(fuzzBase, fuzzBase)
			_, _ = o.raised(&threadState{addr: fuzzBase})
			r := &interpreter{layout: l}
			e := entered{frame: fuzzBase, code: fuzzBase, depth: 8, start: fuzzBase}
			if l.minor >= 11 {
				_ = o.held(&e, fuzzBase)
			}
			_, _ = o.lockAt(fuzzBase)
			_, _, _ = o.handlersOf(&e)
			_ = (&code{names: fuzzBase}).guardAt(o, fuzzBase, 0)
			for _, from := range []string{"LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF"} {
				_ = o.evaluate(&e, &guard{loaded: loaded{from: from}, names: []string{"set"}, name: "set"})
			}
			r.codePart = 256
			_ = r.raisedAt(o, fuzzBase)
			_ = o.nameOf(fuzzBase, &language.Frame{Place: fuzzBase})
			frames := []language.Frame{{Function: "Condition.wait", File: "threading.py", Place: fuzzBase}, {Function: "run", File: "concurrent/futures/thread.py", Place: fuzzBase}}
			_, _ = o.ofCondition(fuzzBase, fuzzBase)
			_ = o.futures(frames, 1)
			_ = o.waitsInside(&blockers[0], fuzzBase, fuzzBase, &frames[0])
			_ = r.ending(o, fuzzBase, fuzzBase, fuzzBase)
			_, _ = r.threadName(o, &threadState{addr: fuzzBase, interpreter: fuzzBase})
		})
	})
}

// FuzzLoads reads instructions of each release.
func FuzzLoads(f *testing.F) {
	for minor := byte(8); minor <= 15; minor++ {
		var code []byte
		for _, name := range []string{"LOAD_FAST", "LOAD_ATTR"} {
			for number, op := range operations(int(minor)) {
				if op.name == name {
					code = append(append(code, number, 2), make([]byte, 2*op.caches)...)
					break
				}
			}
		}
		if len(loads(int(minor), code)) != 1 {
			f.Errorf("3.%d: %x loads nothing", minor, code)
		}
		f.Add(minor, code)
	}
	f.Fuzz(func(t *testing.T, minor byte, code []byte) {
		bounds.Hold(t, 64<<10+100*len(code), func() {
			for _, x := range loads(8+int(minor%8), code) {
				if x.from == "" || x.variable < 0 || len(x.attributes) > mostAttributes || slices.Min(x.attributes) < 0 {
					t.Errorf("%+v", x)
				}
			}
		})
	})
}

// FuzzHandlers reads exception tables.
func FuzzHandlers(f *testing.F) {
	f.Add([]byte{0x80, 1, 2, 3, 0xc1, 4, 5, 6})
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 64<<10+100*len(data), func() {
			next := func() (byte, bool) {
				if len(data) == 0 {
					return 0, false
				}
				b := data[0]
				data = data[1:]
				return b, true
			}
			for _, h := range readHandlers(next) {
				if h.start < 0 || h.end < h.start || h.depth < 0 || h.depth > maxDepth {
					t.Errorf("%+v", h)
				}
			}
		})
	})
}

// TestFields has no two fields with the same name: one of them would never be set.
func TestFields(t *testing.T) {
	if len(byName) != int(fields) {
		t.Errorf("%d names of %d fields", len(byName), fields)
	}
}
