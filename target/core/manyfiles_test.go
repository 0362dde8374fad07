package core

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
)

// manyFiles makes an NT_FILE of n mappings. Mapping i has the name that name returns for i.
func manyFiles(n int, name func(i int) string) []byte {
	order := binary.LittleEndian
	data := order.AppendUint64(order.AppendUint64(nil, uint64(n)), 4096)
	for i := range n {
		lo := uint64(i+1) << 13
		data = order.AppendUint64(order.AppendUint64(order.AppendUint64(data, lo), lo+4096), 0)
	}
	for i := range n {
		data = append(append(data, name(i)...), 0)
	}
	return data
}

// A small compressed core can list a million mapped files. Such a list is refused. A list of as
// many files as the kernel allows is believed, and so is one of few files that are mapped often.
func TestManyFiles(t *testing.T) {
	each := func(i int) string { return fmt.Sprintf("/%x", i) }
	same := func(i int) string { return each(i % 100) }
	long := func(i int) string { return fmt.Sprintf("/%04x/%01000d", i, 0) }
	for _, test := range []struct {
		n, want int
		name    func(int) string
	}{{65530, 65530, each}, {200000, 200000, same}, {1000000, maxFiles, same}, {1000000, maxPaths, each}, {20000, 16 << 20 / 1006, long}} {
		data := manyFiles(test.n, test.name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, err := parseFiles(data, amd64.Arch)
		runtime.ReadMemStats(&after)
		if len(list) != test.want || (err == nil) != (test.want == test.n) {
			t.Errorf("%d of %d mappings, %v", len(list), test.n, err)
		}
		for i, m := range list {
			if m.Path != test.name(i) || m.Lo != uint64(i+1)<<13 {
				t.Fatalf("mapping %d: %+v", i, m)
			}
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%d mappings: %d MB", test.n, took>>20)
		}
	}
}
