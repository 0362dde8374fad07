package minidump

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/target"
)

// modulesAt returns a dump of modules of one name, each of which would end at an address. streams
// are added to it.
func modulesAt(bases []uint64, end uint64, streams func(*dumptest.Dump)) []byte {
	d := dumptest.New()
	d.System(9, 0x8201, "")
	name := d.Text("/a")
	list := d.U32(uint32(len(bases)))
	for _, base := range bases {
		list = append(list, dumptest.Join(d.U64(base), d.U32(uint32(end-base), 0, 0, name), make([]byte, 52+8+8+16))...)
	}
	d.Stream(4, list)
	streams(d)
	return d.Bytes(1)
}

func targetOf(t *testing.T, b []byte) *Target {
	t.Helper()
	dump, err := format.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tg, err := New(dump, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// maps adds a list of n mappings of one file, a page each, from a page's number on.
func maps(n int) func(*dumptest.Dump) {
	return func(d *dumptest.Dump) {
		var text []byte
		for i := range n {
			text = fmt.Appendf(text, "%x-%x r-xp %x 0:0 1 /a\n", 0x1000*(i+1), 0x1000*(i+2), 0x1000*i)
		}
		d.Stream(0x47670009, text)
	}
}

// regions adds a system's list of n regions, as maps does.
func regions(n int) func(*dumptest.Dump) {
	return func(d *dumptest.Dump) {
		list := dumptest.Join(d.U32(16, 48), d.U64(uint64(n)))
		for i := range n {
			list = append(list, dumptest.Join(d.U64(uint64(0x1000*(i+1)), 0), d.U32(0x20, 0), d.U64(0x1000), d.U32(0x1000, 0x20, 0x1000000, 0))...)
		}
		d.Stream(16, list)
	}
}

// TestManyModules: many modules that claim the same addresses take no more memory than the dump's
// size allows.
func TestManyModules(t *testing.T) {
	const n, m = 1000, 4000
	one, each := make([]uint64, n), make([]uint64, n)
	for i := range n {
		one[i], each[i] = 0x1000, 0x1000*uint64(i+1)
	}
	for name, dump := range map[string][]byte{
		"mappings": modulesAt(one, 0x1000*(m+1), maps(m)), "mappings, one behind the other": modulesAt(each, 0x1000*(m+1), maps(m)),
		"regions": modulesAt(one, 0x1000*(m+1), regions(m)), "regions, one behind the other": modulesAt(each, 0x1000*(m+1), regions(m)),
	} {
		t.Run(name, func(t *testing.T) {
			bounds.Hold(t, 32*len(dump), func() { targetOf(t, dump) })
		})
	}
}

// TestModulesOfOneFile: libraries may be mapped from within one file (Android's from a package).
// Each has what is mapped from its base on, up to the next.
func TestModulesOfOneFile(t *testing.T) {
	tg := targetOf(t, modulesAt([]uint64{0x5800, 0x2000, 0x2000, 0x9000}, 0xa000, maps(6)))
	type got = []target.Mapping
	var list []got
	for _, m := range tg.Modules().All() {
		list = append(list, m.Mappings)
	}
	want := []got{
		{{Lo: 0x2000, Hi: 0x3000, Offset: 0x1000, Exec: true}, {Lo: 0x3000, Hi: 0x4000, Offset: 0x2000, Exec: true},
			{Lo: 0x4000, Hi: 0x5000, Offset: 0x3000, Exec: true}, {Lo: 0x5000, Hi: 0x5800, Offset: 0x4000, Exec: true}},
		{{Lo: 0x5800, Hi: 0x6000, Offset: 0x4800, Exec: true}, {Lo: 0x6000, Hi: 0x7000, Offset: 0x5000, Exec: true}},
		{{Lo: 0x9000, Hi: 0xa000, Exec: true}}, // of which the kernel's list says nothing
	}
	if !slices.EqualFunc(list, want, slices.Equal) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
	// By the system's list: whole regions, or all of the module's addresses if they do not fit.
	tg = targetOf(t, modulesAt([]uint64{0x2000, 0x5800, 0x4000}, 0x7000, regions(6)))
	list = nil
	for _, m := range tg.Modules().All() {
		list = append(list, m.Mappings)
	}
	want = []got{
		{{Lo: 0x2000, Hi: 0x3000, Exec: true}, {Lo: 0x3000, Hi: 0x4000, Offset: 0x1000, Exec: true}},
		{{Lo: 0x4000, Hi: 0x5800, Exec: true}}, {{Lo: 0x5800, Hi: 0x7000, Exec: true}},
	}
	if !slices.EqualFunc(list, want, slices.Equal) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
}
