package lastwords

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// arches have all sizes and orders of words.
var arches = []*arch.Arch{amd64.Arch, s390x.Arch, arm.Arch}

// base is where the memory of a fuzz test begins.
const base = 0x10000

// abortMemory is memory with a variable, and behind it the message that the variable points to, in
// the form of struct abort_msg_s.
func abortMemory(a *arch.Arch, size uint32, text string) []byte {
	data := make([]byte, leastPage, 2*leastPage)
	a.PutWord(data, base+leastPage)
	data = a.Order.(binary.AppendByteOrder).AppendUint32(data, size)
	return append(data, text...)
}

// The message of abort is read on all processors, and no other memory is taken for one.
func TestAbortMessage(t *testing.T) {
	for _, a := range arches {
		for _, tt := range []struct {
			size       uint32
			text, want string
		}{
			{leastPage, "free(): invalid pointer\n\x00", "free(): invalid pointer"},
			{leastPage, "free(): invalid pointer", ""}, // it has no end
			{leastPage - 1, "free(): invalid pointer\n\x00", ""},
			{0, "free(): invalid pointer\n\x00", ""},
			{1 << 30, "free(): invalid pointer\n\x00", ""},
			{leastPage, "\n\x00", ""},
			{leastPage, "\x00", ""},
			{4 * leastPage, strings.Repeat("x", 3*leastPage) + "\x00", strings.Repeat("x", maxText) + "…"},
		} {
			m := newMemory(memtest.Flat{Lo: base, Data: abortMemory(a, tt.size, tt.text)}, a)
			if got, ok := m.abortMessage(base); ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("%s: %d, %.40q: %.40q, %v", a.Name, tt.size, tt.text, got, ok)
			}
		}
	}
}

func FuzzVariables(f *testing.F) {
	for i, a := range arches {
		f.Add(uint8(i), abortMemory(a, leastPage, "free(): invalid pointer\n\x00"))
		f.Add(uint8(i), abortMemory(a, leastPage, ""))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		bounds.Hold(t, 64<<10, func() {
			m := newMemory(memtest.Flat{Lo: base, Data: data}, arches[int(which)%len(arches)])
			for _, v := range known {
				if text, ok := v.read(m, base); ok && (text == "" || len(text) > maxText+len("…")) {
					t.Errorf("%s: %d bytes", v.name, len(text))
				}
			}
		})
	})
}
