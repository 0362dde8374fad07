//go:build linux

package elf

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// buildVDSO makes testdata/vdso.c for a processor, and returns the file as the kernel maps it, in
// whole pages, with the number of bytes in its segment's pages.
func buildVDSO(t *testing.T, cc string) (path string, data []byte, segment uint64) {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	path = gdbtest.Compile(t, filepath.Join(dir, "vdso.c"), gdbtest.Tool(t, cc), "-shared", "-nostdlib", "-O2", "-fPIC",
		"-Wl,--no-eh-frame-hdr,--build-id=none,--hash-style=both,-T,"+filepath.Join(dir, "vdso.lds"))
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	file := openFile(t, path)
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			segment = (p.Filesz + 0xfff) &^ 0xfff
		}
	}
	data = append(data, make([]byte, -len(data)&0xfff)...)
	if segment == 0 || file.Order.Uint64(data[40:])+64*uint64(file.Order.Uint16(data[60:])) <= segment {
		t.Fatalf("%s: the section headers do not lie behind the segment, %#x bytes", path, segment)
	}
	return path, data, segment
}

var compilers = []string{"gcc", "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc"}

// The kernel maps its vDSO whole. The section headers may lie behind the pages of the vDSO's only
// segment; they are used if they are its own.
func TestSectionsBehindSegments(t *testing.T) {
	const base = 0x7f12_3456_7000
	for _, cc := range compilers {
		t.Run(cc, func(t *testing.T) {
			path, data, segment := buildVDSO(t, cc)
			eh := filepath.Join(t.TempDir(), "eh_frame")
			output(t, "objcopy", "-I", "elf64-"+map[bool]string{true: "big", false: "little"}[cc[0] == 's'],
				"-O", "binary", "-j", ".eh_frame", path, eh)
			want, err := os.ReadFile(eh)
			if err != nil || len(want) == 0 {
				t.Fatalf("%d bytes, %v", len(want), err)
			}
			at := regexp.MustCompile(`\.eh_frame +PROGBITS +([0-9a-f]+)`).FindStringSubmatch(output(t, "readelf", "-SW", path))
			for _, c := range []struct {
				name   string
				limit  uint64
				change func([]byte)
				found  bool
			}{
				{"mapped", uint64(len(data)), func([]byte) {}, true},
				{"the mapping's end is not known", 1 << 40, func([]byte) {}, true},
				{"the segment alone", segment, func([]byte) {}, false},
				{"another file's sections", uint64(len(data)), func(data []byte) {
					// The third section's address, as if it lay elsewhere.
					order := openFile(t, path).Order
					h := data[order.Uint64(data[40:])+2*64:]
					order.PutUint64(h[16:], order.Uint64(h[16:])+8)
				}, false},
				{"zeros", uint64(len(data)), func(data []byte) { clear(data[segment:]) }, false},
			} {
				memory := bytes.Clone(data)
				c.change(memory)
				im, err := OpenMapped(memtest.Flat{Lo: base, Data: memory}, base, c.limit)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				got, addr, err := im.Section(".eh_frame")
				if (err == nil) != c.found || c.found && (!bytes.Equal(got, want) || fmt.Sprintf("%016x", addr) != at[1]) {
					t.Errorf("%s: .eh_frame at %#x: % x, %v; want % x at %s", c.name, addr, got, err, want, at[1])
				}
				if n := im.Symbols().Len(); n < 2 {
					t.Errorf("%s: %d functions", c.name, n)
				}
			}
		})
	}
}
