package dwarf

import (
	"bytes"
	godwarf "debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// file is the debug information of a file, and what debug/dwarf reads of it.
type file struct {
	order    binary.ByteOrder
	sections map[string][]byte
	oracle   *godwarf.Data
}

func open(t testing.TB, path string) *file {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x := &file{order: f.ByteOrder, sections: map[string][]byte{}}
	for _, s := range f.Sections {
		if name, ok := bytes.CutPrefix([]byte(s.Name), []byte(".debug_")); ok {
			if x.sections[string(name)], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if x.oracle, err = f.DWARF(); err != nil {
		t.Fatal(err)
	}
	return x
}

// files are programs of GCC's, with DWARF 5, and one of Go's.
func files(t testing.TB) map[string]*file {
	return map[string]*file{
		"mix":   open(t, gdbtest.Testdata(t, "bin", "mix-v3")),
		"steps": open(t, gdbtest.Testdata(t, "bin", "steps-v3")),
		"go":    open(t, gdbtest.Build(t, "gotarget")),
	}
}

// units yields the units of .debug_info, with their abbreviations.
func (f *file) units(yield func(*Unit, *Abbrevs)) error {
	info := f.sections["info"]
	all := Units{Order: f.order, Size: uint64(len(info)), Read: func(lo, hi uint64) ([]byte, error) { return info[lo:hi], nil }}
	for at := uint64(0); at < all.Size; {
		u, next, err := all.At(at)
		if err != nil {
			return err
		}
		if at = next; u.End == 0 {
			continue
		}
		r := New(f.sections["abbrev"][min(u.Abbrev, uint64(len(f.sections["abbrev"]))):], f.order)
		table, err := ReadAbbrevs(&r, true, u.Encoding, nil, func(int) error { return nil })
		if err != nil || r.Bad {
			return fmt.Errorf("abbreviations at %#x: %v, %+v", u.Abbrev, err, r.Bad)
		}
		yield(&u, table)
	}
	return nil
}

// text returns a value as a string; ok is false if it is none.
func (f *file) text(v Value) (text string, ok bool) {
	name := map[Class]string{ClassText: "info", ClassStr: "str", ClassLineStr: "line_str"}[v.Class]
	if name == "" {
		return "", false
	}
	r := New(f.sections[name][v.N:], f.order)
	return r.String(), true
}

// number returns the number of some bytes at an index of a table.
func (f *file) number(section string, base, i uint64, size uint8) uint64 {
	r := New(f.sections[section][base+i*uint64(size):], f.order)
	return r.Uint(int(size))
}

// The entries, and their attributes, are as debug/dwarf reads them.
func TestEntries(t *testing.T) {
	for name, f := range files(t) {
		info := f.sections["info"]
		entries, values, lists := 0, map[Class]int{}, 0
		want := f.oracle.Reader()
		err := f.units(func(u *Unit, table *Abbrevs) {
			c := Cursor{Reader: New(info[:u.End], f.order), Unit: u}
			c.Seek(u.Entry)
			base := Base{Encoding: u.Encoding}
			addrs := uint64(0)
			base.Index = func(i uint64) (uint64, bool) { return f.number("addr", addrs, i, u.AddrSize), true }
			for c.More() && !t.Failed() {
				at := c.Offset()
				e, err := want.Next()
				if err != nil || e == nil {
					t.Fatalf("%s: %#x: debug/dwarf has %v, %v", name, at, e, err)
				}
				code := c.ULEB128()
				if code == 0 {
					if e.Tag != 0 {
						t.Errorf("%s: %#x: nothing, debug/dwarf has %v", name, at, e)
					}
					continue
				}
				a := table.Find(code)
				if a == nil || a.Tag != e.Tag || a.Children != e.Children || at != uint64(e.Offset) || len(a.Attrs) != len(e.Field) {
					t.Fatalf("%s: %#x: %+v, debug/dwarf has %+v", name, at, a, e)
				}
				entries++
				start := c.Off
				var ranges Value
				for i, x := range a.Attrs {
					v := c.Value(x.Form, x.Implicit)
					if compared, same := f.same(v, e.Field[i].Val); !same || x.Attr != e.Field[i].Attr {
						t.Errorf("%s: %#x: %v is %+v of form %#x, debug/dwarf has %+v", name, at, x.Attr, v, x.Form, e.Field[i])
					} else if compared {
						values[v.Class]++
					}
					switch x.Attr {
					case godwarf.AttrRanges:
						ranges = v
					case godwarf.AttrAddrBase:
						addrs = v.N
					case godwarf.AttrLowpc:
						if at == u.Entry {
							base.Addr = v.N
						}
					}
				}
				end := c.Off
				c.Off = start
				if c.Skip(a); c.Off != end || c.Bad {
					t.Errorf("%s: %#x: the attributes end at %#x, gone over at %#x", name, at, end, c.Off)
				}
				if ranges.Class == ClassOffset {
					lists++
					f.sameRanges(t, base, ranges.N, e)
				}
			}
		})
		if e, _ := want.Next(); err != nil || e != nil {
			t.Errorf("%s: debug/dwarf goes on with %+v; %v", name, e, err)
		}
		if entries < 100 || lists == 0 || values[ClassConstant] < 100 || values[ClassReference] < 100 || values[ClassBlock] == 0 ||
			values[ClassText]+values[ClassStr] < 50 || values[ClassAddress] == 0 {
			t.Errorf("%s: %d entries, %d lists of ranges; values by class: %v", name, entries, lists, values)
		}
	}
}

// same compares a value with debug/dwarf's. compared is false for what lies in other sections.
func (f *file) same(v Value, want any) (compared, same bool) {
	switch v.Class {
	case ClassAddress:
		return true, want == v.N
	case ClassConstant, ClassOffset:
		if b, ok := want.(bool); ok {
			return true, b == (v.N != 0)
		}
		return true, fmt.Sprint(want) == fmt.Sprint(int64(v.N))
	case ClassReference:
		return true, want == godwarf.Offset(v.N)
	case ClassSignature:
		return true, want == v.N
	case ClassBlock:
		lo, hi := v.Block()
		b, _ := want.([]byte)
		return true, bytes.Equal(b, f.sections["info"][lo:hi])
	}
	if text, ok := f.text(v); ok {
		return true, want == text
	}
	return false, true
}

// sameRanges compares a list of ranges with debug/dwarf's.
func (f *file) sameRanges(t *testing.T, base Base, off uint64, e *godwarf.Entry) {
	t.Helper()
	var got [][2]uint64
	add := func(lo, hi uint64) bool {
		got = append(got, [2]uint64{lo, hi})
		return true
	}
	r, err := Reader{}, error(nil)
	if base.Version < 5 {
		r = New(f.sections["ranges"][off:], f.order)
		base.OldRanges(&r, add)
	} else {
		r = New(f.sections["rnglists"][off:], f.order)
		err = base.Ranges(&r, add)
	}
	want, wrong := f.oracle.Ranges(e)
	if err != nil || wrong != nil || r.Bad || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("ranges at %#x: %#x, %v; debug/dwarf has %#x, %v", off, got, err, want, wrong)
	}
}

// The rows of the line tables are as debug/dwarf reads them.
func TestLines(t *testing.T) {
	for name, f := range files(t) {
		var l Lines
		rows := 0
		err := f.units(func(u *Unit, table *Abbrevs) {
			r := f.oracle.Reader()
			r.Seek(godwarf.Offset(u.Entry))
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.oracle.LineReader(e)
			if err != nil || want == nil {
				return
			}
			at := uint64(e.Val(godwarf.AttrStmtList).(int64))
			lines := f.sections["line"][at:]
			size, err := LineTableSize(lines[:min(12, len(lines))], f.order, uint64(len(lines)))
			if err == nil {
				err = l.Read(lines[:size], f.order, int(u.AddrSize))
			}
			if err != nil {
				t.Fatalf("%s: %#x: %v", name, at, err)
			}
			for i := 0; !t.Failed(); i++ {
				var x godwarf.LineEntry
				event, err := l.Next(), want.Next(&x)
				if event == LinesEnd {
					if err == nil || l.Err != nil {
						t.Errorf("%s: table at %#x: row %d: %v, debug/dwarf has %+v", name, at, i, l.Err, x)
					}
					return
				}
				got := &l.Row
				if err != nil || (event == SequenceEnd) != x.EndSequence || got.Addr != x.Address {
					t.Fatalf("%s: table at %#x: row %d: %d, %+v, debug/dwarf has %+v, %v", name, at, i, event, got, x, err)
				}
				if rows++; event == SequenceEnd {
					continue
				}
				named := f.lineText(lines, &l.Files[got.File])
				if int(got.Line) != x.Line || got.Statement != x.IsStmt || got.PrologueEnd != x.PrologueEnd || got.Discriminator != (x.Discriminator != 0) || path.Base(named) != path.Base(x.File.Name) {
					t.Errorf("%s: table at %#x: row %d: %+v of %q, debug/dwarf has %+v of %q", name, at, i, got, named, x, x.File.Name)
				}
			}
		})
		if err != nil || rows < 50 {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

func (f *file) lineText(table []byte, x *LineFile) string {
	from := map[Form][]byte{FormString: table, FormStrp: f.sections["str"], FormLineStrp: f.sections["line_str"]}[x.Form]
	if x.Name >= uint64(len(from)) {
		return ""
	}
	r := New(from[x.Name:], f.order)
	return r.String()
}
