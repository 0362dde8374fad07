package control_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// set is a set NT_X86_XSTATE of a size whose components the kernel saves.
func set(xcr0 uint64, size int) []byte {
	b := make([]byte, size)
	binary.LittleEndian.PutUint64(b[464:], xcr0)
	return b
}

// Expected are the layouts that gdb 14 guesses from XCR0 and the size (i387_guess_xsave_layout of
// gdb/i387-tdep.c), and the Intel SDM's (volume 1, 13.5).
func TestDeduced(t *testing.T) {
	const none = -1
	for _, test := range []struct {
		name                        string
		xcr0                        uint64
		size                        int
		masks, upper, vector16, avx int
	}{
		{"Intel with MPX and protection keys", 0x2ff, 2696, 1088, 1152, 1664, 576},
		{"Intel with protection keys", 0x2e7, 2696, 1088, 1152, 1664, 576},
		{"Intel", 0xe7, 2688, 1088, 1152, 1664, 576},
		{"Intel with AMX", 0x602e7, 11008, 1088, 1152, 1664, 576},
		{"AMD with protection keys", 0x2e7, 2440, 832, 896, 1408, 576},
		{"AMD", 0xe7, 2432, 832, 896, 1408, 576},
		{"without AVX-512", 7, 832, none, none, none, 576},
		{"AMD without AVX-512", 0x207, 2440, none, none, none, 576},
		{"cut off", 0xe7, 2680, none, none, none, 576},
		{"with what nobody knows", 0x8000e7, 2688, none, none, none, 576},
	} {
		for _, p := range []struct {
			control.Part
			want int
		}{
			{control.Part{State: control.StateMasks, Off: 56, Size: 8}, test.masks + 56},
			{control.Part{State: control.StateUpper, Off: 480, Size: 32}, test.upper + 480},
			{control.Part{State: control.State16, Off: 960, Size: 64}, test.vector16 + 960},
			{control.Part{Off: 576, Size: 16}, test.avx},
			{control.Part{State: control.StateMasks, Off: 60, Size: 8}, none},
		} {
			off, ok := p.At(set(test.xcr0, test.size), nil)
			if missing := p.want < p.Off; ok == missing || ok && off != p.want {
				t.Errorf("%s: %+v is at %d, %v, want %d", test.name, p.Part, off, ok, p.want)
			}
		}
	}
}

// What the machine tells counts, if it lies within the set.
func TestLayout(t *testing.T) {
	records := func(of ...uint32) (b []byte) {
		for _, v := range of {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	p := control.Part{State: control.State16, Off: 64, Size: 64}
	for _, test := range []struct {
		name   string
		xcr0   uint64
		layout []byte
		want   int
	}{
		{"told", 0xe7, records(2, 256, 576, 0, 7, 1024, 640, 0), 704},
		{"not among them", 0xe7, records(2, 256, 576, 0), 0},
		{"not in use", 0x67, records(7, 1024, 640, 0), 0},
		{"beyond the end", 0xe7, records(7, 1024, 1700, 0), 0},
		{"far beyond", 0xe7, records(7, 1<<32-1, 1<<32-1, 0), 0},
		{"in the header", 0xe7, records(7, 1024, 512, 0), 0},
		{"smaller", 0xe7, records(7, 100, 640, 0), 0},
		{"cut off", 0xe7, records(7, 1024, 640), 0},
	} {
		if off, ok := p.At(set(test.xcr0, 2432), test.layout); ok != (test.want != 0) || off != test.want {
			t.Errorf("%s: at %d, %v, want %d", test.name, off, ok, test.want)
		}
	}
}

// FuzzAt looks for parts in sets of any size, with any components, by any layout.
func FuzzAt(f *testing.F) {
	f.Add(uint8(7), uint16(64), uint64(0xe7), uint16(2432), []byte(nil))
	f.Add(uint8(6), uint16(0), uint64(0x2e7), uint16(2696), []byte("\x06\x00\x00\x00\x00\x02\x00\x00\x80\x04\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, state uint8, at uint16, xcr0 uint64, size uint16, layout []byte) {
		bounds.Hold(t, 128<<10, func() {
			data := make([]byte, size)
			if size >= 472 {
				data = set(xcr0, int(size))
			}
			p := control.Part{State: int(state), Off: int(at), Size: 32}
			if off, ok := p.At(data, layout); ok && (off < 0 || off+p.Size > len(data)) {
				t.Errorf("at %d of %d bytes", off, len(data))
			}
		})
	})
}
