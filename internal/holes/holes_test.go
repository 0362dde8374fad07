package holes

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A reader finds the bytes that were written, in pieces of any size; the file has holes for zeros.
func TestWriter(t *testing.T) {
	data := make([]byte, 64<<10)
	for _, at := range []int{0, 4095, 4096, 20000, 20001, 40960, 61439} {
		data[at] = 1
	}
	for _, size := range []int{1, 7, 4096, 5000, len(data)} {
		f, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		touched := &touched{File: f}
		w := NewWriter(touched)
		for p := data; len(p) > 0; {
			part := p[:min(size, len(p))]
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatalf("%d of %d bytes, %v", n, len(part), err)
			}
			p = p[len(part):]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, data) {
			t.Errorf("in pieces of %d: %d bytes, %v", size, len(got), err)
		}
		if touched.bytes > 5*block { // of sixteen blocks
			t.Errorf("in pieces of %d: %d bytes are written", size, touched.bytes)
		}
		f.Close()
	}
}

// touched counts the bytes that are written.
type touched struct {
	*os.File
	bytes int
}

func (f *touched) WriteAt(p []byte, at int64) (int, error) {
	f.bytes += len(p)
	return f.File.WriteAt(p, at)
}
