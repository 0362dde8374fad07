package linkmap_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// The link map of a process with a library that dlopen has loaded must agree with the kernel's
// mappings, in position-independent programs and others.
func TestAgainstKernel(t *testing.T) {
	plugin := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	for _, tt := range []struct {
		name    string
		process func() *gdbtest.Process
		least   int
	}{
		{"pie", func() *gdbtest.Process {
			return gdbtest.Start(t, gdbtest.Build(t, "dlopen.c", append([]string{"-pie"}, gdbtest.Plain...)...), plugin)
		}, 5},
		{"no-pie", func() *gdbtest.Process {
			return gdbtest.Start(t, gdbtest.Build(t, "dlopen.c", append([]string{"-no-pie"}, gdbtest.Plain...)...), plugin)
		}, 5},
		{"static", func() *gdbtest.Process {
			return gdbtest.Start(t, gdbtest.Build(t, "chain.c", append([]string{"-static"}, gdbtest.Plain...)...))
		}, 2},
		{"static-pie", func() *gdbtest.Process {
			return gdbtest.Start(t, gdbtest.Build(t, "chain.c", append([]string{"-static-pie", "-fPIE"}, gdbtest.Plain...)...))
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.process()
			tg, err := live.Attach(context.Background(), p.PID, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.PID))
			if err != nil {
				t.Fatal(err)
			}
			auxv := linkmap.ParseAuxv(data, amd64.Arch)
			list, err := linkmap.Read(tg.Memory(), amd64.Arch, auxv, nil)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, list, tg, tt.least)

			// If memory lacks the program's headers, its file has them.
			exe, file, err := elf.OpenFile(tg.Exe)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			at := auxv[linkmap.ATPhdr]
			hidden := hole{tg.Memory(), at, at + 56*auxv[linkmap.ATPhnum]}
			if _, err := linkmap.Read(hidden, amd64.Arch, auxv, nil); err == nil {
				t.Error("no error where the program's headers cannot be read")
			}
			if list, err = linkmap.Read(hidden, amd64.Arch, auxv, exe); err != nil {
				t.Fatal(err)
			}
			compare(t, list, tg, tt.least)
		})
	}
}

// compare compares the list with the modules of the kernel's list.
func compare(t *testing.T, list []linkmap.Object, tg *live.Target, least int) {
	t.Helper()
	if len(list) < least || !list[0].Program {
		t.Fatalf("%d objects, want %d or more, the program first: %+v", len(list), least, list)
	}
	left := map[uint64]string{}
	for _, m := range tg.Modules().All() {
		_, bias, err := m.Image()
		if err != nil {
			t.Fatal(err)
		}
		left[bias] = m.Path
		if m.Path == "[vdso]" {
			left[bias] = "[vdso]"
		}
	}
	for _, o := range list {
		path, ok := left[o.Bias]
		if !ok {
			t.Errorf("%q: bias %#x is nobody's", o.Path, o.Bias)
		}
		delete(left, o.Bias)
		if same(o.Path, path) {
			continue
		}
		t.Errorf("bias %#x: %q, the kernel has %q", o.Bias, o.Path, path)
	}
	for bias, path := range left {
		t.Errorf("%s at %#x is not in the list", path, bias)
	}
}

// same compares files, because one path may go through symbolic links.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// hole is memory with a part that cannot be read.
type hole struct {
	target.Memory
	lo, hi uint64
}

func (h hole) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < h.hi && addr+uint64(len(p)) > h.lo {
		return 0, target.ErrUnmapped
	}
	return h.Memory.ReadMemory(addr, p)
}

// words is memory that consists of some words.
type words map[uint64]uint64

func (m words) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		v, ok := m[addr+uint64(n)]
		if !ok {
			return n, target.ErrUnmapped
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		n += copy(p[n:], b[:])
	}
	return n, nil
}

// A link map that leads back into itself ends with an error.
func TestCycle(t *testing.T) {
	const phdr, dynamic, debug, link = 0x400040, 0x401000, 0x402000, 0x403000
	mem := words{
		phdr: 6 | 4<<32, phdr + 8: 0x40, phdr + 16: phdr, phdr + 24: phdr, phdr + 32: 112, phdr + 40: 112, phdr + 48: 8,
		phdr + 56: 2 | 4<<32, phdr + 64: 0x1000, phdr + 72: dynamic, phdr + 80: dynamic, phdr + 88: 32, phdr + 96: 32, phdr + 104: 8,
		dynamic: 21, dynamic + 8: debug, dynamic + 16: 0, dynamic + 24: 0,
		debug: 1, debug + 8: link,
		link: 0x7000_0000, link + 8: link + 64, link + 16: 0, link + 24: link, link + 64: 'x',
	}
	auxv := linkmap.Auxv{linkmap.ATPhdr: phdr, linkmap.ATPhent: 56, linkmap.ATPhnum: 2}
	list, err := linkmap.Read(mem, amd64.Arch, auxv, nil)
	if err == nil || !strings.Contains(err.Error(), "comes back to it") || len(list) != 2 {
		t.Errorf("%d objects, error %v", len(list), err)
	}
	// So does an endless one.
	for at := uint64(link); at < link+20000*32; at += 32 {
		mem[at], mem[at+8], mem[at+16], mem[at+24] = 0x7000_0000+at, 0, 0, at+32
	}
	list, err = linkmap.Read(mem, amd64.Arch, auxv, nil)
	if err == nil || !strings.Contains(err.Error(), "more than 16384 objects") {
		t.Errorf("%d objects, error %v", len(list), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0})
	var seed []byte
	for _, v := range []uint64{
		linkmap.ATPhdr, 88, linkmap.ATPhent, 56, linkmap.ATPhnum, 2, 0, 0, 0, 0, 0, // auxv, then headers at 88
		2 | 4<<32, 200, 200, 200, 32, 32, 8,
		6 | 4<<32, 88, 88, 88, 112, 112, 8,
		21, 240, 0, 0, // dynamic section at 200
		2, 272, 0, 0, 0, 240, 0, 0, 300, 0, 272,
	} {
		seed = binary.LittleEndian.AppendUint64(seed, v)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+1024*len(data), func() {
			auxv := linkmap.ParseAuxv(data, amd64.Arch)
			list, err := linkmap.Read(memtest.Flat{Data: data}, amd64.Arch, auxv, nil)
			if err != nil && len(list) > 1<<15 {
				t.Errorf("%d objects", len(list))
			}
		})
	})
}
