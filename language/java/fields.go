package java

// fieldPlace is where a field is in its object.
type fieldPlace struct {
	offset uint64
	ok     bool
}

// mostFields bounds the fields of a class. A class file has at most 65,535, and java.lang.Thread
// 40.
const mostFields = 1 << 10

// place returns where the field of a class is in its objects. The class is one of the run time's
// own: it is never unloaded.
func (r *reading) place(class uint64, name string) (fieldPlace, bool) {
	key := fieldKey{class, name}
	r.mu.Lock()
	p, found := r.offsets[key]
	r.mu.Unlock()
	if !found {
		p.offset, p.ok = r.find(class, name)
		r.mu.Lock()
		if r.offsets == nil {
			r.offsets = map[fieldKey]fieldPlace{}
		}
		r.offsets[key] = p
		r.mu.Unlock()
	}
	return p, p.ok
}

// find looks for the field of a class.
func (r *reading) find(class uint64, name string) (offset uint64, ok bool) {
	pool, _ := r.word(class, "InstanceKlass::_constants")
	r.eachField(class, func(f field) bool {
		if r.constant(pool, f.name) == name {
			offset, ok = f.offset, f.offset != 0
			return false
		}
		return true
	})
	return offset, ok
}

// constant returns the name at an index of a constant pool.
func (r *reading) constant(pool, index uint64) string {
	header := r.tables.Types["ConstantPool"].Size
	if pool == 0 || header == 0 {
		return ""
	}
	at, _ := r.Word(pool + header + 8*index)
	return r.symbol(at)
}

// field is a field as its class has it.
type field struct {
	name, descriptor uint64 // constants
	access           uint64
	offset           uint64 // in an object, or, if it is static, in the class's java.lang.Class
}

// static reports whether the field is the class's own.
func (f field) static() bool { return f.access&accessStatic != 0 }

// accessStatic is ACC_STATIC of the Java Virtual Machine Specification, tables 4.5-A and 4.6-A.
const accessStatic = 0x8

// eachField calls do with the fields that a class itself has, until do returns false.
func (r *reading) eachField(class uint64, do func(field) (more bool)) {
	if stream, has := r.word(class, "InstanceKlass::_fieldinfo_stream"); has {
		r.inStream(stream, do)
	} else {
		r.inArray(class, do)
	}
}

// inArray goes through the array of 16-bit words that releases up to 20 have.
func (r *reading) inArray(class uint64, do func(field) bool) {
	list, ok := r.word(class, "InstanceKlass::_fields")
	count, _ := r.number(class, "InstanceKlass::_java_fields_count")
	data := r.tables.Fields["Array<u2>::_data"].Offset
	c := r.tables.Constants
	slots, shift := c["FieldInfo::field_slots"], c["FIELDINFO_TAG_SIZE"]
	access, name, descriptor := c["FieldInfo::access_flags_offset"], c["FieldInfo::name_index_offset"], c["FieldInfo::signature_index_offset"]
	low, high := c["FieldInfo::low_packed_offset"], c["FieldInfo::high_packed_offset"]
	if !ok || data == 0 || slots <= 0 || slots > 16 || max(access, name, descriptor, low, high) >= slots ||
		min(access, name, descriptor, low, high, shift) < 0 || shift > 16 {
		return
	}
	for i := range min(count, mostFields) {
		b := r.Read(list+data+uint64(i*slots*2), int(slots*2))
		if len(b) < int(slots*2) {
			break
		}
		part := func(at int64) uint64 { return uint64(r.Order.Uint16(b[2*at:])) }
		f := field{name: part(name), descriptor: part(descriptor), access: part(access), offset: (part(high)<<16 | part(low)) >> shift}
		if f.access&uint64(c["JVM_ACC_FIELD_INTERNAL"]) == 0 && !do(f) {
			break
		}
	}
}

// inStream goes through the stream of numbers that releases from 21 on have.
func (r *reading) inStream(stream uint64, do func(field) bool) {
	data := r.tables.Fields["Array<u1>::_data"].Offset
	n, ok := r.small(stream) // the length is the first part of an array
	if !ok || data == 0 {
		return
	}
	b := packed{bytes: r.bytes(stream+data, int(min(n, mostFields*16)))}
	flag := func(name string, usual uint) uint32 {
		if v, ok := r.tables.Constants["FieldInfo::FieldFlags::_ff_"+name]; ok {
			return 1 << (v & 31)
		}
		return 1 << usual
	}
	initialized, injected := flag("initialized", 0), flag("injected", 1)
	generic, contended := flag("generic", 2), flag("contended", 4)
	own, injections := b.next(), b.next()
	for range min(own+injections, mostFields) {
		f := field{name: uint64(b.next()), descriptor: uint64(b.next()), offset: uint64(b.next()), access: uint64(b.next())}
		flags := b.next()
		for _, more := range []uint32{initialized, generic, contended} {
			if flags&more != 0 {
				b.next()
			}
		}
		if b.short || flags&injected == 0 && !do(f) {
			break
		}
	}
}

// packed are numbers as HotSpot packs them (UNSIGNED5) from JDK 20 on: a number takes one to five
// bytes, none of which is zero.
type packed struct {
	bytes []byte
	short bool // the bytes have ended within a number
}

// next returns the next number.
func (p *packed) next() (v uint32) {
	const least, last = 1, 192 // a byte of at least last has another one behind it
	for i := range 5 {
		if len(p.bytes) == 0 || p.bytes[0] < least {
			p.short = true
			return 0
		}
		b := p.bytes[0]
		p.bytes = p.bytes[1:]
		v += uint32(b-least) << (6 * i)
		if b < last {
			break
		}
	}
	return v
}
