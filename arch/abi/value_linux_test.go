package abi_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"regexp"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
)

// value returns the bytes of a value of a type: no number is infinite or none, and no bool has
// other bits.
func (p *program) value(t *abi.Type) []byte {
	b := make([]byte, t.Size)
	little := p.Order == binary.ByteOrder(binary.LittleEndian)
	for s := range t.Scalars {
		if s.BitSize != 0 {
			for i := s.BitOffset; i < s.BitOffset+s.BitSize; i++ {
				b[i/8] |= bit(i, little) & byte(p.rand.Uint32())
			}
			continue
		}
		v := b[s.BitOffset/8:][:s.Type.Size]
		for i := range v {
			v[i] = byte(p.rand.Uint32())
		}
		p.tame(s.Type, v, little)
	}
	return b
}

func (p *program) tame(t *abi.Type, v []byte, little bool) {
	switch {
	case t.Kind == abi.X87:
		v[7] |= 0x80
		v[9] &^= 0x40
		clear(v[10:])
	case t.Kind == abi.Integer && t.Size == 1 && !t.Signed:
		v[0] &= 1
	case t.Kind == abi.Float && little:
		v[len(v)-1] &^= 0x40
	case t.Kind == abi.Float:
		v[0] &^= 0x40
	}
}

func bit(i uint64, little bool) byte {
	if little {
		return 1 << (i % 8)
	}
	return 0x80 >> (i % 8)
}

// same compares two values of a type, but for padding.
func (p *program) same(t *abi.Type, a, b []byte) bool {
	mask := make([]byte, t.Size)
	for s := range t.Scalars {
		if s.BitSize != 0 {
			for i := s.BitOffset; i < s.BitOffset+s.BitSize; i++ {
				mask[i/8] |= bit(i, p.Order == binary.ByteOrder(binary.LittleEndian))
			}
			continue
		}
		size := s.Type.Size
		if s.Type.Kind == abi.X87 {
			size = 10
		}
		copy(mask[s.BitOffset/8:], bytes.Repeat([]byte{0xff}, int(size)))
	}
	for i, m := range mask {
		if a[i]&m != b[i]&m {
			return false
		}
	}
	return true
}

// source returns a function's text, and the structs that it names.
func (p *program) source(name string) string {
	text, _ := os.ReadFile(p.src)
	_, after, _ := strings.Cut(string(text), " "+name+"(")
	before := strings.LastIndex(string(text[:len(text)-len(after)]), "\n")
	function, _, _ := strings.Cut(string(text[before+1:]), "\n}\n")
	seen := map[string]bool{}
	for at := 0; at < len(function); {
		found := structName.FindStringIndex(function[at:])
		if found == nil {
			break
		}
		name := function[at:][found[0]:found[1]]
		at += found[1]
		if _, body, ok := strings.Cut(string(text), "\n"+name+" {"); ok && !seen[name] {
			body, end, _ := strings.Cut(body, "\n}")
			end, _, _ = strings.Cut(end, "\n")
			function += "\n" + name + " {" + body + "\n}" + end
			seen[name] = true
		}
	}
	return function
}

var structName = regexp.MustCompile(`\b(struct|union) t[0-9]+`)
