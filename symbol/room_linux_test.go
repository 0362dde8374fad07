package symbol

import (
	"fmt"
	"slices"
	"testing"
)

// Where a file's own room is too small for its debug information, nothing is left out without a
// warning.
func TestSmallRoom(t *testing.T) {
	for _, flags := range [][]string{{"-gdwarf-5"}, {"-gdwarf-5", "-gz=zlib"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			file := compile(t, sources(t), "g++", "names.cc", append(flags, "-O2")...)
			addresses := textAddresses(t, file, ".text", 40)
			locate := func(left int64) (all []string, warnings []error) {
				ms, _ := mapped(t, file)
				s := New(Options{})
				defer s.Close()
				x := s.tables(ms.All()[0]).elf.dwarf()
				x.ask(func(d *debugInfo) { d.room.left.Store(left) })
				for _, a := range addresses {
					for _, l := range s.Locate(ms, a+testBias) {
						l.Module = nil
						all = append(all, fmt.Sprintf("%#x %+v", a, l))
					}
				}
				return all, s.Warnings(ms.All()[0])
			}
			want, warnings := locate(16 << 20)
			if len(warnings) > 0 {
				t.Fatal(warnings)
			}
			whole := false
			for left := int64(0); !whole; left += 30 + left/16 {
				got, warnings := locate(left)
				whole = slices.Equal(got, want)
				if !whole && len(warnings) == 0 {
					t.Errorf("room for %d bytes: what is known differs, and no warning says so", left)
				}
			}
		})
	}
}
