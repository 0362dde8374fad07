package mono

import (
	"bytes"
	"fmt"
	"io"
	"path"

	"github.com/sfwalk/sfwalk/language/internal/ecma335"
	"github.com/sfwalk/sfwalk/target"
)

// Where a MonoImage has the bytes of the assembly's file, in the releases that are known.
const (
	imageBytes = 0x10
	imageSize  = 0x18
)

const (
	mostAssembly   = 32 << 20 // bytes of a file that is read where memory lacks it
	mostAssemblies = 1 << 12
	mostPoints     = 1 << 20 // bytes of a method's sequence points
)

// lines are the source lines of an assembly. number is a method's token of the metadata.
type lines interface {
	Line(number, il uint32) (file string, line int)
}

// portable are lines of a portable PDB.
type portable struct{ *ecma335.Metadata }

func (p portable) Line(token, il uint32) (string, int) {
	const row = 1<<24 - 1
	return p.Metadata.Line(token&row, il)
}

// build tells an assembly that is loaded from all that may come to lie at its address.
type build struct {
	image   uint64
	version string
}

// source returns the source line that code is at.
func (r *reading) source(info, method, pc uint64) (file string, line int) {
	class := r.word(method + r.class)
	image := r.word(class + r.layout.image)
	of := r.linesOf(build{image, r.text(r.word(image + r.version))})
	if of == nil {
		return "", 0
	}
	il, ok := r.offset(r.word(info+r.points), int64(pc-r.word(info+r.start)))
	if !ok {
		return "", 0
	}
	return of.Line(r.half(method+r.token), il)
}

// linesOf returns the lines of an assembly; nil stands for none.
func (r *reading) linesOf(b build) lines {
	r.mu.Lock()
	of, ok := r.assemblies[b]
	r.mu.Unlock()
	if ok || b.version == "" {
		return of
	}
	of = r.readLines(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.assemblies) < mostAssemblies {
		r.assemblies[b] = of
	}
	return of
}

// readLines reads the lines of an assembly.
func (r *reading) readLines(b build) lines {
	pe, _, version, ok := r.assembly(b)
	if !ok {
		return nil
	}
	name := r.text(r.word(b.image + r.file))
	if p := pe.Lines(name, r.read); p != nil {
		return portable{p}
	}
	if m := openMDB(r.read(name+".mdb", mostMDB), version); m != nil {
		return m
	}
	return nil
}

// assembly opens an assembly: its bytes in memory, or its file, if they are of the version that the
// process has.
func (r *reading) assembly(b build) (pe *ecma335.Assembly, m *ecma335.Metadata, version [16]byte, ok bool) {
	in := inMemory{r.modules.MemoryOr(r.memory), r.word(b.image + imageBytes), int64(r.half(b.image + imageSize))}
	if pe, m, version, ok = assemblyOf(in, b.version); ok {
		return pe, m, version, true
	}
	return assemblyOf(bytes.NewReader(r.read(r.text(r.word(b.image+r.file)), mostAssembly)), b.version)
}

// assemblyOf opens an assembly if it is of the version that Mono writes in that way.
func assemblyOf(in io.ReaderAt, text string) (pe *ecma335.Assembly, m *ecma335.Metadata, version [16]byte, ok bool) {
	pe, err := ecma335.OpenAssembly(in, false)
	if err != nil {
		return nil, nil, version, false
	}
	if m, err = pe.Metadata(); err != nil {
		return nil, nil, version, false
	}
	v, ok := m.Version()
	said := fmt.Sprintf("%08X-%04X-%04X-%04X-%012X", order.Uint32(v[:]), order.Uint16(v[4:]), order.Uint16(v[6:]), v[8:10], v[10:])
	return pe, m, v, ok && said == text
}

// read returns the bytes of a file that the process names; nil if it cannot be read, or has more
// than most of them.
func (r *reading) read(name string, most int64) []byte {
	if r.modules.NamedFile == nil || !path.IsAbs(name) {
		return nil
	}
	f, err := r.modules.NamedFile(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(b)) > most {
		return nil
	}
	return b
}

// inMemory reads the file of an assembly where the process has it.
type inMemory struct {
	mem  target.Memory
	base uint64
	size int64
}

// ReadAt implements [io.ReaderAt].
func (x inMemory) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= x.size || x.base == 0 {
		return 0, io.EOF
	}
	if left := x.size - off; int64(len(p)) > left {
		p, err = p[:left], io.EOF
	}
	n, wrong := x.mem.ReadMemory(x.base+uint64(off), p)
	if wrong != nil {
		err = wrong
	}
	return n, err
}

// offset returns the offset in a method's IL that its machine code is of, by the method's sequence
// points: a number of 7 bits a byte, which has their length and two flags, and they or their
// address. Each has the distance to the one before it, in both kinds of code.
func (r *reading) offset(points uint64, native int64) (il uint32, ok bool) {
	const debugger, here, exit = 1, 2, 2
	var b [8]byte
	n, _ := r.mem.ReadMemory(points, b[:])
	head, used := variable(b[:n])
	if points == 0 || used == 0 {
		return 0, false
	}
	if points += uint64(used); head&here == 0 {
		points = r.word(points)
	}
	list := make([]byte, min(head>>2, mostPoints))
	n, _ = r.mem.ReadMemory(points, list)
	list = list[:n]
	next := func() int64 {
		v, used := variable(list)
		list = list[used:]
		if used == 0 {
			list = nil
		}
		return int64(v)
	}
	delta := func() int64 { v := next(); return v>>1 ^ -(v & 1) }
	var offset, at, found int64
	for len(list) > 0 {
		offset += delta()
		at += delta()
		own := offset >= 0
		if head&debugger != 0 {
			own = own && next()&exit == 0
			for n := next(); n > 0 && len(list) > 0; n-- {
				next()
			}
		}
		if own && at <= native && (!ok || at >= found) {
			il, found, ok = uint32(offset), at, true
		}
	}
	return il, ok
}

// variable reads a number of at most four groups of 7 bits; used is 0 if there is none.
func variable(b []byte) (v uint32, used int) {
	for i := range min(len(b), 4) {
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i]&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}
