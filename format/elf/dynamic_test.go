//go:build linux

package elf

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// functionsOf returns an image's functions, "address size name".
func functionsOf(im *Image) (list []string) {
	ss := im.Symbols()
	for i := range ss.Len() {
		s := ss.At(i)
		list = append(list, fmt.Sprintf("%x %d %s", s.Addr, s.Size, ss.Name(s)))
	}
	return list
}

// Without section headers, the hash tables tell the number of symbols. On s390x their entries have
// 8 bytes.
func TestHashEntries(t *testing.T) {
	const base = 0x7f12_3456_7000
	for _, cc := range compilers {
		path, data, segment := buildVDSO(t, cc)
		var want []string
		for _, line := range strings.Split(output(t, "readelf", "-W", "--dyn-syms", path), "\n") {
			if f := strings.Fields(line); len(f) == 8 && f[3] == "FUNC" {
				want = append(want, strings.TrimLeft(f[1], "0")+" "+f[2]+" "+f[7])
			}
		}
		order := openFile(t, path).Order
		for _, without := range []elf.DynTag{elf.DT_NULL, elf.DT_HASH, elf.DT_GNU_HASH} {
			memory := bytes.Clone(data)
			dyn, _, err := openFile(t, path).Segment(elf.PT_DYNAMIC)
			if err != nil {
				t.Fatal(err)
			}
			for at := bytes.Index(memory, dyn); elf.DynTag(order.Uint64(memory[at:])) != elf.DT_NULL; at += 16 {
				if elf.DynTag(order.Uint64(memory[at:])) == without {
					order.PutUint64(memory[at:], uint64(elf.DT_DEBUG))
				}
			}
			im, err := OpenMapped(memtest.Flat{Lo: base, Data: memory}, base, segment)
			if err != nil {
				t.Fatal(err)
			}
			got := functionsOf(im)
			if len(want) < 2 || len(got) != len(want) {
				t.Errorf("%s without %v: %q, readelf has %q", cc, without, got, want)
				continue
			}
			for _, w := range want {
				if !strings.Contains(strings.Join(got, "\n")+"\n", w+"\n") {
					t.Errorf("%s without %v: %q, readelf has %q", cc, without, got, want)
				}
			}
		}
	}
}
