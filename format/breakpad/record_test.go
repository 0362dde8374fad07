package breakpad

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The lines of the specification's examples, of its section for each record, and of files that
// Breakpad's tools for Windows have written.
var records = []struct {
	line string
	want Record
}{
	{"MODULE Linux x86 D3096ED481217FD4C16B29CD9BC208BA0 firefox-bin", Module{"Linux", "x86", "D3096ED481217FD4C16B29CD9BC208BA0", "firefox-bin"}},
	{"FILE 2 /home/jimb/mc/in/browser/app/nsBrowserApp.cpp", SourceFile{2, "/home/jimb/mc/in/browser/app/nsBrowserApp.cpp"}},
	{"FUNC c184 30 0 nsQueryInterfaceWithError::operator()(nsID const&, void**) const",
		Func{Address: 0xc184, Size: 0x30, Name: "nsQueryInterfaceWithError::operator()(nsID const&, void**) const"}},
	{"FUNC m 10 20 c f", Func{Address: 0x10, Size: 0x20, ParamSize: 12, Multiple: true, Name: "f"}},
	{"c184 7 59 4", Line{0xc184, 7, 59, 4}},
	{"PUBLIC 2160 0 Public2_1", Public{Address: 0x2160, Name: "Public2_1"}},
	{"PUBLIC m 2160 8 Public2_1", Public{Address: 0x2160, ParamSize: 8, Multiple: true, Name: "Public2_1"}},
	{"STACK WIN 4 2170 14 1 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ =",
		StackWin{Type: FrameData, Address: 0x2170, CodeSize: 0x14, PrologueSize: 1, HasProgram: true, Program: "$eip 4 + ^ = $esp $ebp 8 + = $ebp $ebp ^ ="}},
	{"STACK WIN 0 1000 2a 3 4 5 6 7 8 0 1", StackWin{FPO, 0x1000, 0x2a, 3, 4, 5, 6, 7, 8, false, "", true}},
	{"STACK CFI INIT 804c4b0 40 .cfa: $esp 4 + $eip: .cfa 4 - ^", StackCFIInit{0x804c4b0, 0x40, ".cfa: $esp 4 + $eip: .cfa 4 - ^"}},
	{"STACK CFI 804c4b1 .cfa: $esp 8 + $ebp: .cfa 8 - ^", StackCFI{0x804c4b1, ".cfa: $esp 8 + $ebp: .cfa 8 - ^"}},
	{"INFO CODE_ID 5C8AD05F12000 pe_only_symbol_test.dll", Info{"CODE_ID 5C8AD05F12000 pe_only_symbol_test.dll"}},
	{"INLINE_ORIGIN 1 outer", InlineOrigin{Number: 1, File: -1, Name: "outer"}},
	{"INLINE_ORIGIN 1 -1 an outer one", InlineOrigin{Number: 1, File: -1, OldForm: true, Name: "an outer one"}},
	{"INLINE_ORIGIN 1 7 outer", InlineOrigin{Number: 1, File: 7, OldForm: true, Name: "outer"}},
	{"INLINE 0 21 -1 1 1060 0 1067 3", Inline{CallLine: 21, CallFile: -1, Origin: 1, Ranges: []Range{{0x1060, 0}, {0x1067, 3}}}},
	{"INLINE 2 21 4 1 1060 5", Inline{Depth: 2, CallLine: 21, CallFile: 4, Origin: 1, Ranges: []Range{{0x1060, 5}}}},
	{"INLINE 2 21 1 1060 5", Inline{Depth: 2, CallLine: 21, CallFile: -1, Origin: 1, OldForm: true, Ranges: []Range{{0x1060, 5}}}},
	{"FUTURE 1 2 3", Unknown{"FUTURE 1 2 3"}},
	{"FUNCTION", Unknown{"FUNCTION"}},
}

func TestRecords(t *testing.T) {
	for _, r := range records {
		got, err := ParseRecord([]byte(r.line + "\r"))
		if err != nil || !reflect.DeepEqual(got, r.want) {
			t.Errorf("%s: %#v, %v; want %#v", r.line, got, err, r.want)
			continue
		}
		text, err := got.AppendText(nil)
		if err != nil || string(text) != r.line {
			t.Errorf("%s is written as %q, %v", r.line, text, err)
		}
	}
}

