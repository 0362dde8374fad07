package breakpad

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// keptText is a symbol file with several pages of each table, and malformed lines.
func keptText() string {
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 1 kept\nINFO CODE_ID 5\nFUNC zz\n")
	for i := range 1500 {
		at := 0x1000 + 0x40*i
		fmt.Fprintf(&b, "FILE %d f%d.c\nINLINE_ORIGIN %d in%d\nFUNC %x 30 0 function%d\nINLINE 0 %d %d %d %x 8\n%x 18 %d %d\n", i, i, i, i, at, i, i, i, i, at+8, at, i, i)
		fmt.Fprintf(&b, "PUBLIC %x 0 public%d\nSTACK CFI INIT %x 30 .cfa: $rsp %d +\nSTACK WIN 4 %x 30 0 0 0 0 %x 0 1 program%d\n", at+0x30, i, at, i, at, i, i)
	}
	b.WriteString("FUNC 1000 20000 0 outer\n")
	return b.String()
}

func newFile(t testing.TB, text string) *File {
	t.Helper()
	f, err := New(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// answersOf are all that a file has at an address.
func answersOf(f *File, addr uint64) (all []any) {
	fn, _ := f.Func(addr)
	public, _ := f.Public(addr)
	cfi, _ := f.CFI(addr)
	win, _ := f.Win(addr)
	at, _ := f.Locate(addr)
	r, ok := f.Bounds(addr)
	return []any{fn, public, cfi, win, at, r, ok}
}

// TestIndexed: a file that is read by its index has the same answers, and so has one whose index is
// broken or another file's.
func TestIndexed(t *testing.T) {
	text := keptText()
	real, err := os.ReadFile("testdata/inlines.sym")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{text, string(real)} {
		want := newFile(t, text)
		index := want.AppendIndex([]byte("before"))[len("before"):]
		sum, err := SumOf(strings.NewReader(text), int64(len(text)))
		stored, err2 := IndexSum(bytes.NewReader(index), int64(len(index)))
		if errors.Join(err, err2) != nil || sum != want.Sum() || stored != sum {
			t.Fatalf("%x, %x, %x: %v, %v", sum, want.Sum(), stored, err, err2)
		}
		f, err := NewIndexed(strings.NewReader(text), int64(len(text)), bytes.NewReader(index), int64(len(index)), sum)
		if err != nil {
			t.Fatal(err)
		}
		if f.Counts() != want.Counts() || fmt.Sprint(f.Warnings) != fmt.Sprint(want.Warnings) || !reflect.DeepEqual(f.Infos, want.Infos) || f.Module != want.Module {
			t.Errorf("%+v %v, want %+v %v", f.Counts(), f.Warnings, want.Counts(), want.Warnings)
		}
		for addr := uint64(0xff0); addr < 0x1000+0x40*1510; addr += 0x11 {
			if got, want := answersOf(f, addr), answersOf(want, addr); !reflect.DeepEqual(got, want) {
				t.Fatalf("at %#x: %+v, want %+v", addr, got, want)
			}
		}
		if !f.Indexed() || want.Indexed() {
			t.Error(f.Indexed(), want.Indexed())
		}
		other := want.Sum()
		other[0]++
		if _, err := NewIndexed(strings.NewReader(text), int64(len(text)), bytes.NewReader(index), int64(len(index)), other); !errors.Is(err, ErrIndex) {
			t.Error(err)
		}
	}
	want := newFile(t, text)
	index := want.AppendIndex(nil)
	for i := 0; i < len(index); i += 2531 {
		bad := bytes.Clone(index)
		bad[i] ^= 0x10
		f, err := NewIndexed(strings.NewReader(text), int64(len(text)), bytes.NewReader(bad), int64(len(bad)), want.Sum())
		if err != nil {
			if !errors.Is(err, ErrIndex) {
				t.Error(err)
			}
			continue
		}
		for _, addr := range []uint64{0x1000, 0x1009, 0x1000 + 0x40*700 + 9, 0x1000 + 0x40*1499 + 0x32} {
			if got, want := answersOf(f, addr), answersOf(want, addr); !reflect.DeepEqual(got, want) {
				t.Fatalf("byte %d is wrong: at %#x: %+v, want %+v", i, addr, got, want)
			}
		}
	}
	if _, err := NewIndexed(strings.NewReader(text), int64(len(text)), bytes.NewReader(index[:len(index)/2]), int64(len(index)/2), want.Sum()); !errors.Is(err, ErrIndex) {
		t.Error(err)
	}
}

// TestIndexedOther: where the caller is wrong about the content, what is found is the file's, not
// the index's.
func TestIndexedOther(t *testing.T) {
	text := keptText()
	old := newFile(t, text)
	index := old.AppendIndex(nil)
	for _, changed := range []string{
		strings.Replace(text, "FILE 0 f0.c", "FILE 0 g/f0.c", 1),
		strings.Replace(strings.Replace(text, "FUNC 1000 ", "FUNC 1001 ", 1), "FILE 900 f", "FUNC 99 f", 1),
		strings.ReplaceAll(text, "function", "changed_"),
	} {
		changed = (changed + strings.Repeat(" ", 10))[:len(text)]
		want := newFile(t, changed)
		f, err := NewIndexed(strings.NewReader(changed), int64(len(changed)), bytes.NewReader(index), int64(len(index)), old.Sum())
		if err != nil {
			t.Fatal(err)
		}
		for addr := uint64(0x1000 + 0x40*1000); addr > 0x1000; addr -= 0x3f {
			if got, want := answersOf(f, addr), answersOf(want, addr); !reflect.DeepEqual(got, want) {
				t.Fatalf("at %#x: %+v, want %+v", addr, got, want)
			}
		}
	}
}

// FuzzIndexed reads a file by an index that lies, with checksums that are right.
func FuzzIndexed(f *testing.F) {
	const text = "MODULE a b c d\nFILE 0 a.c\nINLINE_ORIGIN 0 in\nFUNC 10 20 0 f\nINLINE 0 3 0 0 14 4 18 2\n10 10 1 0\n20 10 2 0\nFUNC 18 4 0 g\nPUBLIC 40 0 p\nSTACK CFI INIT 10 20 .cfa: 1\n"
	want := newFile(f, text)
	index := want.AppendIndex(nil)
	head := len(indexMagic) + 8
	length := int(binary.LittleEndian.Uint64(index[len(indexMagic):]))
	f.Add(index[head:head+length], index[head+length+checkLength:], uint64(0x19))
	f.Fuzz(func(t *testing.T, head, data []byte, addr uint64) {
		sums := "["
		for at := 0; at < len(data); at += pageSize {
			sums += fmt.Sprint(crc32.Checksum(data[at:min(at+pageSize, len(data))], castagnoli)) + ","
		}
		if at := bytes.LastIndex(head, []byte(`"Checks":`)); at >= 0 {
			head = append(bytes.Clone(head[:at]), `"Checks":`+strings.TrimSuffix(sums, ",")+"]}"...)
		}
		made := binary.LittleEndian.AppendUint64([]byte(indexMagic), uint64(len(head)))
		made = binary.LittleEndian.AppendUint32(append(made, head...), crc32.Checksum(head, castagnoli))
		made = append(made, data...)
		bounds.Hold(t, 1<<20+64*len(made), func() {
			file, err := NewIndexed(strings.NewReader(text), int64(len(text)), bytes.NewReader(made), int64(len(made)), want.Sum())
			if err != nil {
				return
			}
			for _, at := range []uint64{addr, 0x10, 0x19, 0x41} {
				look(t, file, at)
			}
		})
	})
}
