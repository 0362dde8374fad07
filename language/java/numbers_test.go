package java

import (
	"testing"
)

// The numbers are encoded as the virtual machine's sources say (unsigned5.hpp), and as the older
// ones did (compressedStream.cpp).
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		least uint8
		bytes []byte
		want  uint32
	}{
		{0, []byte{0}, 0}, {0, []byte{191}, 191}, {0, []byte{192, 0}, 192}, {0, []byte{255, 1}, 319},
		{1, []byte{1}, 0}, {1, []byte{191}, 190}, {1, []byte{192, 1}, 191}, {1, []byte{192, 254, 253, 253, 253}, 0xffffffff},
	} {
		n := numbers{bytes: c.bytes, least: c.least}
		if v := n.next(); v != c.want || n.short || len(n.bytes) > 0 {
			t.Errorf("% x from %d on: %d, %d bytes left, short: %t; want %d", c.bytes, c.least, v, len(n.bytes), n.short, c.want)
		}
	}
	for _, b := range [][]byte{{}, {0}, {192}, {192, 0}} {
		n := numbers{bytes: b, least: 1}
		if n.next(); !n.short {
			t.Errorf("% x is a number", b)
		}
	}
}

func TestLines(t *testing.T) {
	// Line 10 from bytecode 0 on, 12 from 5 on, and 300 from 40 on.
	table := []byte{0xff, 1, 21, 5<<3 | 2, 0xff, 71, 193, 7, 0}
	n := numbers{bytes: table[5:], least: 1}
	if bci, line := n.signed(), n.signed(); bci != 35 || line != 288 {
		t.Fatalf("%d, %d", bci, line)
	}
	for bci, want := range map[int32]int{0: 10, 4: 10, 5: 12, 39: 12, 40: 300, 60000: 300} {
		if line := lineAt(table, 1, bci); line != want {
			t.Errorf("bytecode %d: line %d, want %d", bci, line, want)
		}
	}
	if line := lineAt(table[:6], 1, 40); line != 0 {
		t.Errorf("a table without an end has line %d", line)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"handle": "handle", "größe": "größe", "a\xc0\x80b": "a\x00b", "\xed\xa0\xbd\xed\xb8\x80": "😀", "\xff": "", "a\x00": "",
	} {
		if got := text([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"com/example/Server": "com.example.Server", "A$$Lambda+0x00007f00": "A$$Lambda/0x00007f00", "A+b": "A+b"} {
		if got := className(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
