package fromelf

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/format/breakpad"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// found is a function as it is kept until it is written.
type found struct {
	addr     uint64
	name     uint32 // number in Dump.names
	unit     uint32
	multiple bool
	data     []byte // see reader.encode
}

// encode keeps the functions of the unit: their ranges, inlined calls and lines, as numbers of a
// few bytes.
func (r *reader) encode() {
	own := r.own()
	for i := range r.functions {
		f := &r.functions[i]
		b := r.encoded[:0]
		ranges := r.ranges[f.ranges:f.ranges2]
		addr := ranges[0].Address
		b = appendRangesTo(b, ranges, addr)
		n := 0
		for j := f.inlines; j < f.inlinesEnd; j++ {
			if r.inlines[j].function == int32(i) {
				n++
			}
		}
		b = binary.AppendUvarint(b, uint64(n))
		for j := f.inlines; j < f.inlinesEnd; j++ {
			in := &r.inlines[j]
			if in.function != int32(i) {
				continue
			}
			b = binary.AppendUvarint(b, uint64(in.depth))
			b = binary.AppendUvarint(b, in.callLine)
			id := uint32(0)
			if in.hasFile {
				id = r.fileID(in.callFile)
			}
			b = binary.AppendUvarint(b, uint64(id))
			b = binary.AppendUvarint(b, uint64(r.originName(own, in.origin)))
			b = appendRangesTo(b, r.ranges[in.ranges:in.ranges2], addr)
		}
		b = binary.AppendUvarint(b, uint64(len(f.rows)))
		at, line := addr, int64(0)
		for _, l := range f.rows {
			b = binary.AppendVarint(b, int64(l.addr-at))
			b = binary.AppendUvarint(b, l.size)
			b = binary.AppendVarint(b, int64(l.line)-line)
			b = binary.AppendUvarint(b, uint64(r.fileID(uint64(l.file))))
			at, line = l.addr+l.size, int64(l.line)
		}
		r.encoded = b
		r.out = append(r.out, found{addr: addr, name: own.number(&f.names, f.at), unit: r.u.number, data: r.keep(b)})
	}
}

// chunkSize is the size of the pieces that functions are kept in, bytes.
const chunkSize = 256 << 10

// keep copies b to where it stays.
func (r *reader) keep(b []byte) []byte {
	if len(b) > cap(r.chunk)-len(r.chunk) {
		if len(b) > chunkSize/8 {
			return append([]byte(nil), b...)
		}
		r.chunk = make([]byte, 0, chunkSize)
	}
	from := len(r.chunk)
	r.chunk = append(r.chunk, b...)
	return r.chunk[from:len(r.chunk):len(r.chunk)]
}

// originName returns the number of the name of an inlined function.
func (r *reader) originName(own naming, v dwarfdata.Value) uint32 {
	if n, ok := r.origins[v]; ok {
		return n
	}
	in, e, ok := own.referred(v)
	n := uint32(0)
	if ok {
		n = in.number(&e, v.N)
	} else {
		n = r.d.names.number(append([]byte{plainName}, omitted...))
	}
	r.origins[v] = n
	return n
}

func appendRangesTo(b []byte, list []breakpad.Range, base uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, x := range list {
		b = binary.AppendVarint(b, int64(x.Address-base))
		b = binary.AppendUvarint(b, x.Size)
		base = x.Address
	}
	return b
}

// decoder reads what encode has written.
type decoder struct {
	b []byte
}

func (d *decoder) uint() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 {
		v := d.b[0]
		d.b = d.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) ranges(list []breakpad.Range, base uint64) []breakpad.Range {
	for n := d.uint(); n > 0; n-- {
		base += uint64(d.int())
		list = append(list, breakpad.Range{Address: base, Size: d.uint()})
	}
	return list
}

// each calls inline and line with all inlined calls and lines of a function, in their order. ranges
// is used again.
func (f *found) each(scratch *scratch, inline func(depth, line uint64, file, origin uint32, ranges []breakpad.Range), line func(l row)) {
	d := decoder{f.data}
	scratch.code = d.ranges(scratch.code[:0], f.addr)
	for n := d.uint(); n > 0; n-- {
		depth, callLine, file, origin := d.uint(), d.uint(), uint32(d.uint()), uint32(d.uint())
		scratch.inline = d.ranges(scratch.inline[:0], f.addr)
		inline(depth, callLine, file, origin, scratch.inline)
	}
	at, last := f.addr, int64(0)
	for n := d.uint(); n > 0; n-- {
		l := row{addr: at + uint64(d.int()), size: d.uint()}
		last += d.int()
		l.line, l.file = uint32(last), uint32(d.uint())
		line(l)
		at = l.addr + l.size
	}
}

// scratch is memory that is used again.
type scratch struct {
	code, inline []breakpad.Range

	all     []breakpad.Range // of all inlined calls of a function
	inlines []inlineText
	lines   []row
}
