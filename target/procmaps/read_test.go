package procmaps

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// lines is a list of mappings that is made as it is read.
type lines struct {
	n    int
	path func(i int) (dir, rest string)
	i    int
	left []string
}

func (l *lines) Read(p []byte) (n int, err error) {
	if len(l.left) == 0 {
		if l.i == l.n {
			return 0, io.EOF
		}
		l.i++
		dir, rest := l.path(l.i)
		l.left = append(l.left, fmt.Sprintf("%x-%x r-xp 00000000 08:01 %d %s", 0x1000*l.i, 0x1000*(l.i+1), l.i, dir), rest, "\n")
	}
	n = copy(p, l.left[0])
	if l.left[0] = l.left[0][n:]; l.left[0] == "" {
		l.left = l.left[1:]
	}
	return n, nil
}

// A list is the same however it is read.
func TestRead(t *testing.T) {
	want, err := Parse([]byte(mapsText))
	if err != nil {
		t.Fatal(err)
	}
	never := func(format string, _ ...any) { t.Errorf("it warns: %s", format) }
	for _, text := range []string{mapsText, strings.TrimSuffix(mapsText, "\n")} {
		if got, err := Read(iotest.OneByteReader(strings.NewReader(text)), never); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(mapsText))), never); err != iotest.ErrTimeout && (err == nil || !strings.Contains(err.Error(), "timeout")) {
		t.Errorf("a list that cannot be read: %v", err)
	}
	if _, err := Read(strings.NewReader("1000-2000 r-xp 0 0:0 0\n1800-3000 r-xp 0 0:0 0\n"), never); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a torn list: %v", err)
	}
}

// Long paths take a bounded part of the memory. Usual ones are kept, and so are the mappings of
// all.
func TestReadLongPaths(t *testing.T) {
	for _, test := range []struct{ n, long int }{{9000, 4000}, {100, 1 << 20}} {
		name := strings.Repeat("d", test.long) + " (deleted)"
		list := &lines{n: test.n, path: func(i int) (dir, rest string) {
			if i == 1 || i == test.n {
				return "/usr/lib/", "libc.so.6"
			}
			return fmt.Sprintf("/%d", i), name
		}}
		var maps []Mapping
		var err error
		var said []string
		bounds.Hold(t, 40<<20, func() { // 36 or 100 MB; paths with and without "(deleted)" share 8
			maps, err = Read(&chunks{list}, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		})
		if err != nil || len(maps) != test.n || len(said) != 1 || said[0] != leftPaths {
			t.Fatalf("%d mappings, %q, %v", len(maps), said, err)
		}
		kept, bytes := 0, 0
		for i, m := range maps {
			if m.Path != "" {
				kept++
				bytes += len(m.Path)
			}
			if m.Lo != uint64(0x1000*(i+1)) || m.Inode != uint64(i+1) || !m.Exec || m.IsFile() != (m.Path != "") {
				t.Fatalf("%d: %+v", i, m)
			}
		}
		if maps[0].Path != "/usr/lib/libc.so.6" || maps[test.n-1].Path != "/usr/lib/libc.so.6" || bytes > 8<<20 || test.long < maxLine && bytes < 7<<20 {
			t.Errorf("%d paths of %d bytes", kept, bytes)
		}
	}
}

// chunks hides what else a reader can.
type chunks struct{ io.Reader }

// What is behind the bound of the text is left out, also within one line.
func TestReadLongText(t *testing.T) {
	for _, long := range []int{1000, 100_000} {
		name := strings.Repeat("d", long)
		list := &lines{n: 1 << 30, path: func(int) (dir, rest string) { return "/", name }}
		var said []string
		maps, err := read(list, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }, 10*long)
		if err != nil || len(maps) != 9 || len(said) == 0 || said[len(said)-1] != leftText {
			t.Errorf("%d mappings, %q, %v", len(maps), said, err)
		}
	}
	_, err := read(&lines{n: 1, path: func(int) (dir, rest string) { return "/", strings.Repeat("d", 1<<20) }}, nil, 1000)
	if err != nil {
		t.Error(err)
	}
}
