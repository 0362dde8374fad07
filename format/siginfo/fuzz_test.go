package siginfo

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzRead: whatever the bytes are, the answer has a signal's number, and is one short line.
func FuzzRead(f *testing.F) {
	f.Add([]byte{11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3})
	f.Add([]byte{31, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 102, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20, func() {
			for _, a := range []*arch.Arch{amd64.Arch, arm.Arch, s390x.Arch} {
				s, ok := Read(data, a)
				if ok && (s.Number <= 0 || s.Number > Last || len(s.String()) > 100) {
					t.Errorf("%s: %v", a.Name, s)
				}
				if Plausible(data, a) && (!ok || s.CodeName == "") {
					t.Errorf("%s: %v is plausible", a.Name, s)
				}
			}
		})
	})
}
