package perfmap

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// written returns a file, and its map.
func written(t *testing.T, text string) (*os.File, *Map) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "map"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f, NewMap(f)
}

// A map says at each moment what reading all of it says, while its process writes on.
func TestMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f, m := written(t, "")
	text := ""
	for i := range 200 {
		more := ""
		for j := range r.IntN(12) {
			switch r.IntN(10) {
			case 0:
				more += "no line of a map\n"
			case 1:
				more += fmt.Sprintf("0x%x 0x%x %s%d\r\n", r.IntN(4000), r.IntN(900), strings.Repeat("y", r.IntN(3*maxName)), i)
			default:
				more += fmt.Sprintf("%x %x name %d.%d\n", r.IntN(4000), r.IntN(90), i, j)
			}
		}
		if i%3 == 0 {
			more += "0 5000 its end is not"
		} else if i%3 == 1 {
			more = " written yet\n" + more
		}
		if _, err := f.WriteString(more); err != nil {
			t.Fatal(err)
		}
		text += more
		addr := uint64(r.IntN(4500))
		want := plainly(text, []uint64{addr})[addr]
		if lo, name, ok := m.Find(addr); ok != (want != "") || name != want || ok && lo > addr {
			t.Fatalf("%d: %#x: %q, %v; want %q", i, addr, name, ok, want)
		}
	}
	if m.Err() != nil || len(m.parts) < 2 {
		t.Errorf("%v, %d parts", m.Err(), len(m.parts))
	}
}

// A map that its process writes anew is read anew, also if it is longer than before.
func TestMapWrittenAnew(t *testing.T) {
	f, m := written(t, "10 10 first\n20 10 second\n")
	for i, want := range []string{"10 10 a\n", "20 10 other\n10 10 longer than before, and elsewhere\n"} {
		if _, name, _ := m.Find(0x18); name == "" {
			t.Fatalf("%d: no name", i)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(want), 0); err != nil {
			t.Fatal(err)
		}
		if _, name, _ := m.Find(0x18); name != plainly(want, []uint64{0x18})[0x18] {
			t.Errorf("%d: %q of %q", i, name, want)
		}
	}
}

// A map of holes, or of more than any program has, is read as far as the bounds go.
func TestMapBounds(t *testing.T) {
	f, m := written(t, "10 10 before\n")
	if err := f.Truncate(1 << 40); err != nil {
		t.Fatal(err)
	}
	bounds.Hold(t, 8<<20, func() {
		if _, name, _ := m.Find(0x18); name != "before" {
			t.Errorf("%q", name)
		}
		if _, _, ok := m.Find(0x28); ok || !errors.Is(m.Err(), elffile.ErrHole) {
			t.Error(m.Err())
		}
	})
	_, m = written(t, "10 10 before\n"+strings.Repeat("1000 8 a\n", maxLines+1))
	bounds.Hold(t, 256<<20, func() {
		if _, name, _ := m.Find(0x18); name != "before" || m.Err() == nil {
			t.Errorf("%q, %v", name, m.Err())
		}
	})
}

// FuzzMap reads any bytes as a map that grows: what it finds is what the whole says.
func FuzzMap(f *testing.F) {
	f.Add([]byte("10 10 a\n18 2 b\n0x19 0x1 c d\r\n"), uint16(9))
	f.Add([]byte("1 ffffffffffffffff x\nffffffffffffffff 1 y\n\n \n1 0 z\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		begin := data[:min(int(cut), len(data))]
		file := &growing{data: begin}
		m := NewMap(file)
		bounds.Hold(t, 2<<20+64*len(data), func() {
			for _, addr := range []uint64{0, 1, 0x18, 0x19, 1 << 63, ^uint64(0)} {
				file.data = begin
				m.Find(addr)
				file.data = data
				_, name, ok := m.Find(addr)
				if want := plainly(string(data), []uint64{addr})[addr]; m.Err() == nil && name != want {
					t.Fatalf("%#x: %q, %v; want %q", addr, name, ok, want)
				}
			}
		})
	})
}

// growing is a file in memory.
type growing struct{ data []byte }

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(g.data).ReadAt(p, at)
}
func (*growing) Close() error                 { return nil }
func (g *growing) Stat() (fs.FileInfo, error) { return size(len(g.data)), nil }

// size is the record of a file of so many bytes.
type size int64

func (s size) Size() int64      { return int64(s) }
func (size) Name() string       { return "map" }
func (size) Mode() fs.FileMode  { return 0 }
func (size) ModTime() time.Time { return time.Time{} }
func (size) IsDir() bool        { return false }
func (size) Sys() any           { return nil }
