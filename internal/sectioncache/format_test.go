package sectioncache

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// file is a file in memory.
type file struct{ data []byte }

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if grow := int(off) + len(p) - len(f.data); grow > 0 {
		f.data = append(f.data, make([]byte, grow)...)
	}
	return copy(f.data[off:], p), nil
}

// bytesOf returns n bytes that no block shares with another.
func bytesOf(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func written(t testing.TB, key string, section []byte) []byte {
	f := &file{}
	if err := write(f, key, int64(len(section)), bytes.NewReader(section), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	return f.data
}

// Every part of a section is as it was written, in any order.
func TestReader(t *testing.T) {
	for _, n := range []int{1, blockSize - 1, blockSize, blockSize + 1, 5*blockSize + 100} {
		section := bytesOf(n)
		r, err := newReader(bytes.NewReader(written(t, "key", section)), "key", int64(n))
		if err != nil {
			t.Fatal(err)
		}
		for step, at := 0, 0; step < 500; step++ {
			length := 1 + step*977%(3*blockSize)
			at = (at + step*7919) % n
			p := make([]byte, length)
			got, err := r.ReadAt(p, int64(at))
			want := section[at:min(n, at+length)]
			if !bytes.Equal(p[:got], want) || (err == nil) != (len(want) == length) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes at %d of %d: %d bytes, %v", length, at, n, got, err)
			}
		}
	}
}

// A byte that has changed, wherever it is, makes what it belongs to unreadable, and nothing else.
func TestDamaged(t *testing.T) {
	section := bytesOf(3*blockSize + 5)
	whole := written(t, "key", section)
	head, begin := headSize("key", int64(len(section)))
	for _, at := range []int{0, 7, 8, 11, 12, 16, 19, 22, 27, head - 1, int(begin), int(begin) + blockSize, len(whole) - 1} {
		data := bytes.Clone(whole)
		data[at] ^= 4
		r, err := newReader(bytes.NewReader(data), "key", int64(len(section)))
		if at < head {
			if !errors.Is(err, errDamaged) {
				t.Errorf("byte %d of the head is changed: %v", at, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for block := range blocks(int64(len(section))) {
			n := min(blockSize, len(section)-block*blockSize)
			p := make([]byte, n-n/2)
			_, err := r.ReadAt(p, int64(block*blockSize+n/2))
			if bad := (at-int(begin))/blockSize == block; bad != errors.Is(err, errDamaged) || !bad && !bytes.Equal(p, section[block*blockSize+n/2:][:len(p)]) {
				t.Errorf("byte %d is changed: block %d: %v", at, block, err)
			}
		}
	}
	for _, cut := range []int{0, 10, head - 1} {
		if _, err := newReader(bytes.NewReader(whole[:cut]), "key", int64(len(section))); err == nil {
			t.Errorf("cut off after %d bytes: no error", cut)
		}
	}
	for key, size := range map[string]int64{"kez": int64(len(section)), "key ": int64(len(section)), "key": int64(len(section)) - 1} {
		if _, err := newReader(bytes.NewReader(whole), key, size); err == nil {
			t.Errorf("the file of another section is taken for the file of %q, %d bytes", key, size)
		}
	}
}

// Whatever a file has, its reader gives what was written or an error.
func FuzzReader(f *testing.F) {
	section := bytesOf(2*blockSize + 9)
	whole := written(f, "key", section)
	f.Add([]byte{}, uint16(0), uint32(0), uint16(9))
	f.Add([]byte("sfwinfl\x01"), uint16(3), uint32(blockSize-1), uint16(2))
	f.Add([]byte{1}, uint16(0x1005), uint32(5), uint16(1))
	f.Fuzz(func(t *testing.T, change []byte, at uint16, off uint32, n uint16) {
		data := bytes.Clone(whole)
		copy(data[min(int(at), len(data)):], change)
		same := bytes.Equal(data, whole)
		bounds.Hold(t, 256<<10, func() {
			r, err := newReader(bytes.NewReader(data), "key", int64(len(section)))
			if err != nil {
				if same {
					t.Error(err)
				}
				return
			}
			p := make([]byte, n)
			got, err := r.ReadAt(p, int64(off))
			lo := min(int(off), len(section))
			if !bytes.Equal(p[:got], section[lo:min(lo+got, len(section))]) {
				t.Error("the bytes differ from what was written")
			}
			if same && err != nil && lo+int(n) <= len(section) {
				t.Error(err)
			}
		})
	})
}
