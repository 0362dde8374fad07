package dwarf

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// An index of units without an empty slot is not looked through for each unit that it does not
// have.
func TestFullPackageIndex(t *testing.T) {
	const slots = 1 << 16
	order := binary.LittleEndian
	index := order.AppendUint32(nil, 2)
	for _, n := range []uint32{2, 1, slots} { // columns, units, slots
		index = order.AppendUint32(index, n)
	}
	for range slots {
		index = order.AppendUint64(index, 1<<63)
	}
	for range slots {
		index = order.AppendUint32(index, 1)
	}
	for _, n := range []uint32{PackageAbbrev, PackageInfo, 7, 8, 9, 10} { // columns, offsets, sizes
		index = order.AppendUint32(index, n)
	}
	p, err := ReadPackageIndex(index, order)
	if err != nil {
		t.Fatal(err)
	}
	bounds.Hold(t, 0, func() {
		for id := range uint64(20000) {
			if _, ok := p.Find(id<<32 | id); ok {
				t.Fatal(id)
			}
		}
	})
	p, err = ReadPackageIndex(index, order)
	if err != nil {
		t.Fatal(err)
	}
	row, ok := p.Find(1 << 63)
	if from, n, has := p.Part(row, PackageInfo); !ok || row != 0 || !has || from != 8 || n != 10 {
		t.Errorf("row %d, %v: %d bytes at %d, %v", row, ok, n, from, has)
	}
	if _, _, has := p.Part(row, PackageRangeLists); has {
		t.Error("a column that is not there")
	}
}

// FuzzPackageIndex changes an index. The row of a unit, and the unit's parts, are within it.
func FuzzPackageIndex(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"+"abcdefgh"+"\x01\x00\x00\x00"+
		"\x01\x00\x00\x00\x03\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00"), uint64(0x6867666564636261))
	f.Fuzz(func(t *testing.T, index []byte, id uint64) {
		bounds.Hold(t, 4<<10, func() {
			p, err := ReadPackageIndex(index, binary.LittleEndian)
			if err != nil {
				return
			}
			if row, ok := p.Find(id); ok {
				for _, s := range []int{PackageInfo, PackageAbbrev, PackageLocs, PackageStrOffsets, PackageRangeLists} {
					p.Part(row, s)
				}
				if row >= p.units {
					t.Errorf("row %d of %d", row, p.units)
				}
			}
		})
	})
}
