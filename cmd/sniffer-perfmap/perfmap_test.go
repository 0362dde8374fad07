package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/perfmap"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// source is the folder of this file.
var source, _ = os.Getwd()

func always() bool { return true }

// scanAll has a format read all of some bytes.
func scanAll(t testing.TB, f format, data []byte) []code {
	t.Helper()
	records, next, err := f.scan(bytes.NewReader(data), 0, int64(len(data)), always)
	if err != nil || next != int64(len(data)) {
		t.Fatalf("read to %d of %d: %v", next, len(data), err)
	}
	return records
}

// testdata returns a file of testdata. The maps and dumps are lines and whole records from the
// output of Node.js 18.20.4 of Debian 12 and of 20.20.2, started by
//
//	node --perf-basic-prof --interpreted-frames-native-stack stack.js
//	node --perf-prof --interpreted-frames-native-stack stack.js
//
// and the dump of 20 with --allow-natives-syntax, for functions of all tiers.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(source, "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Real maps give the same as scanf.
func TestPerfMap(t *testing.T) {
	for _, name := range []string{"perf-node18.map", "perf-node20.map"} {
		data := testdata(t, name)
		records := scanAll(t, &perfMap{}, data)
		lines := bufio.NewScanner(bytes.NewReader(data))
		n := 0
		for ; lines.Scan(); n++ {
			var lo, size uint64
			var first string
			if _, err := fmt.Sscanf(lines.Text(), "%x %x %s", &lo, &size, &first); err != nil {
				t.Fatal(err)
			}
			if n >= len(records) || records[n].lo != lo || records[n].hi != lo+size {
				t.Fatalf("%s: line %d, %q, is %+v", name, n+1, lines.Text(), records[n])
			}
			d, err := (&perfMap{}).describe(bytes.NewReader(data), records[n].at)
			if err != nil || d.lo != lo || d.hi != lo+size || !strings.HasPrefix(d.name, first) || !strings.HasSuffix(lines.Text(), d.name) {
				t.Fatalf("%s: line %d, %q, is described as %+v, %v", name, n+1, lines.Text(), d, err)
			}
		}
		if n != len(records) || n < 50 {
			t.Errorf("%s: %d records of %d lines", name, len(records), n)
		}
	}
}

// Lines of any other form than START SIZE NAME are skipped and counted.
func TestPerfMapMalformed(t *testing.T) {
	for _, line := range []string{
		"", " ", "1000", "1000 10", "1000 10 ", "1000  10 f", "-1000 10 f", "1000 -10 f", "x 10 f", "1000 x f", "1000 0 f",
		"ffffffffffffffff 2 f", "10000000000000000 1 f", "1000 ffffffffffffffff f", "\x00\xff\xfe",
		"1000 10 " + strings.Repeat("long", perfmap.MaxLine), strings.Repeat("long", perfmap.MaxLine),
	} {
		p := &perfMap{}
		records := scanAll(t, p, []byte("2000 8 before\n"+line+"\n0x3000 0x8 behind it\r\n"))
		if len(records) != 2 || records[0].lo != 0x2000 || records[1].lo != 0x3000 || records[1].hi != 0x3008 || p.skipped != 1 {
			t.Errorf("%.40q: %v, %d lines skipped", line, records, p.skipped)
		}
	}
}

// growing is a file that a process writes.
func growing(t *testing.T) (f *os.File, l *listing) {
	t.Helper()
	f, err := os.Create(t.TempDir() + "/perf-1.map")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return f, &listing{path: "/tmp/perf-1.map", file: r, format: func() format { return &perfMap{} }}
}