// Breakpad's reader takes these, too.
func TestLenient(t *testing.T) {
	for line, want := range map[string]Record{
		"FUNC   10  20   0   a  b ": Func{Address: 0x10, Size: 0x20, Name: "a  b "},
		"FUNC 10 20 0":              Func{Address: 0x10, Size: 0x20},
		"0x10 0X20 3 4":             Line{0x10, 0x20, 3, 4},
		"A10 4 0 0":                 Line{Address: 0xa10, Size: 4},
		"DEAD 4 1 2":                Line{0xdead, 4, 1, 2},
	} {
		if got, err := ParseRecord([]byte(line)); err != nil || got != want {
			t.Errorf("%q: %#v, %v; want %#v", line, got, err, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	for line, want := range map[string]string{
		"FUNC 10 2z 0 f":                   `size "2z"`,
		"FUNC m":                           `address "m"`,
		"FUNC 11112222333344445 1 0 f":     `address "11112222333344445"`,
		"10 20 -3 1":                       `line "-3"`,
		"10 20 3":                          `no file number`,
		"10 20 99999999999 1":              `line "99999999999"`,
		"PUBLIC 10":                        `no parameter size`,
		"FILE x y":                         `number "x"`,
		"MODULE Linux x86":                 `no identifier`,
		"STACK CFI INIT 10":                `no size`,
		"STACK WIN 4 1 2 3 4 5 6 7 8 1 ":   `no program`,
		"STACK WIN 0 1 2 3 4 5 6 7 8 0":    `no flag of the base pointer`,
		"INLINE 0 1 2 3":                   `no address`,
		"INLINE_ORIGIN 1 2":                `no name`,
		"STACK CFI INIT 10 0x .cfa: $rsp ": `size "0x"`,
	} {
		if got, err := ParseRecord([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%q: %#v, %v; want the error %s", line, got, err, want)
		}
	}
}

func TestUnwritable(t *testing.T) {
	for _, r := range []Record{
		Func{Name: "a\nFUNC 0 1 0 b"}, SourceFile{Name: "a\rb"}, Module{"a b", "x86", "0", "c"}, Module{"", "x86", "0", "c"},
		StackCFI{Rules: "\n"}, Unknown{"\n"}, Info{"\n"}, Public{Name: "\n"}, InlineOrigin{Name: "\n"}, StackWin{HasProgram: true, Program: "\n"},
	} {
		if text, err := r.AppendText(nil); err == nil {
			t.Errorf("%#v is written as %q", r, text)
		}
	}
}

// What Breakpad's dump_syms has written is the same when it has been read and written.
func TestRoundTrip(t *testing.T) {
	files := []string{"testdata/inlines.sym"}
	for _, file := range append(files, strings.Fields(os.Getenv("SFWALK_SYMBOL_FILES"))...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		for record, err := range Records(bytes.NewReader(data)) {
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if out, err = record.AppendText(out); err != nil {
				t.Fatal(err)
			}
			out = append(out, '\n')
		}
		want := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		if !bytes.Equal(out, want) {
			g, w := bytes.Split(out, []byte("\n")), bytes.Split(want, []byte("\n"))
			for i := range min(len(g), len(w)) {
				if !bytes.Equal(g[i], w[i]) {
					t.Fatalf("%s: line %d is written as %q, was %q", file, i+1, g[i], w[i])
				}
			}
			t.Fatalf("%s: %d lines, were %d", file, len(g), len(w))
		}
	}
}

func TestLongLine(t *testing.T) {
	text := "FUNC 1 1 0 a\nFUNC 2 1 0 " + strings.Repeat("b", MaxLine) + "\n\nFUNC 3 1 0 c"
	var got []Record
	var errs []string
	for r, err := range Records(strings.NewReader(text)) {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		got = append(got, r)
	}
	if want := []Record{Func{Address: 1, Size: 1, Name: "a"}, Func{Address: 3, Size: 1, Name: "c"}}; !reflect.DeepEqual(got, want) ||
		!reflect.DeepEqual(errs, []string{"line 2: longer than 1048576 bytes"}) {
		t.Errorf("%v, %v", got, errs)
	}
}
