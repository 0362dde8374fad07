package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

func TestMemory(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	mem := tg.Memory()
	var word [8]byte
	if _, err := mem.ReadMemory(addr, word[:]); err != nil || hostArch.Order.Uint64(word[:]) != 0x1122334455667788 {
		t.Errorf("word at %#x = %x, %v", addr, word, err)
	}
	// The kernel's own file has the same bytes at every readable address.
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	read := 0
	for _, m := range maps {
		if !m.Read || strings.HasPrefix(m.Path, "[v") && m.Path != "[vdso]" || m.Path == "[stack]" {
			continue
		}
		want := make([]byte, m.Hi-m.Lo)
		if n, err := direct.ReadAt(want, int64(m.Lo)); n != len(want) {
			t.Logf("%+v: %v", m, err)
			continue
		}
		got := make([]byte, len(want))
		if n, err := mem.ReadMemory(m.Lo, got); n != len(got) || err != nil || !bytes.Equal(got, want) {
			t.Errorf("%#x-%#x %s: %d bytes, %v", m.Lo, m.Hi, m.Path, n, err)
		}
		var wg sync.WaitGroup
		for start := range 3 { // small pieces, by several readers
			wg.Go(func() {
				var b [5]byte
				for at := 0; at+8 < len(want); at += 997 {
					if n, err := mem.ReadMemory(m.Lo+uint64(at+start), b[:]); n != 5 || err != nil || !bytes.Equal(b[:], want[at+start:at+start+5]) {
						t.Errorf("%#x: % x, %v", m.Lo+uint64(at+start), b, err)
						return
					}
				}
			})
		}
		wg.Wait()
		read += len(want)
	}
	if read < 1<<20 {
		t.Errorf("only %d bytes were compared", read)
	}

	for _, at := range []uint64{0, 8, 1 << 47, 1 << 63, ^uint64(0) - 3} {
		if n, err := mem.ReadMemory(at, word[:]); n != 0 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("%d bytes at %#x, %v", n, at, err)
		}
	}
	// A read that runs into a gap gives the bytes before it.
	end := maps[len(maps)-1].Hi
	for _, m := range maps {
		if m.Path == "[stack]" {
			end = m.Hi
		}
	}
	for _, size := range []int{16, 100 << 10} {
		b := make([]byte, size)
		if n, err := mem.ReadMemory(end-10, b); n != 10 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("%d bytes at the end of the stack: %d, %v", size, n, err)
		}
	}
}

// Copies leave out the unmapped memory, and nothing else, however many there are.
func TestCopyMemory(t *testing.T) {
	p := start(t, "idle.c")
	tg := attach(t, p.PID)
	f := tg.files.(*files)
	text, err := f.proc.readFile("maps")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	there := func(addr uint64) bool {
		i, holds := procmaps.Find(maps, addr)
		return holds && maps[i].Read && !strings.HasPrefix(maps[i].Path, "[vv")
	}
	var parts []span
	for i, m := range maps {
		// These are around every end of a mapping, and many small pieces of one mapping.
		if m.Read && m.Hi-m.Lo > 1<<18 && len(parts) < 3000 {
			for at := m.Lo; at < m.Hi-0x1000; at += 512 {
				parts = append(parts, span{at, at + 24})
			}
		}
		if m.Hi>>47 == 0 && (i+1 == len(maps) || maps[i+1].Lo > m.Hi+0x4000) {
			parts = append(parts, span{m.Hi - 0x808, m.Hi + 0x2404})
		}
	}
	if len(parts) < 3000 {
		t.Fatalf("only %d parts", len(parts))
	}
	for _, way := range []string{"process_vm_readv", "mem"} {
		pid := p.PID
		if way == "mem" {
			pid = 1 << 30 // no such process: refused
		}
		blocks, _ := f.copyMemory(pid, slices.Clone(parts))
		var m memory
		m.add(blocks...)
		for _, s := range parts {
			for at := s.lo; at < s.hi; at++ {
				got := copied(&m, at)
				if (got != nil) != there(at) {
					t.Fatalf("%s: %#x of %#x-%#x is copied: %v, is mapped: %v", way, at, s.lo, s.hi, got != nil, there(at))
				}
				var b [1]byte
				if got != nil && at%97 == 0 {
					if _, err := f.mem.ReadAt(b[:], int64(at)); err != nil || b[0] != got[0] {
						t.Fatalf("%s: %#x is %#x, want %#x, %v", way, at, got[0], b[0], err)
					}
				}
			}
		}
	}
}

// Reads by process ID, used if /proc/PID/mem cannot be opened, give the same bytes.
func TestMemoryByID(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	f := tg.files.(*files)
	f.mem.Close()
	f.mem = nil
	var word [8]byte
	if _, err := tg.Memory().ReadMemory(addr, word[:]); err != nil || hostArch.Order.Uint64(word[:]) != 0x1122334455667788 {
		t.Errorf("word at %#x = %x, %v", addr, word, err)
	}
	if _, err := tg.Memory().ReadMemory(8, word[:]); !errors.Is(err, target.ErrUnmapped) || errors.Is(err, ErrExited) {
		t.Errorf("read at 8: %v", err)
	}
	p.Exit(t)
	if _, err := tg.Memory().ReadMemory(addr+1<<16, word[:]); !errors.Is(err, ErrExited) {
		t.Errorf("after the end: %v", err)
	}
}

func BenchmarkReadWord(b *testing.B) {
	p := gdbtest.Start(b, build(b, "idle.c"))
	tg := attach(b, p.PID)
	var r arch.Registers
	if err := threadsOf(b, tg)[0].Registers(&r); err != nil {
		b.Fatal(err)
	}
	for name, addr := range map[string]uint64{"stack": r.Value[hostArch.SP], "code": r.Value[hostArch.PC]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var word [8]byte
			for b.Loop() {
				if _, err := tg.Memory().ReadMemory(addr, word[:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
