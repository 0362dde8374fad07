package procmaps_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// What a process can change: its heap, its stacks, and the data of its modules; no file that it
// shares.
func TestWritable(t *testing.T) {
	maps, err := procmaps.Parse([]byte(`1000-2000 r-xp 00000000 08:01 5 /bin/x
2000-3000 rw-p 00001000 08:01 5 /bin/x
3000-5000 rw-p 00000000 00:00 0 [heap]
7000-8000 r--p 00000000 00:00 0
8000-9000 rw-p 00000000 00:00 0
9000-a000 ---p 00000000 00:00 0
a000-b000 -w-p 00000000 00:00 0
b000-c000 rw-s 00000000 08:01 6 /var/lib/data
c000-d000 rw-p 00000000 00:00 0 [stack]
`))
	if err != nil {
		t.Fatal(err)
	}
	module := target.NewModule("/bin/x", []target.Mapping{{Lo: 0x1000, Hi: 0x2000, Exec: true}, {Lo: 0x2000, Hi: 0x3000, Offset: 0x1000}}, nil)
	got := procmaps.Writable(maps, target.NewModules([]*target.Module{module}, nil))
	want := []target.Mapping{{Lo: 0x2000, Hi: 0x5000}, {Lo: 0x8000, Hi: 0x9000}, {Lo: 0xc000, Hi: 0xd000}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
