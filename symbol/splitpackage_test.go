package symbol

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// An index of units without an empty slot is not looked through for each unit that it does not have.
func TestFullPackageIndex(t *testing.T) {
	const slots = 1 << 18
	p := &splitPackage{order: binary.LittleEndian, slots: slots, units: 1, index: make([]byte, 12*slots)}
	for i := range slots {
		binary.LittleEndian.PutUint64(p.index[8*i:], 1<<63)
		binary.LittleEndian.PutUint32(p.index[8*slots+4*i:], 1)
	}
	p.left.Store(slotLooks * slots)
	bounds.Hold(t, 0, func() {
		for id := range uint64(20000) {
			if p.find(id<<32|id) != nil {
				t.Fatal(id)
			}
		}
	})
}
