package java

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// flagged are the flags of tables at a method's end.
var flagged = tablesLayout{known: true, generic: 16, named: 32, throws: 2, catches: 8, variables: 4, annotations: [4]int64{128, 256, 512, 1024}}

// TestEntries reads a table of variables that has every other table behind it.
func TestEntries(t *testing.T) {
	var tail []byte
	words := func(list ...uint16) {
		for _, v := range list {
			tail = binary.LittleEndian.AppendUint16(tail, v)
		}
	}
	words(0xdead)
	words(3, 5, 7, 8, 0, 1, 1)       // variable 7 of type 8 in slot 1, from 3 to 8
	words(0, 1, 2, 3, 4, 5, 6, 7, 2) // two handlers
	words(9, 1)                      // what it throws
	words(1, 0, 2, 0, 2)             // two parameters
	words(6)                         // its generic type
	words(0, 0, 0, 0)                // annotations
	list := flagged.entries(tail, binary.LittleEndian, 4+8+2+32+16+256)
	if len(list) != 1 || list[0] != (entry{3, 5, 7, 8, 1}) {
		t.Errorf("%+v", list)
	}
	for _, flags := range []int64{0, 8, 4 + 8 + 2 + 32 + 16 + 256 + 128} {
		if list := flagged.entries(tail, binary.LittleEndian, flags); len(list) > 0 {
			t.Errorf("flags %#x: %+v", flags, list)
		}
	}
}

// FuzzEntries reads a table of variables.
func FuzzEntries(f *testing.F) {
	f.Add([]byte{3, 0, 5, 0, 7, 0, 8, 0, 0, 0, 1, 0, 1, 0}, int64(4))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, int64(4+8+2+32))
	f.Fuzz(func(t *testing.T, tail []byte, flags int64) {
		bounds.Hold(t, 1<<16+20*len(tail), func() {
			if n := len(flagged.entries(tail, binary.LittleEndian, flags)); n > len(tail)/12 {
				t.Errorf("%d variables in %d bytes", n, len(tail))
			}
		})
	})
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		ok   bool
	}{
		{"()V", 0, true}, {"(I[[JLa/B;[La/B;D)V", 5, true},
		{"", 0, false}, {"(", 0, false}, {"(V)V", 0, false}, {"(L;)V", 0, false}, {"(La/B", 0, false}, {"([)V", 0, false}, {"(I", 0, false},
	} {
		if list, ok := parameters(c.text); len(list) != c.n || ok != c.ok {
			t.Errorf("%s: %q, %t", c.text, list, ok)
		}
	}
}

// FuzzParameters reads descriptors.
func FuzzParameters(f *testing.F) {
	f.Add("(I[[JLa/B;[La/B;D)V")
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 1<<17+64*len(text), func() {
			list, _ := parameters(text)
			for _, d := range list {
				if descriptorLength(d) != len(d) || typeName(d) == "" {
					t.Errorf("%q is no type", d)
				}
			}
		})
	})
}

// encoded writes numbers as the compilers do, from JDK 20 on.
func encoded(list ...uint32) (b []byte) {
	for _, v := range list {
		for i := 0; ; i++ {
			if v < 191 || i == longest-1 {
				b = append(b, byte(v+1))
				break
			}
			v -= 191
			b = append(b, byte(192+v%64))
			v /= 64
		}
	}
	return b
}

func TestScopeValues(t *testing.T) {
	object := encoded(1, uint32(valueObject), 40)
	for name, flag := range map[string][]byte{"17": nil, "22": {1}, "a raw flag": {0}} {
		s := scopeValues{numbers: numbers{bytes: append(append(object[:len(object):len(object)], flag...), encoded(uint32(valueReference), 3, 2, uint32(valueInt), 9, uint32(valueObjectID), 41)...), least: 1}}
		list := s.list()
		if s.bad || s.short || len(list) != 1 || len(s.bytes) > 0 {
			t.Fatalf("%s: %+v", name, s)
		}
		v := s.all[list[0]]
		if v.bits != 40 || v.class != 3 || len(v.fields) != 2 || int32(s.all[v.fields[0]].bits) != -5 || s.all[v.fields[1]].bits != 41 {
			t.Errorf("%s: %+v", name, s.all)
		}
	}
	s := scopeValues{numbers: numbers{bytes: encoded(2, uint32(valueLong), 1, 2, uint32(valueDouble), 0x1ffc>>2, 0), least: 1}}
	if list := s.list(); s.bad || s.short || len(list) != 2 || s.all[list[0]].bits != 1<<32|0xffffffff || s.all[list[1]].bits != 0xffe00000_00000000 {
		t.Errorf("%+v", s.all)
	}
}

// FuzzScopeValues reads where a compiler has values.
func FuzzScopeValues(f *testing.F) {
	f.Add(encoded(3, uint32(valueObject), 40, uint32(valueReference), 3, 1, uint32(valueInt), 9, uint32(valueObjectID), 40, uint32(valueMerge), 1, 1, 1, 0, 7, 0), true)
	f.Add(encoded(1<<31, uint32(valueObject)), false)
	f.Fuzz(func(t *testing.T, data []byte, newer bool) {
		bounds.Hold(t, 1<<19+200*len(data), func() {
			s := scopeValues{numbers: numbers{bytes: data}}
			if newer {
				s.least = 1
			}
			for _, i := range s.list() {
				if i < 0 && !s.bad || i >= len(s.all) {
					t.Errorf("value %d of %d", i, len(s.all))
				}
			}
		})
	})
}

// FuzzValues writes what is in memory as objects of all classes that are written in their own way.
// The first bytes place fields.
func FuzzValues(f *testing.F) {
	for _, fill := range []uint64{0, fuzzBase, fuzzBase + 512, ^uint64(0)} {
		b := make([]byte, 64)
		for i := range 256 {
			b = binary.LittleEndian.AppendUint64(b, fill+uint64(i&7*8))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const choice = 64
		if len(data) < choice {
			return
		}
		h := &heap{tables: &vmstructs.Tables{Fields: map[string]vmstructs.Field{}, Types: map[string]vmstructs.Type{"ConstantPool": {Size: 16}}, Constants: map[string]int64{}}}
		h.narrowOops, h.narrowClasses = data[0]&1 != 0, data[0]&2 != 0
		h.once.Do(func() { h.known = true })
		for i, name := range inObjects {
			h.tables.Fields[name] = vmstructs.Field{Offset: uint64(data[1+i%(choice-1)]&15) * 8, Size: 4}
		}
		bounds.Hold(t, 1<<22+100*len(data), func() {
			r := &reading{Reader: vmstructs.NewReader(bytesAt(data[choice:]), binary.LittleEndian), heap: h}
			for _, descriptor := range []string{"I", "J", "D", "C", "[I", "[[Ljava/lang/Object;", "La/B;"} {
				text := r.variable(descriptor, content{bits: fuzzBase})
				if len(text) > 8*mostValue {
					t.Errorf("%d bytes: %.200s", len(text), text)
				}
			}
			for _, write := range known {
				w := &writer{reading: r}
				write(w, fuzzBase, fuzzBase+8)
			}
			w := &writer{reading: r}
			w.apart(&takenApart{class: fuzzBase, fields: []content{{bits: 1}, {bits: fuzzBase, reference: true}}})
			w.array(fuzzBase, fuzzBase+64, "La/B;")
			w.fields(fuzzBase, fuzzBase+8, "[", "]")
			w.class(fuzzBase)
			w.constantOf(fuzzBase, fuzzBase+8, "a/B")
			w.throwable(fuzzBase, "a/B")
		})
	})
}
