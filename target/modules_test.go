package target

import (
	"debug/elf"
	"errors"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

func TestModulesFind(t *testing.T) {
	a := NewModule("a", []Mapping{{Lo: 0x1000, Hi: 0x2000}, {Lo: 0x2000, Hi: 0x3000, Exec: true}, {Lo: 0x8000, Hi: 0x9000}}, nil)
	b := NewModule("b", []Mapping{{Lo: 0x4000, Hi: 0x5000, Exec: true}}, nil)
	ms := NewModules([]*Module{b, a}, []Mapping{{Lo: 0x6000, Hi: 0x7000, Exec: true}, {Lo: 0x7000, Hi: 0x7800}})
	for _, test := range []struct {
		addr uint64
		m    *Module
		code bool
	}{
		{0, nil, false}, {0xfff, nil, false}, {0x1000, a, false}, {0x1fff, a, false}, {0x2000, a, true}, {0x2fff, a, true},
		{0x3000, nil, false}, {0x3fff, nil, false}, {0x4000, b, true}, {0x5000, nil, false}, // b lies within a's range
		{0x6000, nil, true}, {0x6fff, nil, true}, {0x7000, nil, false}, {0x8fff, a, false}, {0x9000, nil, false}, {^uint64(0), nil, false},
	} {
		if m := ms.Find(test.addr); m != test.m {
			t.Errorf("Find(%#x) = %v, want %v", test.addr, m, test.m)
		}
		if code := ms.IsCode(test.addr); code != test.code {
			t.Errorf("IsCode(%#x) = %v", test.addr, code)
		}
	}
	if all := ms.All(); len(all) != 2 || all[0] != a || all[1] != b || a.Lo() != 0x1000 || a.Hi() != 0x9000 {
		t.Errorf("modules %v", all)
	}
	if other := NewModules(nil, nil); other.Generation == ms.Generation || !other.IsCode(0x1234) || other.Find(0x1000) != nil {
		t.Errorf("an empty list: %+v", other)
	}
}

// Any mapped part of the file gives the load bias.
func TestBias(t *testing.T) {
	// A position-independent executable of today's linkers has four segments. In the file, the
	// third and the fourth share a page.
	im := &elfimage.Image{Progs: []elf.ProgHeader{
		{Type: elf.PT_PHDR, Off: 0x40, Vaddr: 0x40, Filesz: 0x200},
		{Type: elf.PT_LOAD, Flags: elf.PF_R, Off: 0, Vaddr: 0, Filesz: 0x1628, Memsz: 0x1628},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: 0x1630, Vaddr: 0x2630, Filesz: 0x9d0, Memsz: 0x9d0},
		{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Off: 0x2df0, Vaddr: 0x4df0, Filesz: 0x220, Memsz: 0x900},
	}}
	const bias = 0x5555_0000_0000
	header := Mapping{Lo: bias, Hi: bias + 0x2000, Offset: 0}
	code := Mapping{Lo: bias + 0x2000, Hi: bias + 0x3000, Offset: 0x1000, Exec: true}
	data := Mapping{Lo: bias + 0x4000, Hi: bias + 0x6000, Offset: 0x2000}
	for name, maps := range map[string][]Mapping{
		"all":                    {header, code, data},
		"code only":              {code},
		"not the code":           {header, data},
		"data only":              {data},
		"code split by mprotect": {header, {Lo: code.Lo, Hi: code.Lo + 0x800, Offset: 0x1000}, {Lo: code.Lo + 0x800, Hi: code.Hi, Offset: 0x1800, Exec: true}},
	} {
		if got, err := LoadBias(im, maps); err != nil || got != bias {
			t.Errorf("%s: bias %#x, %v", name, got, err)
		}
	}
	if got, err := LoadBias(im, []Mapping{{Lo: 0x1000, Hi: 0x2000, Offset: 0x10_0000, Exec: true}}); err == nil {
		t.Errorf("another file's mapping: bias %#x", got)
	}
}

func TestModuleErrors(t *testing.T) {
	maps := []Mapping{{Lo: 0x1000, Hi: 0x2000, Exec: true}}
	if _, _, err := NewModule("gone", maps, nil).Image(); err == nil {
		t.Error("a module without a file has an image")
	}
	broken := errors.New("broken")
	calls := 0
	m := NewModule("broken", maps, func() (*elfimage.Image, error) { calls++; return nil, broken })
	for range 2 {
		if _, _, err := m.Image(); !errors.Is(err, broken) {
			t.Errorf("Image: %v", err)
		}
	}
	if _, _, ok := m.Function(0x1000); ok || m.BuildID() != "" || calls != 1 {
		t.Errorf("function %v, build ID %q, opened %d times", ok, m.BuildID(), calls)
	}
}

func TestCodeEnd(t *testing.T) {
	a := NewModule("a", []Mapping{{Lo: 0x1000, Hi: 0x2000}, {Lo: 0x2000, Hi: 0x3000, Exec: true}, {Lo: 0x3000, Hi: 0x4000, Exec: true}}, nil)
	ms := NewModules([]*Module{a}, []Mapping{{Lo: 0x4000, Hi: 0x5000, Exec: true}, {Lo: 0x7000, Hi: 0x7800, Exec: true}})
	for addr, want := range map[uint64]uint64{
		0: 0, 0x1fff: 0, 0x2000: 0x5000, 0x3fff: 0x5000, 0x4000: 0x5000, 0x4fff: 0x5000, 0x5000: 0, 0x7000: 0x7800, 0x7800: 0, ^uint64(0): 0,
	} {
		if end := ms.CodeEnd(addr); end != want {
			t.Errorf("the code at %#x ends at %#x, want %#x", addr, end, want)
		}
	}
	if end := NewModules(nil, nil).CodeEnd(0x1234); end != ^uint64(0) {
		t.Errorf("where nothing is known, code ends at %#x", end)
	}
	probed := NewModules([]*Module{a}, nil)
	probed.ProbeCode = func(addr uint64) bool { return addr>>12 == 9 }
	if end := probed.CodeEnd(0x9123); end != 0xa000 {
		t.Errorf("a page that was asked about ends at %#x", end)
	}
}
