package jit

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch/amd64"
)

// dumpRecord is a record of a jitdump.
func dumpRecord(kind, length uint32, fields ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, length)
	for _, x := range fields {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// dumpHeader is the header of a jitdump of amd64.
var dumpHeader = dumpRecord(0x4a695444, 1, 40|62<<32, 0, 0, 0)

// growing is a jitdump whose process writes one more record each time that somebody asks for its
// size, many times.
type growing struct {
	bytes.Buffer
	asked int
}

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(g.Bytes()).ReadAt(p, at)
}
func (g *growing) Name() string       { return "" }
func (g *growing) Size() int64        { return int64(g.Len()) }
func (g *growing) Mode() fs.FileMode  { return 0 }
func (g *growing) ModTime() time.Time { return time.Time{} }
func (g *growing) IsDir() bool        { return false }
func (g *growing) Sys() any           { return nil }

func (g *growing) Stat() (fs.FileInfo, error) {
	if g.asked++; g.asked < 10000 {
		g.Write(dumpRecord(3, 16, 0)) // JIT_CODE_CLOSE
	}
	return g, nil
}

// What a process writes while its dump is read to the end is left for the next time.
func TestGrowing(t *testing.T) {
	g := &growing{}
	g.Write(dumpHeader)
	d := NewDump("jit-1.dump", amd64.Arch, func() (File, error) { return g, nil })
	for range 3 {
		before := g.asked
		if more, err := d.ReadAll(); !more || err != nil || g.asked-before > 10 {
			t.Errorf("more %v, %v; asked %d times", more, err, g.asked-before)
		}
	}
}

// whole is a jitdump that does not grow.
type whole struct{ growing }

func (w *whole) Stat() (fs.FileInfo, error) { return w, nil }

// All dumps together have a bound on the code that is open: many pieces may have the same unwind
// table.
func TestDumpedTogether(t *testing.T) {
	w := &whole{}
	w.Write(dumpHeader)
	const table = 1 << 20
	w.Write(append(dumpRecord(4, 16+24+table, 0, table, 8, table), make([]byte, table)...))
	w.Write(append(dumpRecord(0, 16+40+2+16, 0, 1|1<<32, 0x1000, 0x1000, 16, 1), "f\x00xxxxxxxxxxxxxxxx"...))
	const moves = 60
	for i := range uint64(moves) {
		w.Write(dumpRecord(1, 16+48, 0, 1|1<<32, 0x1000, 0x1000, 0x100000+i*0x1000, 16, 1))
	}
	before := dumped.Load()
	opened, refused := 0, 0
	var kept []any
	for range 3 {
		d := NewDump("jit-1.dump", amd64.Arch, func() (File, error) { return w, nil })
		if _, err := d.ReadAll(); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(moves) {
			m := At([]*Dump{d}, 0x100000+i*0x1000, Latest)
			if m == nil {
				t.Fatalf("no code %d", i)
			}
			im, _, err := m.Image()
			switch {
			case err == nil:
				opened++
				kept = append(kept, im)
			case strings.Contains(err.Error(), "too large"):
				refused++
			default:
				t.Fatal(err)
			}
		}
	}
	if n := dumped.Load() - before; opened == 0 || refused == 0 || n > maxDumped || n < maxDumped/2 {
		t.Errorf("%d are open, %d refused; %d bytes", opened, refused, n)
	}
	clear(kept)
}
