package waits

import (
	"fmt"

	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// memberNames finds the members of variables that are locks. The debug information that this takes
// is read when the first one is asked for.
type memberNames struct {
	of      target.Target
	options *Options
	symbols *symbol.Symbolizer
	reader  *value.Reader
	known   map[uint64]string // by address
}

// close lets the debug information go.
func (m *memberNames) close() {
	if m.symbols != nil {
		m.symbols.Close()
	}
}

// at returns the path of the member of a variable for which a thread waits, as debug information
// has it: "b.lock"; "" if there is none. Names mean what they mean in the thread's inner frames.
func (m *memberNames) at(th target.Thread, e *Entry) string {
	if m.options.Variables == nil || e.Name == "" || e.Offset == 0 {
		return ""
	}
	path, ok := m.known[e.Address.V]
	if ok {
		return path
	}
	m.open()
	path = m.find(th, e)
	m.known[e.Address.V] = path
	return path
}

func (m *memberNames) find(th target.Thread, e *Entry) string {
	stack := m.options.Stack(th)
	if stack == nil {
		return ""
	}
	view, memory := logical.New(m.of, m.symbols), target.MemoryOf(m.of, th)
	stack.Limit = innerFrames
	var room []logical.Frame
	for f, err := range stack.AllOnce() {
		if err != nil {
			break
		}
		room = view.Append(room[:0], 0, f)
		for i := range room {
			in, err := m.reader.Frame(&room[i], memory)
			if err != nil || !in.Known {
				continue
			}
			if v, err := in.Evaluate(e.Name); err == nil && v.Place == value.InMemory && v.Addr+e.Offset == e.Address.V {
				if path, ok := memberAt(v.Type, e.Offset); ok {
					return e.Name + path
				}
				return ""
			}
		}
	}
	return ""
}

// memberAt returns the path from a variable to its member at an offset in bytes: ".inner.locks[1]".
// ok is false if none begins there.
func memberAt(t *value.Type, offset uint64) (path string, ok bool) {
	const deepest = 16
	for range deepest {
		t = t.Strip()
		switch t.Kind {
		case value.Struct, value.Union:
			var in *value.Field
			fields := t.Fields()
			for i := range fields {
				f := &fields[i]
				if from := uint64(f.Offset); !f.Static && !f.Virtual && f.Bits == 0 && f.Offset >= 0 && offset >= from && offset-from < sizeOf(f.Type) {
					in = f
					break
				}
			}
			if in == nil {
				return "", false
			}
			if in.Name != "" && !in.Base {
				path += "." + in.Name
			}
			t, offset = in.Type, offset-uint64(in.Offset)
		case value.Array:
			elem := t.Elem()
			size := sizeOf(elem)
			if size == 0 || t.Bounds().Stride != 0 && t.Bounds().Stride != size {
				return "", false
			}
			path += fmt.Sprintf("[%d]", t.Bounds().Lower+int64(offset/size))
			t, offset = elem, offset%size
		default:
			return "", false
		}
		if offset == 0 && path != "" {
			return path, true
		}
	}
	return "", false
}

// sizeOf returns how many bytes a value of a type has; 0 if that is not known.
func sizeOf(t *value.Type) uint64 {
	const dimensions = 8
	count := uint64(1)
	for range dimensions {
		if t == nil {
			return 0
		}
		if t = t.Strip(); t.Kind != value.Array || t.Size != 0 {
			return count * t.Size
		}
		b := t.Bounds()
		if !b.Known || b.Count == 0 || b.Stride != 0 || count > 1<<32/b.Count {
			return 0
		}
		count, t = count*b.Count, t.Elem()
	}
	return 0
}