// A file grows, also in the middle of lines. Later lines replace earlier ones. The file may be
// written anew.
func TestListingGrows(t *testing.T) {
	f, l := growing(t)
	name := func(addr uint64) string {
		t.Helper()
		if err := l.update(time.Minute); err != nil {
			t.Fatal(err)
		}
		c, ok := l.find(addr)
		if !ok {
			return ""
		}
		d, err := l.describe(c)
		if err != nil {
			t.Fatal(err)
		}
		return d.name
	}
	write := func(text string) {
		t.Helper()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	if got := name(0x1004); got != "" {
		t.Errorf("an empty file has %q", got)
	}
	write("1000 10 first\n1010 10 sec")
	if got := name(0x1004) + "," + name(0x1014); got != "first," {
		t.Error(got)
	}
	write("ond\n1004 4 moved\n")
	if got := name(0x1003) + "," + name(0x1004) + "," + name(0x1008) + "," + name(0x1014); got != "first,moved,first,second" {
		t.Error(got)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	write("5000 10 anew\n")
	if got := name(0x1004) + "," + name(0x5000); got != ",anew" {
		t.Error(got)
	}
}

// A long file is read in parts, and no part takes long.
func TestListingInParts(t *testing.T) {
	f, l := growing(t)
	var text bytes.Buffer
	const n = 50_000
	for i := range n {
		fmt.Fprintf(&text, "%x 10 f%d\n", 0x1000+i*16, i)
	}
	if _, err := f.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	parts := 0
	for ; ; parts++ {
		err := l.update(0)
		if err == nil {
			break
		}
		if parts > n {
			t.Fatal("it never ends")
		}
	}
	if parts < 10 || len(l.index) != n {
		t.Errorf("%d parts, %d functions", parts, len(l.index))
	}
}

// At most 256 MiB are read: a sparse file costs its owner nothing.
func TestListingTooLarge(t *testing.T) {
	f, l := growing(t)
	if err := f.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	if err := l.update(time.Minute); err == nil || !strings.Contains(err.Error(), errTooLarge.Error()) {
		t.Errorf("%v", err)
	}
	if _, ok := l.find(0); ok {
		t.Error("and yet it is read")
	}
}

// memoryFile is a file of bytes.
type memoryFile struct{ bytes.Reader }

func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memoryFile) Name() string               { return "" }
func (f *memoryFile) Mode() fs.FileMode          { return 0 }
func (f *memoryFile) ModTime() (t time.Time)     { return }
func (f *memoryFile) IsDir() bool                { return false }
func (f *memoryFile) Sys() any                   { return nil }

func FuzzPerfMap(f *testing.F) {
	for _, name := range []string{"perf-node18.map", "perf-node20.map"} {
		lines := bytes.SplitAfterN(testdata(f, name), []byte("\n"), 5)
		f.Add(bytes.Join(lines[:4], nil))
	}
	f.Add([]byte("1000 10 a\n1008 10 b\nffff"))
	f.Add([]byte("1000 10 LazyCompile:~ /a b.js:7:3\n1010 10 JS:*f file:///a.js:1:2\n1020 10 JS:^ node:internal/x:9\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+512*len(data), func() { checkFormat(t, &perfMap{}, data) })
	})
}

// checkFormat checks that a format gives callers, from hostile bytes, what they rely on.
func checkFormat(t *testing.T, f format, data []byte) {
	r := bytes.NewReader(data)
	records, next, err := f.scan(r, 0, int64(len(data)), always)
	if next < 0 || next > int64(len(data)) || len(records) > len(data)/4 {
		t.Fatalf("%d records of %d bytes, read to %d, %v", len(records), len(data), next, err)
	}
	x := flatten(records)
	for _, c := range x {
		if c.lo >= c.hi {
			t.Fatalf("code [%#x, %#x)", c.lo, c.hi)
		}
		d, err := f.describe(r, c.at)
		if err == nil && (d.lo > c.lo || d.hi < c.hi) {
			t.Fatalf("code [%#x, %#x) is described as [%#x, %#x)", c.lo, c.hi, d.lo, d.hi)
		}
		if s := symbolOf(d.name); d.name != "" && s.Line < 0 {
			t.Fatalf("%q is in line %d", d.name, s.Line)
		}
	}
	if overlaps(x) {
		t.Fatalf("%v overlap", x)
	}
	for at := 0; at < len(data); at += 1 + len(data)/8 { // the file has changed since
		f.describe(r, int64(at))
	}
}

// A map that is a hole is not read to its end, at once or part by part.
func TestPerfMapHole(t *testing.T) {
	data := append([]byte("1000 10 f\n"), make([]byte, 1<<20)...)
	records, next, err := (&perfMap{}).scan(bytes.NewReader(data), 0, int64(len(data)), always)
	if !errors.Is(err, elffile.ErrHole) || len(records) != 1 || next > 256<<10 {
		t.Errorf("%v, read to %d, %v", records, next, err)
	}
	f := &perfMap{}
	next = 0
	for size := int64(100 << 10); size <= int64(len(data)) && err != nil; size += 100 << 10 {
		if _, next, err = f.scan(bytes.NewReader(data), next, size, always); err != nil {
			break
		}
		err = errNotYet
	}
	if !errors.Is(err, elffile.ErrHole) || next > 512<<10 {
		t.Errorf("part by part: read to %d, %v", next, err)
	}
}
