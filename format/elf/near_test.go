package elf_test

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// counted counts the reads of a file.
type counted struct {
	io.ReaderAt
	n atomic.Int32
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(1)
	return c.ReaderAt.ReadAt(p, off)
}

// Small sections are what debug/elf reads, whoever else reads which file, and sections on one page
// take one read.
func TestNear(t *testing.T) {
	var readers sync.WaitGroup
	for i, name := range []string{"mix-v3", "mix-v2", "mix-v3"} {
		file, err := os.ReadFile(gdbtest.Testdata(t, "bin", name))
		if err != nil {
			t.Fatal(err)
		}
		r := &counted{ReaderAt: bytes.NewReader(file)}
		im, err := elfimage.Open(r, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := elf.NewFile(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		compare := func() {
			for i, s := range im.ELF().Sections {
				if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL {
					continue
				}
				data, err := im.SectionData(s)
				if whole, _ := want.Sections[i].Data(); err != nil || !bytes.Equal(data, whole) {
					t.Errorf("%s: section %s of %d bytes differs: %v", name, s.Name, s.Size, err)
				}
			}
		}
		if i == 0 { // nobody else reads yet
			before, sections := r.n.Load(), int32(len(im.ELF().Sections))
			compare()
			if n := r.n.Load() - before; n > sections/2 {
				t.Errorf("%d reads of %d sections", n, sections)
			}
		}
		for range 2 {
			readers.Go(func() {
				for range 50 {
					compare()
				}
			})
		}
	}
	readers.Wait()
}
