package core

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/target"
)

// Window lends the bytes of the segments, and nothing that the core lacks.
func TestWindow(t *testing.T) {
	cores, err := filepath.Glob("testdata/*.core")
	if err != nil || len(cores) < 3 {
		t.Fatalf("%v, %v", cores, err)
	}
	for _, path := range cores {
		tg, err := Open(path, Options{Sysroot: "/nonexistent"})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lender := tg.Memory().(target.CopiedMemory)
		var wait sync.WaitGroup
		for range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for _, p := range tg.file.progs {
					if p.Type != elf.PT_LOAD || p.Off >= uint64(len(file)) {
						continue
					}
					want := file[p.Off:min(p.Off+p.Filesz, uint64(len(file)))]
					for at := uint64(0); at < uint64(len(want)); {
						lo, data := lender.Window(p.Vaddr + at)
						if p.Vaddr+at-lo >= uint64(len(data)) || lo < p.Vaddr || !bytes.Equal(data, want[lo-p.Vaddr:][:len(data)]) {
							t.Errorf("%s: at %#x: %d bytes at %#x", path, p.Vaddr+at, len(data), lo)
							return
						}
						at = lo - p.Vaddr + uint64(len(data))
					}
				}
				for _, addr := range []uint64{0, 8, ^uint64(0), 0x4141414141414141} {
					if lo, data := lender.Window(addr); len(data) > 0 {
						t.Errorf("%s: at %#x: %d bytes at %#x", path, addr, len(data), lo)
					}
				}
			}()
		}
		wait.Wait()
	}
}
