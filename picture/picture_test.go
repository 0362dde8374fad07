package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/picture"
)

// example are three stacks: two equal ones of two threads, and one of a signal handler with an
// inlined call.
func example() *picture.Stacks {
	program := &picture.Module{Path: "/usr/bin/x", BuildID: "abcd", Lo: 0x400000, Hi: 0x500000}
	library := &picture.Module{Path: "/usr/lib/l.so", BuildID: "ef01", Lo: 0x700000, Hi: 0x800000, Offset: 0x1000}
	main := picture.Place{Function: "main", File: "x.c", Line: 7, Address: 0x400010, Module: program, Code: picture.OwnCode}
	work := picture.Place{Function: "work; hard", File: "x.c", Line: 3, Address: 0x400020, Module: program}
	tiny := picture.Place{Function: "tiny", File: "x.h", Line: 1, Address: 0x400020, Module: program, Inlined: true}
	nameless := picture.Place{Name: "l.so+0x1010", Address: 0x700010, Module: library, Code: picture.LibraryCode}
	s := &picture.Stacks{Title: "/usr/bin/x", Program: "/usr/bin/x", Types: []picture.Type{{Name: "threads", Unit: "count"}}}
	add := func(name string, tid int64, frames ...picture.Place) {
		s.Add(frames, picture.Sample{Values: []int64{1}, Texts: []picture.Text{{Key: "thread", Value: name}}, Numbers: []picture.Number{{Key: "tid", Value: tid}}})
	}
	add("a", 11, nameless, main)
	add("b", 12, nameless, main)
	add("c", 13, tiny, work, main)
	return s
}

func written(t *testing.T, s *picture.Stacks, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The tool of Go shows what went in.
func TestPprof(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pprof")
	if err := os.WriteFile(path, []byte(written(t, example(), "pprof")), 0o600); err != nil {
		t.Fatal(err)
	}
	pprof := func(args ...string) string {
		out, err := exec.Command("go", append([]string{"tool", "pprof", "-symbolize=none"}, append(args, path)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("go tool pprof %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, tt := range []struct {
		arg  string
		want []string
	}{
		{"-top", []string{`File: x\n`, `Type: threads`, `of 3 total`, `0 +0% +\S+ +3 +100% +main\n`, `1 33\.33% +\S+ +1 33\.33% +tiny \(inline\)`}},
		{"-traces", []string{`thread: +a\n +tid: +11\n`, `thread: +c\n +tid: +13\n +1 +tiny \(inline\)\n +work; hard\n +main\n`}},
		{"-raw", []string{`/usr/bin/x abcd \[FN\]\[FL\]\[LN\]\[IN\]`, `0x700000/0x800000/0x1000 /usr/lib/l\.so ef01`, `0x400020 M=\d+ tiny x\.h:1`}},
	} {
		out := pprof(tt.arg)
		for _, want := range tt.want {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("%s: no %s in\n%s", tt.arg, want, out)
			}
		}
	}
}

// flamegraph.pl splits lines at the last space, and stacks at semicolons.
func TestFolded(t *testing.T) {
	const want = "main;l.so+0x1010 2\nmain;work: hard;tiny 1\n"
	if got := written(t, example(), "folded"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTree(t *testing.T) {
	tree := picture.NewTree[byte]()
	for _, stack := range []string{"ab", "abc", "ad", "ad", "ad", "x"} {
		tree.Add(len(stack), 1, func(i int) int { return int(stack[i]) }, func(i int) byte { return stack[i] })
	}
	var got strings.Builder
	tree.Walk(func(i int) {
		n := tree.Nodes[i]
		got.WriteString(strings.Repeat(" ", n.Depth) + string(n.Frame) + string(rune('0'+n.Value)) + string(rune('0'+n.Self)) + "\n")
	})
	if want := "a50\n d33\n b21\n  c11\nx11\n"; got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestFlameGraph has a parser of XML read the picture, whatever names there are, and looks for what
// would need a network.
func TestFlameGraph(t *testing.T) {
	s := example()
	s.Add([]picture.Place{{Function: "]]></script><x a='\"\x1b\xff\uffff&"}}, picture.Sample{Values: []int64{1}, Root: "a & b"})
	out := written(t, s, "flamegraph")
	d := xml.NewDecoder(strings.NewReader(out))
	frames := map[string]bool{}
	for inTitle := false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inTitle = x.Name.Local == "title"
			for _, a := range x.Attr {
				if strings.Contains(a.Value, "//") && a.Name.Local != "xmlns" {
					t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if inTitle {
				frames[string(x)] = true
			}
		case xml.EndElement:
			inTitle = false
		}
	}
	for _, want := range []string{"all (4 threads, 100.00%)", "main (3 threads, 75.00%; program)", "l.so+0x1010 (2 threads, 50.00%; library)", "a & b (1 thread, 25.00%)"} {
		if !frames[want] {
			t.Errorf("no frame %q among %v", want, frames)
		}
	}
}

// FuzzPictures writes stacks with any names in all formats.
func FuzzPictures(f *testing.F) {
	f.Add("main", "x.c", "/bin/x", uint8(3))
	f.Add("a;b\n", "\xff", "]]>", uint8(0))
	f.Add("a\x1b\x7f\u009b\u202e", "\u2028\ufeff", "\U000e0041", uint8(2))
	f.Fuzz(func(t *testing.T, function, file, module string, depth uint8) {
		bounds.Hold(t, 4<<20+1000*(len(function)+len(file)+len(module)), func() {
			s := &picture.Stacks{Title: module, Program: module, Types: []picture.Type{{Name: "threads", Unit: "count"}}}
			m := &picture.Module{Path: module, BuildID: file, Lo: 1, Hi: 0x100}
			var frames []picture.Place
			for i := range int(depth) {
				frames = append(frames, picture.Place{Function: function, File: file, Line: i, Address: uint64(i), Module: m, Inlined: i%2 == 0})
			}
			s.Add(frames, picture.Sample{Values: []int64{2}, Root: file, Texts: []picture.Text{{Key: "thread", Value: function}}})
			s.Add(nil, picture.Sample{Values: []int64{1}})
			for _, format := range picture.Formats {
				var out bytes.Buffer
				if err := format.Write(s, &out); err != nil {
					t.Errorf("%s: %v", format.Name, err)
				}
				if text := out.Bytes(); !format.Binary && !printable.Is(text) {
					t.Errorf("%s: %q has a control character", format.Name, text)
				}
				if format.Name == "folded" && bytes.Count(out.Bytes(), []byte("\n")) > 2 {
					t.Errorf("folded: more than two lines: %q", out.Bytes())
				}
			}
		})
	})
}

// Lines are in alphabetical order, also where one name begins as another does.
func TestFoldedOrder(t *testing.T) {
	s := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	for _, stack := range [][]string{{"a"}, {"b", "a"}, {"a!"}, {"b", "a!"}, {"aa"}, {"c", "b", "a"}, {"a?"}, {}, {"??"}, {"b", "a"}} {
		var frames []picture.Place
		for _, name := range stack {
			frames = append(frames, picture.Place{Function: name})
		}
		s.Add(frames, picture.Sample{Values: []int64{1}})
	}
	var out strings.Builder
	if err := s.WriteFolded(&out); err != nil {
		t.Fatal(err)
	}
	const want = "?? 2\na 1\na! 1\na!;b 1\na;b 2\na;b;c 1\na? 1\naa 1\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
