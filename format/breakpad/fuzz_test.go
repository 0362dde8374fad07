package breakpad

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzRecord reads a line. What was read is the same when it has been written and read again.
func FuzzRecord(f *testing.F) {
	for _, r := range records {
		f.Add([]byte(r.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		bounds.Hold(t, 4096+64*len(line), func() {
			record, err := ParseRecord(line)
			if err != nil {
				return
			}
			text, err := record.AppendText(nil)
			if err != nil {
				return // an end of line in the middle
			}
			again, err := ParseRecord(text)
			if err != nil || !reflect.DeepEqual(again, record) {
				t.Errorf("%#v is written as %q, read as %#v, %v", record, text, again, err)
			}
		})
	})
}

// FuzzFile indexes a file and looks up what is around each address that a record has.
func FuzzFile(f *testing.F) {
	f.Add([]byte(stackRecords))
	f.Add([]byte("MODULE a b c d\nINFO x\nFILE 0 a.c\nINLINE_ORIGIN 0 in\nFUNC 10 20 0 f\nINLINE 0 3 0 0 14 4 18 2\n10 10 1 0\n20 10 2 0\nFUNC 18 4 0 g\nFUNC 18 4 0 h\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+1000*len(data), func() {
			if c, err := Check(bytes.NewReader(data)); err != nil || c.Lines > len(data) {
				t.Errorf("checked %d lines, %v", c.Lines, err)
			}
			file, err := New(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			looks := 0
			for record := range Records(bytes.NewReader(data)) {
				var at Range
				switch r := record.(type) {
				case Func:
					at = Range{r.Address, r.Size}
				case StackCFIInit:
					at = Range{r.Address, r.Size}
				case StackWin:
					at = Range{r.Address, r.CodeSize}
				case Public:
					at.Address = r.Address
				default:
					continue
				}
				if looks++; looks > 8 {
					break
				}
				for _, addr := range []uint64{at.Address, at.Address + at.Size - 1, at.Address + at.Size} {
					look(t, file, addr)
				}
			}
		})
	})
}

// look asks file for all that it has at addr.
func look(t *testing.T, file *File, addr uint64) {
	fn, err := file.Func(addr)
	if err != nil || fn != nil && !(Range{fn.Address, fn.Size}).Contains(addr) {
		t.Errorf("at %#x: function %+v, %v", addr, fn, err)
	}
	cfi, err := file.CFI(addr)
	if err == nil && cfi != nil && !(Range{cfi.Address, cfi.Size}).Contains(addr) {
		t.Errorf("at %#x: STACK CFI %+v", addr, cfi)
	}
	if win, err := file.Win(addr); err == nil && win != nil && !(Range{win.Address, win.CodeSize}).Contains(addr) {
		t.Errorf("at %#x: STACK WIN %+v", addr, win)
	}
	if public, err := file.Public(addr); err == nil && public != nil && (public.Address > addr || fn != nil) {
		t.Errorf("at %#x: symbol %+v", addr, public)
	}
	if chain, err := file.Locate(addr); err == nil && fn != nil && (len(chain) == 0 || chain[len(chain)-1].Function != fn.Name) {
		t.Errorf("at %#x: %+v, function %s", addr, chain, fn.Name)
	}
}
