package stacks_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
)

// xsaveLayout is NT_X86_XSAVE_LAYOUT, of Linux 6.12 and later: type, size, offset, flags of each
// component, 4 bytes each.
const xsaveLayout = 0x205

// A component of the extended state is what XSAVE writes for one bit of XCR0 (Intel SDM, volume 1,
// 13.1).
type component struct{ bit, offset, size int }

// Those of the processor on which testdata/vectorlocals was recorded.
var recordedState = []component{{2, 576, 256}, {5, 832, 64}, {6, 896, 512}, {7, 1408, 1024}}

// Vectors are what the program has in its registers, wherever a processor has them in its extended
// state: AMD's has no room for MPX, AMX makes the area 11 KiB.
func TestVectorLocals(t *testing.T) {
	const (
		sse = 1 << iota
		avx
		avx512
		all = sse | avx | avx512
	)
	mpx := []component{{3, 960, 64}, {4, 1024, 64}}
	intel := []component{{2, 576, 256}, {5, 1088, 64}, {6, 1152, 512}, {7, 1664, 1024}, {9, 2688, 8}}
	amx := append(intel[:5:5], component{17, 2752, 64}, component{18, 2816, 8192})
	for _, v := range []struct {
		name   string
		state  []component
		layout bool // whether the core tells the layout
		knows  int
	}{
		{"as recorded", recordedState, true, all},
		{"before Linux 6.12", recordedState, false, all},
		{"AMD with protection keys", append(recordedState[:4:4], component{9, 2432, 8}), false, all},
		{"Intel with MPX", append(intel[:5:5], mpx...), false, all},
		{"Intel", intel, false, all},
		{"Intel without protection keys", intel[:4], false, all},
		{"Intel with AMX", amx, false, all},
		{"Intel with AMX, told", amx, true, all},
		{"elsewhere", []component{{2, 576, 256}, {7, 1024, 1024}, {6, 2048, 512}, {5, 2560, 64}}, true, all},
		{"AVX alone", recordedState[:1], false, sse | avx},
		{"AVX alone, told", recordedState[:1], true, sse | avx},
		{"no extended state", nil, false, sse},
	} {
		for _, a := range []string{"amd64", "386"} {
			t.Run(v.name+"/"+a, func(t *testing.T) {
				core := filepath.Join(t.TempDir(), "core")
				data := withState(t, filepath.Join("testdata", "vectorlocals", a+".core.xz"), v.state, v.layout)
				if err := os.WriteFile(core, data, 0o600); err != nil {
					t.Fatal(err)
				}
				out, _, err := commandtest.Run("core", core, "--locals", "--exe", filepath.Join("testdata", "vectorlocals", a))
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range []struct {
					name, value string
					needs       int
					amd64       bool
				}{
					{"x", "{31, 32, 33, 34}", sse, false},
					{"y", "{51, 52, 53, 54, 55, 56, 57, 58}", avx, false},
					{"z", "{71, 72, 73, 74, 75, 76, 77, 78, 79, 710, 711, 712, 713, 714, 715, 716}", avx512, false},
					{"k", "12345", avx512, false},
					{"u", "{211, 212, 213, 214, 215, 216, 217, 218, 219, 2110, 2111, 2112, 2113, 2114, 2115, 2116}", avx512, true},
					{"l", "1234567890123456789", avx512, true},
				} {
					if want.amd64 && a != "amd64" {
						continue
					}
					if v.knows&want.needs == 0 {
						want.value = "<unavailable>"
					}
					m := regexp.MustCompile(`(?m)^ +` + want.name + ` = (.*)$`).FindStringSubmatch(out)
					if m == nil || m[1] != want.value {
						t.Errorf("%s is %q, want %s", want.name, m, want.value)
					}
				}
			})
		}
	}
}

// withState unpacks a core, and gives it the extended state of a processor with other components.
// Where there is none, the core has no such state. With layout, it tells where they are.
func withState(t *testing.T, packed string, state []component, layout bool) []byte {
	t.Helper()
	file, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := xz.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	core, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(core))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	var notes, told []byte
	for _, c := range state {
		for _, word := range []int{c.bit, c.size, c.offset, 0} {
			told = le.AppendUint32(told, uint32(word))
		}
	}
	for old := core[f.Progs[0].Off:][:f.Progs[0].Filesz]; len(old) >= elfnote.HeaderSize; {
		name, size, typ := int(le.Uint32(old)), int(le.Uint32(old[4:])), le.Uint32(old[8:])
		at := elfnote.HeaderSize + (name+3)&^3
		owner, body := string(old[elfnote.HeaderSize:][:name-1]), old[at:at+size]
		switch {
		case owner != elfnote.Linux || typ != control.NTXState && typ != xsaveLayout:
			notes = elfnote.Append(notes, le, owner, typ, body)
		case typ == control.NTXState && state != nil:
			notes = elfnote.Append(notes, le, owner, typ, moved(body, state))
		case typ == xsaveLayout && layout:
			notes = elfnote.Append(notes, le, owner, typ, told)
		}
		old = old[at+(size+3)&^3:]
	}
	// The notes' segment moves to the end of the file.
	if f.Class == elf.ELFCLASS64 {
		header := core[le.Uint64(core[32:]):]
		le.PutUint64(header[8:], uint64(len(core)))
		le.PutUint64(header[32:], uint64(len(notes)))
	} else {
		header := core[le.Uint32(core[28:]):]
		le.PutUint32(header[4:], uint32(len(core)))
		le.PutUint32(header[16:], uint32(len(notes)))
	}
	return append(core, notes...)
}

// moved lays the recorded state out anew.
func moved(recorded []byte, state []component) []byte {
	last := state[len(state)-1]
	for _, c := range state {
		if c.offset > last.offset {
			last = c
		}
	}
	area := make([]byte, last.offset+last.size)
	copy(area, recorded[:576]) // the legacy region, and the header
	components := uint64(3)    // x87's and SSE's state
	for _, c := range state {
		components |= 1 << c.bit
		for _, r := range recordedState {
			if r.bit == c.bit {
				copy(area[c.offset:][:c.size], recorded[r.offset:])
			}
		}
	}
	le := binary.LittleEndian
	le.PutUint64(area[464:], components) // what of it the kernel has turned on, in bytes that software may use
	le.PutUint64(area[512:], le.Uint64(area[512:])&components)
	return area
}
