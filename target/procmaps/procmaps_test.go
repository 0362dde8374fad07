package procmaps

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// mapsText has lines of real processes. The names of the last files were invented.
const mapsText = `5609c7f3d000-5609c7f3f000 r--p 00000000 fe:00 247026                     /usr/bin/cat
5609c7f3f000-5609c7f44000 r-xp 00002000 fe:00 247026                     /usr/bin/cat
5609f8d5a000-5609f8d7b000 rw-p 00000000 00:00 0                          [heap]
7f1c50000000-7f1c50021000 rw-p 00000000 00:00 0 
7f1c58000000-7f1c58001000 ---p 00000000 00:00 0
7f1c5c000000-7f1c5c001000 rwxs 00000000 00:01 2061                       /memfd:jit code (deleted)
7f1c60000000-7f1c60001000 r-xp 001ff000 103:05 18446744073709551615       /tmp/two  blanks` + "\u00a0" + `.so (deleted)
7f1c60001000-7f1c60002000 r--p fffffffffffff000 00:2c 5                  /a\012b
7ffd5a3a8000-7ffd5a3c9000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestParse(t *testing.T) {
	want := []Mapping{
		{Lo: 0x5609c7f3d000, Hi: 0x5609c7f3f000, Read: true, Major: 0xfe, Inode: 247026, Path: "/usr/bin/cat"},
		{Lo: 0x5609c7f3f000, Hi: 0x5609c7f44000, Offset: 0x2000, Read: true, Exec: true, Major: 0xfe, Inode: 247026, Path: "/usr/bin/cat"},
		{Lo: 0x5609f8d5a000, Hi: 0x5609f8d7b000, Read: true, Write: true, Path: "[heap]"},
		{Lo: 0x7f1c50000000, Hi: 0x7f1c50021000, Read: true, Write: true},
		{Lo: 0x7f1c58000000, Hi: 0x7f1c58001000},
		{Lo: 0x7f1c5c000000, Hi: 0x7f1c5c001000, Read: true, Write: true, Exec: true, Minor: 1, Inode: 2061, Path: "/memfd:jit code", Deleted: true},
		{Lo: 0x7f1c60000000, Hi: 0x7f1c60001000, Offset: 0x1ff000, Read: true, Exec: true, Major: 0x103, Minor: 5, Inode: 1<<64 - 1, Path: "/tmp/two  blanks\u00a0.so", Deleted: true},
		{Lo: 0x7f1c60001000, Hi: 0x7f1c60002000, Offset: 0xfffffffffffff000, Read: true, Minor: 0x2c, Inode: 5, Path: "/a\nb"},
		{Lo: 0x7ffd5a3a8000, Hi: 0x7ffd5a3c9000, Read: true, Write: true, Path: "[stack]"},
		{Lo: 0xffffffffff600000, Hi: 0xffffffffff601000, Exec: true, Path: "[vsyscall]"},
	}
	got, err := Parse([]byte(mapsText))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("line %d: got %+v\nwant %+v", i+1, got[i:min(i+1, len(got))], want[i])
		}
	}
	for _, addr := range []uint64{0, 0x5609c7f3e123, 0x5609c7f44000, 0x7f1c60001000, 0xffffffffff600fff, ^uint64(0)} {
		i, holds := Find(got, addr)
		for j, m := range want {
			if in := addr >= m.Lo && addr < m.Hi; in && (i != j || !holds) || !in && i == j && holds {
				t.Errorf("Find(%#x) = %d, %v", addr, i, holds)
			}
		}
	}
}

func TestParseBroken(t *testing.T) {
	const good = "1000-2000 r-xp 00000000 fe:00 1 /x\n"
	for _, line := range []string{
		"", "1000", "2000-1000 r-xp 0 0:0 0", "1000-1000 r-xp 0 0:0 0", "1000-2000 r-x 0 0:0 0",
		"1000-2000 r-xp 0 00 0", "1000-2000 r-xp 0 0:0 x", "1000-2000 r-xp 0 0:0 1f", "1000-:000 r-xp 0 0:0 0",
		"+1000-2000 r-xp 0 0:0 0", "1000-10000000000000000 r-xp 0 0:0 0", "1800-3000 r-xp 0 0:0 0",
		"3000-4000 r-xp 0 100000000:0 0", "3000-4000 r-xp 0 0:0 18446744073709551616",
	} {
		if got, err := Parse([]byte(good + line + "\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mapsText))
	f.Add([]byte("7f1c60001000-7f1c60002000 r--p fffffffffffff000 00:2c 5                  /a\\012b (deleted)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var maps []Mapping
		var err error
		if bounds.Hold(t, 64<<10+128*len(text), func() { maps, err = Parse(text) }); err != nil {
			return
		}
		if n := bytes.Count(text, []byte("\n")); len(maps) != n && len(maps) != n+1 {
			t.Fatalf("%d mappings of %d lines", len(maps), n)
		}
		last := uint64(0)
		for _, m := range maps {
			if m.Lo < last || m.Hi <= m.Lo {
				t.Fatalf("mapping %#x-%#x after %#x", m.Lo, m.Hi, last)
			}
			last = m.Hi
			if i, holds := Find(maps, m.Hi-1); !holds || maps[i].Hi != m.Hi {
				t.Fatalf("%#x is not found", m.Hi-1)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := range 1000 {
		lo := 0x7f0000000000 + uint64(i)*0x10000
		fmt.Fprintf(&text, "%x-%x r-xp %08x fe:00 %d                     /usr/lib/x86_64-linux-gnu/lib%d.so.6\n", lo, lo+0x8000, i%5*0x1000, i/5+1, i/5)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// A core file's list has only files, except for the names in brackets, which are the kernel's.
func TestIsFile(t *testing.T) {
	for path, want := range map[string][2]bool{ // in /proc/PID/maps, in NT_FILE
		"/usr/lib/libc.so.6": {true, true}, "./libc.so.6": {false, true}, "prog": {false, true}, "a[b]/c": {false, true}, "prog [1]": {false, true},
		"": {}, "[heap]": {}, "[vdso]": {}, "anon_inode:[perf_event]": {}, "socket:[4711]": {},
		"/memfd:x": {true, true}, "/odd:[name]": {true, true},
	} {
		for i, listed := range []bool{false, true} {
			if m := (Mapping{Inode: 1, Path: path, Listed: listed}); m.IsFile() != want[i] {
				t.Errorf("%q, listed: %v: a file: %v", path, listed, m.IsFile())
			}
		}
	}
	if m := (Mapping{Path: "/dev/zero"}); m.IsFile() {
		t.Error("a file without an inode")
	}
}
