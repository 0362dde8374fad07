package mono

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/ecma335"
	"github.com/sfwalk/sfwalk/target"
)

// What Mono has compiled ahead of time (AOT) is in a file, which exports a record
// (mono_aot_file_info). Three words in it are where the code begins and ends, and a list of calls,
// one to each method: first the methods of the assembly, by the rows of its metadata, then
// instances of generic ones and wrappers. The root domain's table of such files has their images.
const (
	recordName  = "mono_aot_file_info"
	recordSize  = 1 << 10 // bytes of the record in which the words are looked for
	callSize    = 5       // bytes of code
	mostCalls   = 1 << 20
	callAtATime = 1 << 10
)

// compiled is a file of compiled code.
type compiled struct {
	start, end uint64
	methods    []ahead           // by where they begin
	names      *ecma335.Metadata // nil if it cannot be read
}

// ahead is a method in such a file.
type ahead struct {
	begin uint32 // from the start of the code on
	row   uint32 // of the metadata
}

// ahead returns the method that has code in a file; nil if it is none.
func (r *reading) ahead(m *target.Module, pc uint64) *method {
	info := r.in(r.files, pc)
	if info == 0 {
		return nil
	}
	if own := r.at(pc); own.code {
		return own // Mono has looked for it before
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.compiled[m]
	if c == nil {
		c = r.readCompiled(m, info)
		r.compiled[m] = c
	}
	return c.method(pc)
}

// method returns the method that has an address; nil if it is not known.
func (c *compiled) method(pc uint64) *method {
	if c.names == nil || pc < c.start || pc >= c.end {
		return nil
	}
	// The last one that begins at pc or before; of several at one place, the first.
	i, found := slices.BinarySearchFunc(c.methods, uint32(pc-c.start), func(a ahead, at uint32) int { return cmp.Compare(a.begin, at) })
	if !found {
		if i--; i < 0 {
			return nil
		}
		i, _ = slices.BinarySearchFunc(c.methods, c.methods[i].begin, func(a ahead, at uint32) int { return cmp.Compare(a.begin, at) })
	}
	at := c.methods[i]
	n := c.names.Method(at.row)
	name := n.Method
	if i := strings.LastIndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	if name == "" {
		return nil
	}
	if n.Type != "" {
		name = n.Type + "." + name
	}
	return &method{code: true, name: name, start: c.start + uint64(at.begin)}
}

// readCompiled reads what is known of a file of compiled code.
func (r *reading) readCompiled(m *target.Module, info uint64) *compiled {
	c := &compiled{start: r.word(info + r.start)}
	c.end = c.start + uint64(r.half(info+r.size))
	im, bias, err := m.PeekImage()
	if err != nil {
		return c
	}
	s, ok := im.Exported(recordName)
	if !ok {
		return c
	}
	for at := bias + s.Addr; at < bias+s.Addr+recordSize; at += 8 {
		if r.word(at) == c.start && r.word(at+8) == c.end {
			c.methods = r.readCalls(c, r.word(at+16))
			break
		}
	}
	image := r.word(info + jitInfoMethod)
	if _, names, _, ok := r.assembly(build{image, r.text(r.word(image + r.version))}); ok && len(c.methods) > 0 {
		c.names = names
	}
	return c
}

// readCalls reads where the methods begin that were compiled, and sorts them by that. The list in
// memory has one call for each row of the metadata.
func (r *reading) readCalls(c *compiled, at uint64) (list []ahead) {
	const call = 0xe8
	first := at
	var b [callSize * callAtATime]byte
read:
	for row := uint32(1); row < mostCalls; {
		n, _ := r.mem.ReadMemory(at, b[:])
		for p := b[:n]; len(p) >= callSize; p, at, row = p[callSize:], at+callSize, row+1 {
			to := at + callSize + uint64(int64(int32(order.Uint32(p[1:]))))
			switch {
			case p[0] == call && to >= c.start && to < c.end:
				list = append(list, ahead{uint32(to - c.start), row})
			case p[0] == call && to == first: // the method was not compiled
			default:
				break read
			}
		}
		if n < len(b) {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b ahead) int { return cmp.Compare(a.begin, b.begin) })
	return list
}
