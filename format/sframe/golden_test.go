package sframe

import (
	"bytes"
	"errors"
	"testing"
)

// fixtures are the sections of testdata, with the properties that the toolchain was asked for.
var fixtures = []struct {
	name    string
	version Version
	abi     ABI
	flex    bool // has flexible FDEs
	mask    bool // has PCMASK FDEs
}{
	{"amd64-v1", V1, AMD64, false, true},
	{"arm64-v1", V1, AArch64LE, false, false},
	{"arm64be-v1", V1, AArch64BE, false, false},
	{"amd64-v2", V2, AMD64, false, true},
	{"arm64-v2", V2, AArch64LE, false, false},
	{"arm64be-v2", V2, AArch64BE, false, false},
	{"amd64-v2-pcrel", V2, AMD64, false, true},
	{"s390x-v2", V2, S390X, false, true},
	{"amd64-v3", V3, AMD64, true, true},
	{"arm64-v3", V3, AArch64LE, false, false},
	{"arm64be-v3", V3, AArch64BE, false, false},
	{"s390x-v3", V3, S390X, true, true},
}

// TestGolden compares real sections with the dumps of their own binutils.
func TestGolden(t *testing.T) {
	for _, fx := range fixtures {
		t.Run(fx.name, func(t *testing.T) {
			s, g := openFixture(t, fx.name)
			if s.Version != fx.version || s.ABI != fx.abi {
				t.Errorf("version %v, ABI %v; expected %v, %v", s.Version, s.ABI, fx.version, fx.abi)
			}
			sameSection(t, s, g)
			var flex, mask, pauth bool
			var types [3]bool
			for f := range s.FDEs() {
				flex = flex || f.Type == FDEFlex
				mask = mask || f.PCType == PCMask
				pauth = pauth || f.PauthKey == PauthB
				types[f.FREType] = true
			}
			arm := fx.abi == AArch64LE || fx.abi == AArch64BE
			if flex != fx.flex || mask != fx.mask || types != [3]bool{true, true, true} || pauth != arm {
				t.Errorf("the fixture lost a form: flex %t, mask %t, FRE types %v, pauth key B %t", flex, mask, types, pauth)
			}
		})
	}
}

// TestGoldenUnsorted drops the sorted flag and reverses the FDEs. The index must give the same rows
// as the sorted section.
func TestGoldenUnsorted(t *testing.T) {
	for _, fx := range fixtures {
		t.Run(fx.name, func(t *testing.T) {
			sorted, g := openFixture(t, fx.name)
			data := bytes.Clone(sorted.Data)
			data[3] &^= byte(FDESorted)
			n, size := int(sorted.NumFDEs), sorted.fdeSize
			fdes := data[sorted.fdeBase:][:n*size]
			for i := range n {
				// A field-relative start moves with its field.
				copy(fdes[i*size:], sorted.fdes[(n-1-i)*size:][:size])
				if sorted.Flags&FDEFuncStartPCRel != 0 {
					moved := (n-1-i)*size - i*size
					if fx.version == V3 {
						sorted.ByteOrder.PutUint64(fdes[i*size:], sorted.u64(fdes, i*size)+uint64(moved))
					} else {
						sorted.ByteOrder.PutUint32(fdes[i*size:], sorted.u32(fdes, i*size)+uint32(moved))
					}
				}
			}
			s, err := Open(data, sorted.Addr)
			if err != nil {
				t.Fatal(err)
			}
			sameFinds(t, s, g)
		})
	}
}

// TestTrailingBytes: a PT_GNU_SFRAME segment may be longer than the section.
func TestTrailingBytes(t *testing.T) {
	for _, fx := range fixtures {
		section, g := openFixture(t, fx.name)
		s, err := Open(append(bytes.Clone(section.Data), make([]byte, 4096)...), section.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Data) != len(section.Data) {
			t.Errorf("%s: %d bytes, expected %d", fx.name, len(s.Data), len(section.Data))
		}
		sameSection(t, s, g)
	}
}

// TestTruncated cuts a real section everywhere. Open must notice.
func TestTruncated(t *testing.T) {
	for _, fx := range fixtures {
		section, _ := openFixture(t, fx.name)
		for n := range section.Data {
			if _, err := Open(section.Data[:n], 0); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%s: first %d bytes of %d: %v", fx.name, n, len(section.Data), err)
			}
		}
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	for _, fx := range fixtures {
		s, g := openFixture(t, fx.name)
		if n := testing.AllocsPerRun(10, func() {
			for _, f := range g.fdes {
				_, err := s.Find(f.start + f.size - 1)
				if err != nil {
					t.Fatal(err)
				}
				s.Find(f.start - 1<<40) // in no FDE
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", fx.name, n)
		}
	}
}
