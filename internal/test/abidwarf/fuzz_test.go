package abidwarf

import (
	"debug/dwarf"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzFunc reads each entry as a function and as a type. Its corpus is what testdata/README.md
// says.
func FuzzFunc(f *testing.F) {
	f.Fuzz(func(t *testing.T, abbrev, info []byte) {
		const most = 4 << 10
		if len(info) > most || len(abbrev) > most {
			return
		}
		data, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, []byte("complex\x00_Float128\x00"))
		if err != nil {
			return
		}
		bounds.Hold(t, 16<<20, func() {
			r, entries := NewReader(data, abi.X87, 8), data.Reader()
			var unit *dwarf.Entry
			for range 256 {
				e, err := entries.Next()
				if err != nil || e == nil {
					break
				}
				if e.Tag == dwarf.TagCompileUnit {
					unit = e
				}
				if unit == nil {
					continue
				}
				r.Func(e.Offset, unit)
				if r.depth != 0 {
					t.Errorf("depth %d", r.depth)
				}
				r.Type(e.Offset)
			}
		})
	})
}
