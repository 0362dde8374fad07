package target

import (
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
)

// Each address belongs to the first object that claims it.
func TestDisjoint(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const most = 60
	for range 2000 {
		var list []*Module
		for range random.IntN(8) {
			var mappings []Mapping
			for range 1 + random.IntN(3) {
				lo := random.Uint64N(most)
				mappings = append(mappings, Mapping{Lo: lo, Hi: lo + random.Uint64N(most-lo), Exec: true})
			}
			list = append(list, NewRegistered("object", mappings, nil))
		}
		spans := disjointSpans(list)
		for addr := range uint64(most) {
			var want *Module
			for _, m := range list {
				for _, p := range m.Mappings {
					if want == nil && p.Lo <= addr && addr < p.Hi {
						want = m
					}
				}
			}
			if got := findSpan(spans, addr); got != want {
				t.Fatalf("%#x is in %p, want %p", addr, got, want)
			}
		}
		for i := 1; i < len(spans); i++ {
			if spans[i].Lo < spans[i-1].Hi {
				t.Fatalf("spans %+v and %+v", spans[i-1], spans[i])
			}
		}
	}
}

// Registered objects are looked for once, when an address is looked up that they could hold.
// Addresses in a file are the file's.
func TestRegistered(t *testing.T) {
	file := NewModule("/file", []Mapping{{Lo: 0x1000, Hi: 0x2000, Exec: true}}, nil)
	shared := NewModule("/memfd:code", []Mapping{{Lo: 0x5000, Hi: 0x6000, Exec: true}}, nil)
	ms := NewModules([]*Module{file, shared}, []Mapping{{Lo: 0x3000, Hi: 0x4000, Exec: true}})
	object := NewRegistered("object", []Mapping{{Lo: 0x1000, Hi: 0x3800}, {Lo: 0x5000, Hi: 0x5800}, {Lo: 0x8000, Hi: 0x9000}}, nil)
	asked := 0
	ms.Register(func() Registered {
		asked++
		return Registered{Objects: []*Module{object}}
	})
	if ms.Find(0x1800) != file || ms.Find(0x2800) != nil || ms.Find(0x8800) != nil || asked != 0 || ms.Registered().Objects != nil {
		t.Errorf("asked %d times", asked)
	}
	for _, tt := range []struct {
		addr uint64
		want *Module
	}{{0x3000, object}, {0x37ff, object}, {0x3800, nil}, {0x1800, file}, {0x2800, nil}, {0x5000, object}, {0x5800, shared}, {0x8800, nil}} {
		if got := ms.Find(tt.addr); got != tt.want {
			t.Errorf("%#x is in %v, want %v", tt.addr, got, tt.want)
		}
	}
	if ms.FindFile(0x3000) != nil || ms.FindFile(0x5000) != shared || asked != 1 || len(ms.Registered().Objects) != 1 || len(ms.All()) != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// PeekImage opens a module's file, and the module does not count as used.
func TestPeek(t *testing.T) {
	opened := 0
	m := NewModule("/file", nil, func() (*elf.Image, error) { opened++; return nil, elf.ErrNoSection })
	if _, _, err := m.PeekImage(); err != elf.ErrNoSection || m.ImageUsed() {
		t.Errorf("%v, opened %v", err, m.ImageUsed())
	}
	if _, _, err := m.Image(); err != elf.ErrNoSection || !m.ImageUsed() || opened != 1 {
		t.Errorf("%v, opened %v, %d times", err, m.ImageUsed(), opened)
	}
}
